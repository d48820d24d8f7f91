#include "core/packedlm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"

#define AT_ONCE 256 /* searches that wait for memory together */
#define BUCKETS 1024 /* parts of a level by which searches are sorted */
#define AHEAD 8     /* so many words before it is needed memory is asked for */
#define LOWEST (-100.0f)

static inline uint32_t number_at(const uint8_t *bits, int64_t at, int32_t width) {
    uint64_t found;
    memcpy(&found, bits + (at >> 3), sizeof found);
    return (uint32_t)(found >> (at & 7)) & (uint32_t)((UINT64_C(1) << width) - 1);
}

static inline uint32_t get(const wv_packed_column *column, int64_t place) {
    return number_at(column->bits, place * column->width, column->width);
}

static inline void put(uint8_t *bits, int64_t at, int32_t width, uint32_t number) {
    uint64_t word;
    memcpy(&word, bits + (at >> 3), sizeof word);
    word |= (uint64_t)(number & (uint32_t)((UINT64_C(1) << width) - 1)) << (at & 7);
    memcpy(bits + (at >> 3), &word, sizeof word);
}

void wv_packed_write(const uint32_t *numbers, int64_t n, int32_t width, uint8_t *bits) {
    for (int64_t i = 0; i < n; i++) put(bits, i * width, width, numbers[i]);
}

void wv_packed_read(const uint8_t *bits, int64_t n, int32_t width, uint32_t *numbers) {
    for (int64_t i = 0; i < n; i++) numbers[i] = number_at(bits, i * width, width);
}

int wv_packed_set_add(wv_packed_set *set, const uint32_t *numbers, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t **page = &set->pages[numbers[i] / WV_PACKED_PAGE];
        if (!*page && !(*page = calloc(WV_PACKED_PAGE / 64, sizeof **page))) return -1;
        uint64_t *word = *page + numbers[i] % WV_PACKED_PAGE / 64, bit = UINT64_C(1) << numbers[i] % 64;
        set->size += !(*word & bit);
        *word |= bit;
    }
    return 0;
}

void wv_packed_set_list(const wv_packed_set *set, uint32_t *numbers) {
    for (uint32_t page = 0; page < 65536; page++) {
        if (!set->pages[page]) continue;
        for (uint32_t word = 0; word < WV_PACKED_PAGE / 64; word++)
            for (uint64_t left = set->pages[page][word]; left; left &= left - 1)
                *numbers++ = page * WV_PACKED_PAGE + word * 64 + (uint32_t)__builtin_ctzll(left);
    }
}

void wv_packed_set_free(wv_packed_set *set) {
    for (int32_t page = 0; page < 65536; page++) free(set->pages[page]);
}

void wv_packed_write_offsets(const int32_t *first, int64_t size, const uint32_t *index, uint8_t *bits) {
    for (int64_t begin = 0; begin < size; begin += WV_PACKED_BLOCK, index += 2) {
        int32_t width = (int32_t)(index[3] - index[1]);
        for (int64_t i = 0; i <= WV_PACKED_BLOCK && begin + i <= size; i++)
            put(bits, (int64_t)index[1] * (WV_PACKED_BLOCK + 1) + i * width, width,
                (uint32_t)first[begin + i] - index[0]);
    }
}

/* The children of `node`, *begin up to *end, of `below` nodes in the next level. Whether the file is sane. */
static inline int children(const wv_packed_level *level, int64_t below, int64_t node, int64_t *begin, int64_t *end) {
    const uint32_t *index = level->index + node / WV_PACKED_BLOCK * 2;
    uint32_t width = index[3] - index[1];
    if (index[1] > index[3] || width > 32 || index[3] > level->widths) return 0;
    int64_t at = (int64_t)index[1] * (WV_PACKED_BLOCK + 1) + node % WV_PACKED_BLOCK * width;
    *begin = (int64_t)index[0] + number_at(level->offsets, at, (int32_t)width);
    *end = (int64_t)index[0] + number_at(level->offsets, at + width, (int32_t)width);
    return *begin <= *end && *end <= below;
}

int wv_packed_children(const wv_packed_level *level, int64_t below, int32_t *first) {
    int64_t begin, end = 0;
    for (int64_t node = 0; node < level->size; node++) {
        int64_t before = end;
        if (!children(level, below, node, &begin, &end) || begin != before) return WV_PACKED_DAMAGED;
        first[node] = (int32_t)begin;
    }
    first[level->size] = (int32_t)end;
    return end == below ? 0 : WV_PACKED_DAMAGED;
}

/* NaN for a place outside the table. */
static inline float value(const wv_packed_column *column, int64_t place, uint32_t sign) {
    uint32_t number = get(column, place);
    if (column->table) return number < column->values ? column->table[number] : NAN;
    float found;
    number |= number ? sign : 0;
    memcpy(&found, &number, sizeof found);
    return found;
}

static inline float prob_of(const wv_packed_level *level, int64_t node) {
    return value(&level->prob, node, UINT32_C(1) << 31);
}

static inline float backoff_of(const wv_packed_level *level, int64_t node) {
    return value(&level->backoff, node, 0);
}

/* Whether numbers of a file may be logarithms of a probability and of a back-off; not for NaN. */
static inline int sane_prob(float prob) { return prob >= LOWEST && prob <= 0; }
static inline int sane_backoff(float backoff) { return backoff >= LOWEST && backoff <= -LOWEST; }

void wv_packed_begin(const wv_packed_model *model, int ends, int32_t *state) {
    for (int32_t k = 0; k < model->order - 1; k++) state[k] = WV_NO_NODE;
    if (ends && model->order > 1) state[0] = WV_SENTENCE;
}

/* A search for `word` among `left` nodes from `at` on, and for which word of the block it is: ~place where a sentence
 * ends there. */
typedef struct {
    uint32_t at, left, word;
    int32_t place;
} search;

static inline int32_t place_of(const search *one) { return one->place < 0 ? ~one->place : one->place; }

/* An n-gram that words follow, and its back-off. */
typedef struct {
    int32_t node;
    float backoff;
} context;

/* Words that are looked up together. contexts[k][i] has k + 1 words and stands before word i, or behind the last one. */
typedef struct {
    context *contexts[WV_LARGEST_ORDER];
    search *searches;
    int32_t *active; /* the words to search for in the next level */
    const int32_t *ids;
    float *scores;    /* log10 p of the longest n-gram found */
    uint8_t *lengths; /* and its words */
} block;

static int32_t block_size(int64_t n) { return (int32_t)(n < WV_PACKED_AT_ONCE ? n : WV_PACKED_AT_ONCE); }

int64_t wv_packed_scratch(const wv_packed_model *model, int64_t n) {
    int64_t size = block_size(n);
    return (size + 1) * (int64_t)sizeof(context) * (model->order - 1) +
           size * (int64_t)(sizeof(search) + sizeof(int32_t));
}

static block block_in(const wv_packed_model *model, int64_t n, void *scratch) {
    block b;
    int64_t size = block_size(n);
    b.searches = scratch;
    b.contexts[0] = (context *)(b.searches + size);
    for (int32_t k = 1; k < model->order; k++) b.contexts[k] = b.contexts[k - 1] + size + 1;
    b.active = (int32_t *)b.contexts[model->order - 1];
    return b;
}

static inline void prefetch(const wv_packed_column *column, int64_t place) {
    __builtin_prefetch(column->bits + place * column->width / 8);
}

/* Narrows all searches down to one node, or none, a step of each after a step of all others, so that they wait for
 * memory together. */
static void narrow(const wv_packed_column *words, search *searches, int32_t *running, int32_t n) {
    const uint8_t *bits = words->bits;
    const uint64_t width = (uint64_t)words->width, mask = (UINT64_C(1) << width) - 1;
    while (n > 0) {
        int32_t kept = 0;
        for (int32_t i = 0; i < n; i++) {
            search *one = &searches[running[i]];
            uint32_t half = one->left / 2, left = one->left - half, at = one->at;
            uint64_t bit = (uint64_t)(at + half - 1) * width, found;
            memcpy(&found, bits + (bit >> 3), sizeof found);
            at += half & -(uint32_t)(((found >> (bit & 7)) & mask) < one->word); /* no branch: it is anyone's guess */
            one->at = at;
            one->left = left;
            running[kept] = running[i];
            kept += left > 1;
        }
        n = kept;
    }
}

/* Writes the searches for n-grams of k + 1 words that end in the active ones, near nodes side by side: what is read for
 * them is then read in about the order of the file. Returns how many of the active words follow no n-gram of k words;
 * they come first. */
static int32_t sort_searches(const wv_packed_model *model, int32_t k, const block *b, int32_t active) {
    const context *before = b->contexts[k - 1];
    int32_t starts[BUCKETS + 2] = {0};
    int shift = 0;
    while (model->levels[k - 1].size >> shift >= BUCKETS) shift++;
    for (int32_t i = 0; i < active; i++) starts[(before[b->active[i]].node >> shift) + 2]++; /* none: -1 */
    int32_t none = starts[1];
    for (int32_t i = 1; i <= BUCKETS; i++) starts[i + 1] += starts[i];
    for (int32_t i = 0; i < active; i++) {
        int32_t place = b->active[i], node = before[place].node, id = b->ids[place];
        b->searches[starts[(node >> shift) + 1]++] =
            (search){(uint32_t)node, 0, (uint32_t)(id < 0 ? WV_SENTENCE_END : id), id < 0 ? ~place : place};
    }
    return none;
}

/* Finishes up to AT_ONCE searches. */
static int find(const wv_packed_model *model, int32_t k, const block *b, search *searches, int32_t n) {
    const wv_packed_level *above = &model->levels[k - 1], *level = &model->levels[k];
    int32_t order[AT_ONCE], running = 0, found = 0;
    for (int32_t i = 0; i < n; i++) __builtin_prefetch(above->index + searches[i].at / WV_PACKED_BLOCK * 2);
    for (int32_t i = 0; i < n + AHEAD; i++) {
        if (i < n) {
            uint32_t before = above->index[searches[i].at / WV_PACKED_BLOCK * 2 + 1];
            if (before < above->widths)
                __builtin_prefetch(above->offsets + (int64_t)before * (WV_PACKED_BLOCK + 1) / 8);
        }
        if (i < AHEAD) continue;
        search *one = &searches[i - AHEAD];
        int64_t begin, end;
        if (!children(above, level->size, one->at, &begin, &end)) return WV_PACKED_DAMAGED;
        one->at = (uint32_t)begin;
        one->left = (uint32_t)(end - begin);
        order[running] = i - AHEAD;
        running += one->left > 1;
        prefetch(&level->word, begin + one->left / 2);
    }
    narrow(&level->word, searches, order, running);
    for (int32_t i = 0; i < n; i++) {
        const search *one = &searches[i];
        if (one->left == 0 || get(&level->word, one->at) != one->word) continue;
        order[found++] = i;
        prefetch(&level->prob, one->at);
        __builtin_prefetch(&b->scores[place_of(one)], 1);
        if (k == model->order - 1) continue;
        prefetch(&level->backoff, one->at);
        __builtin_prefetch(&b->contexts[k][place_of(one) + 1], 1);
    }
    for (int32_t i = 0; i < found; i++) {
        const search *one = &searches[order[i]];
        int32_t place = place_of(one);
        b->scores[place] = prob_of(level, one->at);
        b->lengths[place] = (uint8_t)(k + 1);
        if (k < model->order - 1 && one->place >= 0)
            b->contexts[k][place + 1] = (context){(int32_t)one->at, backoff_of(level, one->at)};
    }
    return 0;
}

/* Looks up the single words, and begins sentences in `opening`. Returns how many are active. */
static int32_t look_up_words(const wv_packed_model *model, const block *b, int32_t n, int ends, context opening) {
    const wv_packed_level *level = &model->levels[0];
    int32_t active = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t id = b->ids[i], silent = id < 0 && !ends;
        b->scores[i] = silent ? 0 : prob_of(level, id < 0 ? WV_SENTENCE_END : id);
        b->lengths[i] = !silent;
        b->active[active] = i;
        active += !silent;
        if (model->order > 1) b->contexts[0][i + 1] = id < 0 ? opening : (context){id, backoff_of(level, id)};
        for (int32_t k = 1; k < model->order - 1; k++) b->contexts[k][i + 1] = (context){WV_NO_NODE, 0};
    }
    return active;
}

static int score_block(const wv_packed_model *model, const block *b, int32_t n, int ends, context opening) {
    int32_t active = look_up_words(model, b, n, ends, opening);
    for (int32_t k = 1; k < model->order && active > 0; k++) {
        int32_t left = 0;
        for (int32_t i = sort_searches(model, k, b, active); i < active; i += AT_ONCE)
            if (find(model, k, b, b->searches + i, active - i < AT_ONCE ? active - i : AT_ONCE))
                return WV_PACKED_DAMAGED;
        for (int32_t i = 0; i < active && model->closed; i++) { /* what is not listed ends no longer n-gram */
            b->active[left] = b->active[i];
            left += b->lengths[b->active[i]] > k;
        }
        active = model->closed ? left : active;
    }
    for (int32_t i = 0; i < n; i++) {
        float sum = 0;
        if (b->lengths[i] == 0) continue;
        for (int32_t k = model->order - 2; k >= b->lengths[i] - 1; k--) {
            if (!sane_backoff(b->contexts[k][i].backoff)) return WV_PACKED_DAMAGED;
            sum += b->contexts[k][i].backoff;
        }
        if (!sane_prob(b->scores[i])) return WV_PACKED_DAMAGED;
        b->scores[i] += sum;
    }
    return 0;
}

static context context_of(const wv_packed_level *level, int32_t node) {
    return (context){node, node < 0 ? 0 : backoff_of(level, node)};
}

int wv_packed_score(const wv_packed_model *model, const int32_t *ids, int64_t n, int ends, int32_t *state,
                    float *scores, uint8_t *lengths, void *scratch) {
    block b = block_in(model, n, scratch);
    int32_t states = model->order - 1, size;
    context opening = context_of(&model->levels[0], ends && states > 0 ? WV_SENTENCE : WV_NO_NODE);
    for (int32_t k = 0; k < states; k++) b.contexts[k][0] = context_of(&model->levels[k], state[k]);
    for (int64_t begin = 0; begin < n; begin += size) {
        size = block_size(n - begin);
        b.ids = ids + begin;
        b.scores = scores + begin;
        b.lengths = lengths + begin;
        if (score_block(model, &b, size, ends, opening)) return WV_PACKED_DAMAGED;
        for (int32_t k = 0; k < states; k++) b.contexts[k][0] = b.contexts[k][size];
    }
    for (int32_t k = 0; k < states; k++) state[k] = b.contexts[k][0].node;
    return 0;
}

int wv_packed_all(const wv_packed_model *model, const int32_t *state, float *scores) {
    const wv_packed_level *levels = model->levels;
    float weight[WV_LARGEST_ORDER], sum = 0;
    for (int32_t k = model->order - 2; k >= 0; k--) {
        weight[k] = sum;
        float backoff = state[k] < 0 ? 0 : backoff_of(&levels[k], state[k]);
        if (!sane_backoff(backoff)) return WV_PACKED_DAMAGED;
        sum += backoff;
    }
    for (int64_t word = 0; word < levels[0].size; word++) {
        float prob = prob_of(&levels[0], word);
        if (!sane_prob(prob)) return WV_PACKED_DAMAGED;
        scores[word] = sum + prob;
    }
    for (int32_t k = 0; k < model->order - 1; k++) { /* longer contexts overwrite what shorter ones said */
        int64_t begin, end;
        if (state[k] < 0) continue;
        if (!children(&levels[k], levels[k + 1].size, state[k], &begin, &end)) return WV_PACKED_DAMAGED;
        for (int64_t child = begin; child < end; child++) {
            uint32_t word = get(&levels[k + 1].word, child);
            float prob = prob_of(&levels[k + 1], child);
            if (word >= levels[0].size || !sane_prob(prob)) return WV_PACKED_DAMAGED;
            scores[word] = weight[k] + prob;
        }
    }
    return 0;
}
