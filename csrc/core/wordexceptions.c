/* Words that are cut as spaCy's list says; see wordexceptions.h. */
#include "core/wordexceptions.h"

#include <string.h>

#include "core/exceptionlist.h"
#include "core/wordtokens.h"

enum { MOST = 1400, POOL = 1 << 14, SLOTS = 4096 };

uint64_t wv_exception_keys[WV_EXCEPTION_KEYS / 32];
uint8_t wv_exception_longest[256];
static wv_exception every[MOST];
static unsigned char pool[POOL];
static int32_t count, used;
static int16_t slots[SLOTS]; /* numbers of exceptions plus one */

static uint32_t slot_of(const unsigned char *at, int64_t length) {
    uint32_t hash = 2166136261u;
    for (int64_t i = 0; i < length; i++) hash = (hash ^ at[i]) * 16777619u;
    return hash % SLOTS;
}

const wv_exception *wv_exception_find(const unsigned char *at, int64_t length) {
    for (uint32_t slot = slot_of(at, length); slots[slot]; slot = (slot + 1) % SLOTS) {
        const wv_exception *found = &every[slots[slot] - 1];
        if (found->length == length && !memcmp(pool + found->begin, at, (size_t)length)) return found;
    }
    return NULL;
}

/* The word before the next space, with a capital or a curly apostrophe if asked. */
static void add(const char *word, int capital, int curly, int is_english) {
    wv_exception new = {1, 0, used, 0, is_english};
    unsigned char *to = pool + used;
    int32_t n = 0;
    for (; *word != ' '; word++) {
        if (*word == '`') {
            new.cuts |= 1u << n;
        } else if (*word == '\'' && curly) {
            memcpy(to + n, "\xe2\x80\x99", 3);
            n += 3;
        } else {
            to[n++] = (unsigned char)*word;
        }
    }
    if (capital) to[0] = (unsigned char)(to[0] - 'a' + 'A');
    new.length = n;
    used += n;
    every[count++] = new;
}

static void add_words(const char *words, int with_forms, int is_english) {
    for (const char *word = words; *word; word = strchr(word, ' ') + 1) {
        const char *apostrophe = strchr(word, '\'');
        int curly = apostrophe && apostrophe < strchr(word, ' ');
        for (int form = 0; form < (with_forms ? 4 : 1); form++) {
            if (form < 2 || curly) add(word, form & 1, form >= 2, is_english);
        }
    }
}

static void add_key(const unsigned char *at, int32_t length, uint64_t bit) {
    uint32_t key = wv_exception_key(at, length);
    wv_exception_keys[key / 32] |= bit << key % 32 * 2;
}

int wv_exceptions_prepare(void) {
    wv_tokens tokens = {0};
    if (count) return 0;
    wv_tokens_prepare();
    add_words(english_with_variants, 1, 1);
    add_words(english_as_they_are, 0, 1);
    add_words(of_all_languages, 0, 0);
    for (int32_t i = 0; i < count; i++) { /* while none is known */
        if (wv_tokens_split(pool + every[i].begin, every[i].length, 0, &tokens)) return -1;
        for (int64_t j = 0; j < tokens.count; j++) every[i].plain |= 1u << tokens.token[j].begin;
    }
    wv_tokens_free(&tokens);
    for (int32_t i = 0; i < count; i++) {
        const unsigned char *at = pool + every[i].begin;
        if (every[i].cuts == every[i].plain) continue;
        uint32_t slot = slot_of(at, every[i].length);
        while (slots[slot]) slot = (slot + 1) % SLOTS;
        slots[slot] = (int16_t)(i + 1);
        add_key(at, every[i].length, WV_EXCEPTION);
        if (every[i].length > 1) add_key(at, every[i].length - 1, WV_EXCEPTION_BUT_LAST);
        if (every[i].plain > 1 && every[i].length > wv_exception_longest[at[0]]) {
            wv_exception_longest[at[0]] = (uint8_t)every[i].length;
        }
    }
    return 0;
}

int32_t wv_exceptions_count(void) { return count; }

const wv_exception *wv_exception_at(int32_t i, const unsigned char **text) {
    *text = pool + every[i].begin;
    return &every[i];
}
