/* Tokens of texts; see tokencounts.h. */
#include "core/tokencounts.h"

#include <stdlib.h>
#include <string.h>

/* Room for `needed` items of `size` bytes; what is there stays. -1 without memory. */
static int make_room(void **items, int64_t *room, int64_t needed, size_t size) {
    if (needed <= *room) return 0;
    const int64_t more = needed + needed / 2 + 1024;
    void *larger = realloc(*items, (size_t)more * size);
    if (!larger) return -1;
    *items = larger;
    *room = more;
    return 0;
}

int wv_tokencounts_init(wv_tokencounts *counts) {
    if (wv_wordmap_init(&counts->words, 1024)) return -1;
    if (make_room((void **)&counts->begin, &counts->words_room, 1, sizeof *counts->begin)) return -1;
    counts->begin[0] = 0;
    return 0;
}

void wv_tokencounts_free(wv_tokencounts *counts) {
    wv_wordmap_free(&counts->words);
    free(counts->begin);
    free(counts->tokens);
    free(counts->times);
    free(counts->seen);
}

static void count_token(wv_tokencounts *counts, int32_t token) {
    if (!counts->times[token]++) counts->seen[counts->different++] = token;
    counts->length++;
}

int64_t wv_tokencounts_feed(wv_tokencounts *counts, const unsigned char *text, int64_t length, int64_t *at) {
    for (;;) {
        while (*at < length && text[*at] <= ' ') ++*at;
        int64_t end = *at;
        while (end < length && text[end] > ' ') end++;
        if (end == *at) return 0;
        const wv_slot *slot = wv_wordmap_find(&counts->words, text + *at, (size_t)(end - *at));
        if (!slot) return end - *at;
        for (int64_t i = counts->begin[slot->id]; i < counts->begin[slot->id + 1]; i++)
            count_token(counts, counts->tokens[i]);
        *at = end;
    }
}

/* Room for the count of a token. */
static int know_token(wv_tokencounts *counts, int32_t token) {
    const int64_t before = counts->numbers_room;
    int64_t room = before;
    if (make_room((void **)&counts->seen, &room, (int64_t)token + 1, sizeof *counts->seen)) return -1;
    if (make_room((void **)&counts->times, &counts->numbers_room, (int64_t)token + 1, sizeof *counts->times)) return -1;
    memset(counts->times + before, 0, (size_t)(counts->numbers_room - before) * sizeof *counts->times);
    return 0;
}

int wv_tokencounts_define(wv_tokencounts *counts, const unsigned char *word, int64_t length, const int32_t *tokens,
                          int64_t size) {
    const int64_t id = counts->words.size, first = counts->begin[id];
    for (int64_t i = 0; i < size; i++)
        if (know_token(counts, tokens[i])) return -1;
    if (make_room((void **)&counts->begin, &counts->words_room, id + 2, sizeof *counts->begin)) return -1;
    if (make_room((void **)&counts->tokens, &counts->tokens_room, first + size, sizeof *counts->tokens)) return -1;
    if (wv_wordmap_reserve(&counts->words, 1)) return -1;
    if (!wv_wordmap_add(&counts->words, word, (size_t)length)) return -1;
    for (int64_t i = 0; i < size; i++) counts->tokens[first + i] = tokens[i];
    counts->begin[id + 1] = first + size;
    return 0;
}

int wv_tokencounts_add(wv_tokencounts *counts, int32_t token) {
    if (know_token(counts, token)) return -1;
    count_token(counts, token);
    return 0;
}

void wv_tokencounts_take(wv_tokencounts *counts, int32_t *tokens, uint16_t *found) {
    for (int64_t i = 0; i < counts->different; i++) {
        const int32_t token = counts->seen[i], times = counts->times[token];
        tokens[i] = token;
        found[i] = (uint16_t)(times < UINT16_MAX ? times : UINT16_MAX);
        counts->times[token] = 0;
    }
    counts->different = counts->length = 0;
}
