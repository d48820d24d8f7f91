#include "core/packedlm.h"

#include <math.h>
#include <string.h>

#include "base/little_endian.h"

#define AT_ONCE 256 /* words that are searched for together */
#define AHEAD 8     /* so many words before it is needed memory is asked for */
#define LOWEST (-99.0f)

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

/* A search for `word` among `left` nodes from `at` on, and for which word of the block it is. */
typedef struct {
    uint32_t at, left, word;
    int32_t place;
} search;

/* Words that are looked up together; nodes[k][1 + i] is the node of k + 1 words that ends in word i, nodes[k][0] the
 * one that ends before them. */
typedef struct {
    int32_t nodes[WV_LARGEST_ORDER][AT_ONCE + 1];
    search searches[AT_ONCE];
    int32_t running[AT_ONCE];
    int32_t active[AT_ONCE];  /* the words to search for in the next level */
    uint8_t fresh[AT_ONCE];   /* a sentence begins before this word */
    uint8_t longest[AT_ONCE]; /* the last level where it was found */
    int32_t opening;          /* the state of one word in which sentences begin */
} block;

/* The node of k + 1 words that word i follows. */
static inline int32_t context(const block *b, int32_t k, int32_t i) {
    if (b->fresh[i]) return k == 0 ? b->opening : WV_NO_NODE;
    return b->nodes[k][i];
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

/* Searches for the n-grams of k + 1 words that end in the active ones, and leaves those active that may end longer
 * n-grams. */
static int32_t descend(const wv_packed_model *model, int32_t k, block *b, int32_t active) {
    const wv_packed_level *above = &model->levels[k - 1], *level = &model->levels[k];
    int32_t n = 0, running = 0, left = 0;
    for (int32_t i = 0; i < active; i++) {
        int32_t place = b->active[i], node = context(b, k - 1, place);
        b->searches[n].place = place;
        b->searches[n].at = (uint32_t)node;
        n += node >= 0;
        __builtin_prefetch(above->index + node / WV_PACKED_BLOCK * 2);
    }
    for (int32_t i = 0; i < n + AHEAD; i++) {
        if (i < n) {
            uint32_t before = above->index[b->searches[i].at / WV_PACKED_BLOCK * 2 + 1];
            if (before < above->widths)
                __builtin_prefetch(above->offsets + (int64_t)before * (WV_PACKED_BLOCK + 1) / 8);
        }
        if (i < AHEAD) continue;
        search *one = &b->searches[i - AHEAD];
        int64_t begin, end;
        if (!children(above, level->size, one->at, &begin, &end)) return WV_PACKED_DAMAGED;
        one->at = (uint32_t)begin;
        one->left = (uint32_t)(end - begin);
        one->word = (uint32_t)b->nodes[0][one->place + 1];
        b->running[running] = i - AHEAD;
        running += one->left > 1;
        prefetch(&level->word, begin + one->left / 2);
    }
    narrow(&level->word, b->searches, b->running, running);
    for (int32_t i = 0; i < n; i++) {
        const search *one = &b->searches[i];
        int found = one->left > 0 && get(&level->word, one->at) == one->word;
        b->nodes[k][one->place + 1] = found ? (int32_t)one->at : WV_NO_NODE;
        b->longest[one->place] = found ? (uint8_t)k : b->longest[one->place];
        if (found) prefetch(&level->prob, one->at);
        if (found && k < model->order - 1) prefetch(&level->backoff, one->at);
        if (!model->closed) continue;
        b->active[left] = one->place;
        left += found;
    }
    return model->closed ? left : active;
}

/* What is found of the block's word i, or NaN where the file is damaged. */
static float score_of(const wv_packed_model *model, const block *b, int32_t i) {
    int32_t found = b->longest[i];
    float sum = 0;
    for (int32_t k = model->order - 2; k >= found; k--) {
        int32_t node = context(b, k, i);
        if (node < 0) continue;
        float backoff = backoff_of(&model->levels[k], node);
        if (!sane_backoff(backoff)) return NAN;
        sum += backoff;
    }
    float prob = prob_of(&model->levels[found], b->nodes[found][i + 1]);
    return sane_prob(prob) ? sum + prob : NAN;
}

static int score_block(const wv_packed_model *model, block *b, const int32_t *ids, int32_t n, int ends, float *scores,
                       uint8_t *lengths) {
    int32_t active = 0;
    for (int32_t k = 1; k < model->order; k++)
        for (int32_t i = 0; i < n; i++) b->nodes[k][i + 1] = WV_NO_NODE;
    for (int32_t i = 0; i < n; i++) {
        if (i > 0) b->fresh[i] = ids[i - 1] < 0;
        b->nodes[0][i + 1] = ids[i] < 0 ? WV_SENTENCE_END : ids[i];
        b->longest[i] = 0;
        b->active[active] = i;
        active += ends || ids[i] >= 0;
    }
    for (int32_t k = 1; k < model->order && active > 0; k++) {
        active = descend(model, k, b, active);
        if (active < 0) return WV_PACKED_DAMAGED;
    }
    for (int32_t i = 0; i < n; i++) {
        int silent = ids[i] < 0 && !ends;
        scores[i] = silent ? 0 : score_of(model, b, i);
        lengths[i] = silent ? 0 : (uint8_t)(b->longest[i] + 1);
        if (isnan(scores[i])) return WV_PACKED_DAMAGED;
    }
    return 0;
}

int wv_packed_score(const wv_packed_model *model, const int32_t *ids, int64_t n, int ends, int32_t *state,
                    float *scores, uint8_t *lengths) {
    block b;
    int32_t states = model->order - 1;
    b.opening = ends && states > 0 ? WV_SENTENCE : WV_NO_NODE;
    b.fresh[0] = 0;
    for (int32_t k = 0; k < states; k++) b.nodes[k][0] = state[k];
    for (int64_t begin = 0; begin < n; begin += AT_ONCE) {
        int32_t size = (int32_t)(n - begin < AT_ONCE ? n - begin : AT_ONCE);
        if (score_block(model, &b, ids + begin, size, ends, scores + begin, lengths + begin)) return WV_PACKED_DAMAGED;
        b.fresh[0] = ids[begin + size - 1] < 0;
        for (int32_t k = 0; k < states; k++) b.nodes[k][0] = b.nodes[k][size];
    }
    for (int32_t k = 0; k < states; k++) state[k] = context(&b, k, 0);
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
