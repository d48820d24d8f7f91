#include "core/kenlm.h"

#include <math.h>
#include <string.h>

#include "base/little_endian.h"

#define AT_ONCE 256 /* words that are scored together */
#define AHEAD 16    /* buckets that are asked for before one is looked at: of many more the machine forgets some */
#define PROBED 48   /* bytes of a table that a look-up seldom goes beyond */
/* Each may end a sentence, and then <s> follows; the state stands before them. */
#define MOST_PLACES (2 * AT_ONCE + WV_LARGEST_ORDER)
#define SIGN (UINT32_C(1) << 31)

static inline uint32_t load32(const uint8_t *at) {
    uint32_t found;
    memcpy(&found, at, sizeof found);
    return found;
}

static inline uint64_t load64(const uint8_t *at) {
    uint64_t found;
    memcpy(&found, at, sizeof found);
    return found;
}

static inline float as_float(uint32_t bits) {
    float found;
    memcpy(&found, &bits, sizeof found);
    return found;
}

/* Log10 p is a number up to 0, also -inf, and a back-off any that is finite. Compared as bits, by which NaN is large. */
static inline int sane_prob(uint32_t bits) { return bits == 0 || bits - SIGN <= UINT32_C(0x7f800000); }
static inline int sane_backoff(uint32_t bits) { return (bits & ~SIGN) < UINT32_C(0x7f800000); }

/* MurmurHash64A by Austin Appleby, in the public domain, with seed 0. */
static uint64_t hash_word(const uint8_t *word, uint64_t length) {
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    uint64_t h = length * m;
    const uint8_t *end = word + (length & ~UINT64_C(7));
    for (; word != end; word += 8) {
        uint64_t k = load64(word) * m;
        h = (h ^ ((k ^ (k >> 47)) * m)) * m;
    }
    if (length & 7) {
        uint64_t tail = 0;
        memcpy(&tail, word, length & 7);
        h = (h ^ tail) * m;
    }
    h = (h ^ (h >> 47)) * m;
    return h ^ (h >> 47);
}

/* Exchanges the ids `one` and `other`. */
static inline int32_t exchange(int32_t id, int32_t one, int32_t other) {
    return id == one ? other : id == other ? one : id;
}

/* The file's id of an id of wv's. */
static int32_t file_id(const wv_kenlm *model, int32_t id) {
    /* Where the file has </s> in the place of wv's <s>, the first exchange moves it. */
    int32_t end = exchange(model->sentence_end, model->sentence, WV_SENTENCE);
    return exchange(exchange(id, WV_SENTENCE_END, end), WV_SENTENCE, model->sentence);
}

/* And back. */
static int32_t wv_id(const wv_kenlm *model, int32_t id) {
    int32_t end = exchange(model->sentence_end, model->sentence, WV_SENTENCE);
    return exchange(exchange(id, WV_SENTENCE, model->sentence), WV_SENTENCE_END, end);
}

static int64_t find_hashed(const wv_kenlm *model, uint64_t hash) {
    uint64_t size = (uint64_t)model->vocabulary_size, at = hash % size;
    for (uint64_t i = 0; i < size; i++) {
        const uint8_t *entry = model->vocabulary + at * 12;
        uint64_t key = load64(entry);
        if (key == hash && key) return load32(entry + 8);
        if (!key) return 0;
        at = at + 1 == size ? 0 : at + 1;
    }
    return 0;
}

static int64_t find_sorted(const wv_kenlm *model, uint64_t hash) {
    int64_t begin = 0, end = model->vocabulary_size;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        uint64_t key = load64(model->vocabulary + middle * 8);
        if (key == hash) return middle + 1;
        if (key < hash)
            begin = middle + 1;
        else
            end = middle;
    }
    return 0;
}

static int is_unknown(const uint8_t *word, int64_t length) {
    return length == 5 && (!memcmp(word, "<unk>", 5) || !memcmp(word, "<UNK>", 5));
}

int wv_kenlm_find(const wv_kenlm *model, const uint8_t *blob, const int64_t *starts, int64_t n, int32_t *ids) {
    uint64_t hashes[AT_ONCE];
    for (int64_t begin = 0; begin < n; begin += AT_ONCE) {
        int64_t end = n - begin < AT_ONCE ? n : begin + AT_ONCE;
        for (int64_t i = begin; i < end; i++) {
            uint64_t hash = hash_word(blob + starts[i], (uint64_t)(starts[i + 1] - starts[i]));
            hashes[i - begin] = hash;
            if (model->hashed) __builtin_prefetch(model->vocabulary + hash % (uint64_t)model->vocabulary_size * 12);
        }
        for (int64_t i = begin; i < end; i++) {
            uint64_t hash = hashes[i - begin];
            int64_t id = model->hashed ? find_hashed(model, hash) : find_sorted(model, hash);
            if (is_unknown(blob + starts[i], starts[i + 1] - starts[i])) id = 0;
            if (id >= model->words) return WV_KENLM_DAMAGED;
            ids[i] = wv_id(model, (int32_t)id);
        }
    }
    return 0;
}

/* Up to 57 bits from any bit on. */
static inline uint64_t bits_at(const uint8_t *start, uint64_t bit, int32_t width) {
    return (load64(start + (bit >> 3)) >> (bit & 7)) & ((UINT64_C(1) << width) - 1);
}

static inline uint64_t get(const wv_kenlm_level *level, const wv_kenlm_column *column, int64_t node) {
    return bits_at(level->start, (uint64_t)(node * level->record + column->at), column->width);
}

/* Bits of a float: those of the record, with its missing sign, or of its table. */
static inline uint32_t number(const wv_kenlm_level *level, const wv_kenlm_column *column, int64_t node, uint32_t sign) {
    uint64_t found = get(level, column, node);
    return column->table ? load32(column->table + found * 4) : (uint32_t)found | sign;
}

static inline uint64_t next_of(const wv_kenlm_level *level, int64_t node) {
    uint64_t low = get(level, &level->next, node);
    if (!level->pointers) return low;
    int64_t begin = 1, end = level->pointer_count; /* the first pointer is 0: how many are up to the node */
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (load64(level->pointers + middle * 8) <= (uint64_t)node)
            begin = middle + 1;
        else
            end = middle;
    }
    return low | (uint64_t)(begin - 1) << level->next.width;
}

/* Places in a text, each with the n-grams that end there. */
typedef struct {
    int32_t words[MOST_PLACES];         /* ids of the file */
    const int32_t *before[MOST_PLACES]; /* behind the word before */
    int32_t context[MOST_PLACES];       /* how many words stand before */
    int32_t place[MOST_PLACES];         /* of the score, -1 for none */
    uint8_t length[MOST_PLACES];        /* words of the longest n-gram */
    uint32_t prob[MOST_PLACES];         /* its log10 p, as bits */
    uint32_t backoff[MOST_PLACES][WV_LARGEST_ORDER];
    int32_t active[MOST_PLACES]; /* places of which a longer n-gram may be listed */
    uint64_t key[MOST_PLACES];   /* hashed: of the n-gram so far */
    uint64_t at[MOST_PLACES];    /* bucket; trie: the first child */
    uint64_t left[MOST_PLACES];  /* trie: children that are searched still */
    int32_t running[MOST_PLACES];
    int32_t n;
} places;

static inline void set_ngram(places *p, int32_t i, int32_t length, uint32_t prob, uint32_t backoff) {
    p->length[i] = (uint8_t)length;
    p->prob[i] = prob;
    p->backoff[i][length - 1] = backoff;
}

/* Looks up the single words. Returns how many are active. */
static int32_t look_up_words(const wv_kenlm *model, places *p) {
    int32_t active = 0;
    for (int32_t i = 0; i < p->n; i++)
        __builtin_prefetch(model->unigrams + p->words[i] * model->unigram_bytes);
    for (int32_t i = 0; i < p->n; i++) {
        const uint8_t *record = model->unigrams + p->words[i] * model->unigram_bytes;
        uint32_t prob = load32(record);
        int more;
        set_ngram(p, i, 1, prob | SIGN, load32(record + 4));
        if (model->hashed) {
            p->key[i] = (uint64_t)p->words[i];
            more = !(prob & SIGN);
        } else {
            uint64_t begin = load64(record + 8), end = load64(record + model->unigram_bytes + 8);
            if (begin > end || end > (uint64_t)model->levels[0].size) return WV_KENLM_DAMAGED;
            p->at[i] = begin;
            p->left[i] = end - begin;
            more = end > begin;
        }
        p->active[active] = i;
        active += more && p->context[i] > 0;
    }
    return active;
}

/* Hashes the n-gram of `length` words that ends in place i, and asks for its bucket. */
static inline void fetch_bucket(const wv_kenlm_level *level, places *p, int32_t length, int32_t i) {
    uint64_t word = (uint64_t)p->before[i][1 - length];
    p->key[i] = p->key[i] * UINT64_C(8978948897894561157) ^ (1 + word) * UINT64_C(17894857484156487943);
    p->at[i] = p->key[i] % (uint64_t)level->size;
    const uint8_t *entry = level->start + p->at[i] * (uint64_t)level->record;
    __builtin_prefetch(entry);
    __builtin_prefetch(entry + PROBED);
}

/* Looks up the n-grams of `length` words. Returns how many of the places remain active. */
static int32_t look_up_hashed(const wv_kenlm *model, places *p, int32_t length, int32_t active) {
    const wv_kenlm_level *level = &model->levels[length - 2];
    uint64_t size = (uint64_t)level->size;
    int32_t left = 0;
    for (int32_t k = 0; k < active && k < AHEAD; k++) fetch_bucket(level, p, length, p->active[k]);
    for (int32_t k = 0; k < active; k++) {
        if (k + AHEAD < active) fetch_bucket(level, p, length, p->active[k + AHEAD]);
        int32_t i = p->active[k];
        uint64_t at = p->at[i], key = 0;
        const uint8_t *entry = level->start;
        for (uint64_t tried = 0; tried < size; tried++) {
            entry = level->start + at * (uint64_t)level->record;
            key = load64(entry);
            if (key == p->key[i] || !key) break;
            at = at + 1 == size ? 0 : at + 1;
        }
        if (!key || key != p->key[i]) continue;
        uint32_t prob = load32(entry + 8);
        set_ngram(p, i, length, prob | SIGN, length < model->order ? load32(entry + 12) : 0);
        p->active[left] = i;
        left += length < model->order && !(prob & SIGN) && p->context[i] >= length;
    }
    return left;
}

/* Narrows all searches down to one node, a step of each after a step of all others, so that they wait for memory
 * together. */
static void narrow(const wv_kenlm_level *level, int32_t length, places *p, int32_t n) {
    while (n > 0) {
        int32_t kept = 0;
        for (int32_t k = 0; k < n; k++) {
            int32_t i = p->running[k];
            uint64_t half = p->left[i] / 2, at = p->at[i];
            uint64_t word = get(level, &level->word, (int64_t)(at + half - 1));
            p->at[i] = at + (word < (uint64_t)p->before[i][1 - length] ? half : 0);
            p->left[i] -= half;
            p->running[kept] = i;
            kept += p->left[i] > 1;
        }
        n = kept;
    }
}

static int32_t look_up_trie(const wv_kenlm *model, places *p, int32_t length, int32_t active) {
    const wv_kenlm_level *level = &model->levels[length - 2];
    int32_t running = 0, hits = 0, left = 0;
    for (int32_t k = 0; k < active; k++) {
        int32_t i = p->active[k];
        uint64_t middle = p->at[i] + p->left[i] / 2;
        p->running[running] = i;
        running += p->left[i] > 1;
        __builtin_prefetch(level->start + middle * (uint64_t)level->record / 8);
    }
    narrow(level, length, p, running);
    for (int32_t k = 0; k < active; k++) {
        int32_t i = p->active[k];
        int64_t node = (int64_t)p->at[i];
        if (get(level, &level->word, node) != (uint64_t)p->before[i][1 - length]) continue;
        int inner = length < model->order;
        set_ngram(p, i, length, number(level, &level->prob, node, SIGN),
                  inner ? number(level, &level->backoff, node, 0) : 0);
        p->active[hits] = i;
        hits += inner && p->context[i] >= length;
    }
    for (int32_t k = 0; k < hits; k++) {
        int32_t i = p->active[k];
        uint64_t begin = next_of(level, (int64_t)p->at[i]), end = next_of(level, (int64_t)p->at[i] + 1);
        if (begin > end || end > (uint64_t)level[1].size) return WV_KENLM_DAMAGED;
        p->at[i] = begin;
        p->left[i] = end - begin;
        p->active[left] = i;
        left += end > begin;
    }
    return left;
}

static int look_up(const wv_kenlm *model, places *p) {
    int32_t active = look_up_words(model, p);
    for (int32_t length = 2; length <= model->order && active > 0; length++)
        active = model->hashed ? look_up_hashed(model, p, length, active) : look_up_trie(model, p, length, active);
    return active < 0 ? WV_KENLM_DAMAGED : 0;
}

/* log10 p of what was found in place i, and the back-offs of the longer contexts, which end in place `before`. */
static int score_of(const wv_kenlm *model, const places *p, int32_t i, int32_t before, float *score) {
    if (!sane_prob(p->prob[i])) return WV_KENLM_DAMAGED;
    float sum = as_float(p->prob[i]);
    if (p->context[i] > 0)
        for (int32_t k = p->length[i]; k <= p->length[before] && k < model->order; k++) {
            if (!sane_backoff(p->backoff[before][k - 1])) return WV_KENLM_DAMAGED;
            sum += as_float(p->backoff[before][k - 1]);
        }
    *score = sum;
    return 0;
}

static inline void add_place(places *p, int32_t word, int32_t context, int32_t place) {
    p->words[p->n] = word;
    p->before[p->n] = p->words + p->n;
    p->context[p->n] = context;
    p->place[p->n++] = place;
}

/* The words of a state as places, the oldest first. */
static void add_state(places *p, const int32_t *state, int32_t states) {
    int32_t words = 0;
    while (words < states && state[words] >= 0) words++;
    for (int32_t k = words - 1; k >= 0; k--) add_place(p, state[k], words - 1 - k, -1);
}

int wv_kenlm_score(const wv_kenlm *model, const int32_t *ids, int64_t n, int ends, int32_t *state, float *scores,
                   uint8_t *lengths) {
    places p;
    int32_t states = model->order - 1;
    for (int64_t begin = 0; begin < n; begin += AT_ONCE) {
        int32_t size = (int32_t)(n - begin < AT_ONCE ? n - begin : AT_ONCE), context;
        p.n = 0;
        add_state(&p, state, states);
        context = p.n;
        for (int32_t i = 0; i < size; i++) {
            int32_t id = ids[begin + i];
            scores[begin + i] = 0;
            lengths[begin + i] = 0;
            if (id >= 0 || ends)
                add_place(&p, id < 0 ? model->sentence_end : file_id(model, id), context++, i);
            if (id >= 0) continue;
            context = ends;
            if (ends) add_place(&p, model->sentence, 0, -1);
        }
        if (look_up(model, &p)) return WV_KENLM_DAMAGED;
        for (int32_t i = 0; i < p.n; i++) {
            if (p.place[i] < 0) continue;
            if (score_of(model, &p, i, i - 1, &scores[begin + p.place[i]])) return WV_KENLM_DAMAGED;
            lengths[begin + p.place[i]] = p.length[i];
        }
        for (int32_t k = 0; k < states; k++) state[k] = k < context ? p.words[p.n - 1 - k] : WV_NO_NODE;
    }
    return 0;
}

int wv_kenlm_all(const wv_kenlm *model, const int32_t *state, float *scores) {
    places p;
    p.n = 0;
    add_state(&p, state, model->order - 1);
    int32_t words = p.n;
    for (int64_t begin = 0; begin < model->words; begin += AT_ONCE) {
        int64_t end = model->words - begin < AT_ONCE ? model->words : begin + AT_ONCE;
        p.n = words;
        for (int64_t id = begin; id < end; id++) {
            add_place(&p, file_id(model, (int32_t)id), words, (int32_t)(id - begin));
            p.before[p.n - 1] = p.words + words;
        }
        if (look_up(model, &p)) return WV_KENLM_DAMAGED;
        for (int32_t i = words; i < p.n; i++)
            if (score_of(model, &p, i, words - 1, &scores[begin + p.place[i]])) return WV_KENLM_DAMAGED;
    }
    return 0;
}

static int unpack_one(const wv_kenlm *model, int32_t length, uint32_t prob, uint32_t backoff, float *probs,
                      float *backoffs) {
    if (!sane_prob(prob) || (length < model->order && !sane_backoff(backoff))) return WV_KENLM_DAMAGED;
    *probs = as_float(prob);
    if (length < model->order) *backoffs = as_float(backoff);
    return 0;
}

static int sane_next(const int64_t *next, int64_t n, int64_t below) {
    for (int64_t i = 0; i < n; i++)
        if (next[i] > next[i + 1]) return 0;
    return next[0] == 0 && next[n] == below;
}

int wv_kenlm_unpack(const wv_kenlm *model, int32_t length, int32_t *words, float *probs, float *backoffs,
                    int64_t *next) {
    const wv_kenlm_level *level = length > 1 ? &model->levels[length - 2] : NULL;
    int64_t n = level ? level->size : model->words;
    int inner = length < model->order;
    for (int64_t i = 0; i <= n; i++) {
        const uint8_t *record = model->unigrams + i * model->unigram_bytes;
        if (inner) next[i] = (int64_t)(level ? next_of(level, i) : load64(record + 8));
        if (i == n) break;
        uint64_t word = level ? get(level, &level->word, i) : (uint64_t)i;
        uint32_t prob = level ? number(level, &level->prob, i, SIGN) : load32(record) | SIGN;
        uint32_t backoff = !inner ? 0 : level ? number(level, &level->backoff, i, 0) : load32(record + 4);
        if (word >= (uint64_t)model->words) return WV_KENLM_DAMAGED;
        if (unpack_one(model, length, prob, backoff, &probs[i], inner ? &backoffs[i] : NULL)) return WV_KENLM_DAMAGED;
        words[i] = wv_id(model, (int32_t)word);
    }
    return !inner || sane_next(next, n, model->levels[length - 1].size) ? 0 : WV_KENLM_DAMAGED;
}
