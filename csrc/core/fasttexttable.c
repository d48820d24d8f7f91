#include "core/fasttexttable.h"

#include <string.h>

#include "base/little_endian.h"

#define BEHIND_WORD 10 /* NUL, count, type */

wv_table_size wv_table_measure(const char *data, int64_t size, int64_t entries) {
    wv_table_size found = {0, 0, 0};
    while (found.entries < entries && found.consumed < size) {
        const char *word = data + found.consumed;
        const char *end = memchr(word, 0, (size_t)(size - found.consumed));
        if (!end || size - (end - data) < BEHIND_WORD) break;
        found.entries++;
        found.word_bytes += end - word;
        found.consumed = end - data + BEHIND_WORD;
    }
    return found;
}

void wv_table_read(const char *data, int64_t entries, char *blob, int64_t *starts, int64_t *counts, int8_t *types) {
    starts[0] = 0;
    for (int64_t i = 0; i < entries; i++) {
        const size_t length = strlen(data);
        if (length) memcpy(blob + starts[i], data, length);
        starts[i + 1] = starts[i] + (int64_t)length;
        memcpy(&counts[i], data + length + 1, sizeof(int64_t));
        memcpy(&types[i], data + length + 9, 1);
        data += length + BEHIND_WORD;
    }
}

int64_t wv_table_write(const char *blob, const int64_t *starts, const int64_t *counts, int8_t type, int64_t first,
                       int64_t last, char *out) {
    char *begin = out;
    for (int64_t i = first; i < last; i++) {
        const size_t length = (size_t)(starts[i + 1] - starts[i]);
        if (length) memcpy(out, blob + starts[i], length);
        out[length] = 0;
        memcpy(out + length + 1, &counts[i], sizeof(int64_t));
        memcpy(out + length + 9, &type, 1);
        out += length + BEHIND_WORD;
    }
    return out - begin;
}
