/* sent2vec (Pagliardini, Gupta & Jaggi 2018, arXiv 1703.02507): training.
 *
 * R is the list of a sentence's words and n-grams of words, R(t) that without the word at position t and the n-grams that
 * it is part of. For every position t whose word is drawn as a target (subsampling leaves frequent ones out):
 *
 *     h_t = 1 / |R(t)| sum of the input rows of R(t)
 *     negative sampling of the word at t; outputs.h has the formulas
 *     every row of R(t) += (sum over outputs of g * y) / |R(t)|
 *
 * `dropout_ngrams` n-grams of two words and more, drawn anew each time the sentence is read, are left out of R.
 *
 * The rows of a sentence are read once and written once. With left_t = sum of the rows that R has and R(t) has not
 *
 *     h_t = (total - left_t) / |R(t)|,    d_t = step of h_t / |R(t)|
 *     row of the word at i += sum over t of d_t - d_i,    row of the n-gram i .. j += sum over t of d_t - (d_i + .. + d_j)
 *
 * which costs as many sums as the sentence has rows, where taking every h_t by itself costs their square.
 *
 * Departures from the authors' program: the input rows move at the end of a sentence, all its targets see them as they
 * were at its beginning; an n-gram with the target is left out, as the paper has it, where the program puts a
 * placeholder, which has a row, in the target's place; n-grams are dropped (the paper) once a sentence, not words that break
 * them (the program) once a target; the sigmoid is exact, equal negatives are merged.
 */
#include "base/cache.h"
#include "kernels/buckets.h"
#include "kernels/pipeline.h"
#include "kernels/questions.h"
#include "kernels/wv_kernels.h"

/* n words from position `first` on. */
typedef struct {
    int32_t first, last, row;
} word_ngram;

typedef struct {
    int64_t position; /* where it begins in the corpus */
    uint64_t random;
    int32_t words, ngrams;
    int32_t *word;     /* (longest) */
    word_ngram *ngram; /* (longest * (word_ngrams - 1)); `row` is a bucket at first */
} sentence;

enum { SENTENCE_STAGES = 3 };

/* One thread in one block of the corpus. */
typedef struct {
    const wv_sent2vec_run *run;
    const wv_block *block;
    int64_t position, tokens, examples; /* position: where the next sentence begins */
    sentence sentence[SENTENCE_STAGES];
    float *left;            /* (longest, dim): left_t, then d_t */
    int32_t *rows_left;     /* (longest): how many rows left_t sums */
    float *total, *hidden, *delta; /* (dim) */
    question_list questions[2];    /* of the target that is trained, and of the next */
    float lr;
    double loss;
    tile_totals totals;
} sentence_block;

/* ---------------------------------------------------------------- sentences */

/* Reads the words of a sentence from ids[position] on: up to a line end, `end` or max_sentence words. `word` may be
 * NULL. Returns where the next one begins. */
static int64_t read_words(const wv_sent2vec_run *run, const int32_t *ids, int64_t position, int64_t end, int32_t *word,
                          int32_t *words) {
    *words = 0;
    while (position < end && *words < run->options.max_sentence) {
        int32_t id = ids[position++];
        if (id < 0) break;
        if (word) word[*words] = id;
        ++*words;
    }
    return position;
}

/* The n-grams of a sentence, with their buckets: h = h * 116049371 + hash, as fastText's classifier has them. */
static void list_ngrams(const wv_sent2vec_run *run, sentence *s) {
    uint64_t scale = UINT64_MAX / run->buckets;
    s->ngrams = 0;
    for (int32_t i = 0; i < s->words; i++) {
        uint64_t h = (uint64_t)(int64_t)run->hash[s->word[i]];
        for (int32_t j = i + 1; j < s->words && j < i + run->options.word_ngrams; j++) {
            h = h * 116049371u + (uint64_t)(int64_t)run->hash[s->word[j]];
            uint32_t bucket = bucket_of(h, run->buckets, scale);
            __builtin_prefetch(run->bucket_row + bucket);
            s->ngram[s->ngrams++] = (word_ngram){i, j, (int32_t)bucket};
        }
    }
}

static int64_t read_sentence(const wv_sent2vec_run *run, const int32_t *ids, int64_t position, int64_t end,
                             sentence *s) {
    s->position = position;
    s->ngrams = 0;
    position = read_words(run, ids, position, end, s->word, &s->words);
    if (run->hash) list_ngrams(run, s);
    return position;
}

void WV_NAME(wv_sent2vec_survey)(const wv_sent2vec_run *run, const int32_t *ids, int64_t length, int32_t *words,
                                 wv_sent2vec_survey *survey) {
    uint64_t scale = run->hash ? UINT64_MAX / run->buckets : 0;
    for (int64_t position = 0; position < length;) {
        int32_t count;
        position = read_words(run, ids, position, length, words, &count);
        if (count > survey->longest) survey->longest = count;
        if (!run->hash) continue;
        for (int32_t i = 0; i < count; i++) {
            uint64_t h = (uint64_t)(int64_t)run->hash[words[i]];
            for (int32_t j = i + 1; j < count && j < i + run->options.word_ngrams; j++) {
                h = h * 116049371u + (uint64_t)(int64_t)run->hash[words[j]];
                int32_t *row = run->bucket_row + bucket_of(h, run->buckets, scale);
                if (*row == -1) *row = survey->next_row++;
            }
        }
    }
}

WV_INLINE float *input_row(const wv_sent2vec_run *run, int32_t row) {
    return run->input + (size_t)row * (size_t)run->stride;
}

WV_INLINE void fetch_row(const wv_sent2vec_run *run, int32_t row) {
    wv_fetch_to_change(input_row(run, row), run->stride);
}

/* Drops some n-grams, finds the rows of the others, and asks for all rows. */
static void find_rows(const wv_sent2vec_run *run, sentence *s, int32_t epoch) {
    s->random = wv_rng_stream(run->options.seed, (uint64_t)epoch, (uint64_t)s->position);
    for (int32_t dropped = 0; dropped < run->options.dropout_ngrams && s->ngrams > 0; dropped++) {
        uint32_t which = wv_rng_below(wv_rng_next(&s->random), (uint32_t)s->ngrams);
        s->ngram[which] = s->ngram[--s->ngrams];
    }
    for (int32_t k = 0; k < s->words; k++) fetch_row(run, s->word[k]);
    int32_t found = 0;
    for (int32_t k = 0; k < s->ngrams; k++) {
        word_ngram ngram = s->ngram[k];
        ngram.row = run->bucket_row[ngram.row];
        if (ngram.row < 0) continue; /* only where a block begins elsewhere than the sentences surveyed */
        fetch_row(run, ngram.row);
        s->ngram[found++] = ngram;
    }
    s->ngrams = found;
}

/* ---------------------------------------------------------------- training */

WV_INLINE float *left_of(const wv_sent2vec_run *run, const sentence_block *state, int32_t position) {
    return state->left + (size_t)position * (size_t)run->stride;
}

/* total and left of every position; how many rows they are. */
static void sum_rows(const wv_sent2vec_run *run, sentence_block *state, const sentence *s) {
    int stride = run->stride;
    for (int d = 0; d < stride; d += WV_LANES) v_store(state->total + d, v_splat(0));
    for (int32_t i = 0; i < s->words; i++) {
        const float *row = input_row(run, s->word[i]);
        float *left = left_of(run, state, i);
        state->rows_left[i] = 1;
        for (int d = 0; d < stride; d += WV_LANES) {
            vfloat part = v_load(row + d);
            v_store(left + d, part);
            v_store(state->total + d, v_load(state->total + d) + part);
        }
    }
    for (int32_t k = 0; k < s->ngrams; k++) {
        const word_ngram *ngram = &s->ngram[k];
        const float *row = input_row(run, ngram->row);
        for (int d = 0; d < stride; d += WV_LANES)
            v_store(state->total + d, v_load(state->total + d) + v_load(row + d));
        for (int32_t i = ngram->first; i <= ngram->last; i++) {
            float *left = left_of(run, state, i);
            state->rows_left[i]++;
            for (int d = 0; d < stride; d += WV_LANES) v_store(left + d, v_load(left + d) + v_load(row + d));
        }
    }
}

/* The next position from `position` on whose word is to be predicted, its questions listed and on their way; -1: none is.
 * No step of a position that is passed by remains. */
static int32_t next_target(const wv_sent2vec_run *run, sentence_block *state, sentence *s, int32_t position,
                           question_list *list) {
    int32_t rows = s->words + s->ngrams;
    for (; position < s->words; position++) {
        int32_t word = s->word[position];
        int kept = run->keep == NULL || (uint32_t)(wv_rng_next(&s->random) >> 32) <= run->keep[word];
        if (kept && rows > state->rows_left[position]) {
            list_sampled(list, word, run->options.negative, run->sampler, run->vocab_size, &s->random);
            fetch_outputs(list, run->output, run->stride);
            return position;
        }
        float *left = left_of(run, state, position);
        for (int d = 0; d < run->stride; d += WV_LANES) v_store(left + d, v_splat(0));
    }
    return -1;
}

/* left_t becomes d_t. */
static void train_target(const wv_sent2vec_run *run, sentence_block *state, const sentence *s, int32_t position,
                         question_list *list) {
    int stride = run->stride;
    float share = 1.0f / (float)(s->words + s->ngrams - state->rows_left[position]);
    float *left = left_of(run, state, position);
    for (int d = 0; d < stride; d += WV_LANES) {
        v_store(state->hidden + d, (v_load(state->total + d) - v_load(left + d)) * share);
        v_store(state->delta + d, v_splat(0));
    }
    answer_questions(list, run->output, stride, state->hidden, state->delta, state->lr, &state->totals);
    for (int d = 0; d < stride; d += WV_LANES) v_store(left + d, v_load(state->delta + d) * share);
}

/* Every row moves by the steps of the targets that it was part of. */
static void move_rows(const wv_sent2vec_run *run, sentence_block *state, const sentence *s) {
    int stride = run->stride;
    float *sum = state->total;
    for (int d = 0; d < stride; d += WV_LANES) v_store(sum + d, v_splat(0));
    for (int32_t i = 0; i < s->words; i++) {
        const float *step = left_of(run, state, i);
        for (int d = 0; d < stride; d += WV_LANES) v_store(sum + d, v_load(sum + d) + v_load(step + d));
    }
    for (int32_t i = 0; i < s->words; i++) {
        float *row = input_row(run, s->word[i]);
        const float *step = left_of(run, state, i);
        for (int d = 0; d < stride; d += WV_LANES)
            v_store(row + d, v_load(row + d) + (v_load(sum + d) - v_load(step + d)));
    }
    for (int32_t k = 0; k < s->ngrams; k++) {
        const word_ngram *ngram = &s->ngram[k];
        float *row = input_row(run, ngram->row);
        for (int d = 0; d < stride; d += WV_LANES) {
            vfloat own = v_splat(0);
            for (int32_t i = ngram->first; i <= ngram->last; i++) own += v_load(left_of(run, state, i) + d);
            v_store(row + d, v_load(row + d) + (v_load(sum + d) - own));
        }
    }
}

/* Returns the number of words predicted. */
static int64_t train_sentence(const wv_sent2vec_run *run, sentence_block *state, sentence *s) {
    int64_t targets = 0;
    question_list *list = &state->questions[0], *next = &state->questions[1];
    if (s->words < 2) return 0;
    sum_rows(run, state, s);
    int32_t position = next_target(run, state, s, 0, list);
    while (position >= 0) {
        int32_t following = next_target(run, state, s, position + 1, next);
        train_target(run, state, s, position, list);
        targets++;
        position = following;
        question_list *done = list;
        list = next;
        next = done;
    }
    if (targets) move_rows(run, state, s);
    return targets;
}

/* ---------------------------------------------------------------- blocks */

/* Lays the state out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t sentence_lay_out(const wv_sent2vec_run *run, void *memory, sentence_block *state) {
    wv_scratch scratch = {memory, 0};
    int64_t longest = run->longest;
    *state = (sentence_block){.lr = run->options.lr};
    for (int k = 0; k < SENTENCE_STAGES; k++) {
        state->sentence[k].word = WV_TAKE(&scratch, int32_t, longest);
        state->sentence[k].ngram = WV_TAKE(&scratch, word_ngram, longest * (run->options.word_ngrams - 1));
    }
    state->left = WV_TAKE(&scratch, float, longest * run->stride);
    state->rows_left = WV_TAKE(&scratch, int32_t, longest);
    state->total = WV_TAKE(&scratch, float, run->stride);
    state->hidden = WV_TAKE(&scratch, float, run->stride);
    state->delta = WV_TAKE(&scratch, float, run->stride);
    for (int k = 0; k < 2; k++) state->questions[k] = take_questions(&scratch, 1 + (int64_t)run->options.negative);
    return scratch.used;
}

size_t WV_NAME(wv_sent2vec_scratch_bytes)(const wv_sent2vec_run *run) {
    sentence_block state;
    return sentence_lay_out(run, NULL, &state);
}

static int sentence_read(void *of, const void *kind, void *item) {
    (void)kind;
    sentence_block *state = of;
    sentence *s = item;
    if (state->position >= state->block->end) return 0;
    state->position = read_sentence(state->run, state->block->ids, state->position, state->block->end, s);
    state->tokens += s->words;
    return 1;
}

static void sentence_list(void *of, const void *kind, void *item) {
    (void)kind;
    sentence_block *state = of;
    find_rows(state->run, item, state->block->epoch);
}

static void sentence_train(void *of, const void *kind, void *item, const void *fetched) {
    (void)kind;
    (void)fetched;
    sentence_block *state = of;
    const wv_sent2vec_run *run = state->run;
    sentence *s = item;
    double schedule = (double)run->epoch_ids * run->options.epochs;
    double done = ((double)state->block->epoch * (double)run->epoch_ids + (double)s->position) / schedule;
    state->lr = (float)(run->options.lr * (1 - done));
    state->examples += train_sentence(run, state, s);
    state->loss += v_sum(state->totals.loss); /* every sentence: float sums of many terms would lose digits */
    state->totals.loss = v_splat(0);
}

static const pipeline SENTENCES = {SENTENCE_STAGES, 1, sentence_read, sentence_list, sentence_train};

void WV_NAME(wv_sent2vec_block)(const wv_sent2vec_run *run, const wv_block *block, void *scratch,
                                wv_block_result *result) {
    sentence_block state;
    sentence_lay_out(run, scratch, &state);
    state.run = run;
    state.block = block;
    state.position = block->start;
    pipeline_run(&SENTENCES, &state, NULL, state.sentence, sizeof state.sentence[0]);
    result->loss = state.loss + 0 * (double)v_sum(state.totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = state.examples;
    result->tokens = state.tokens;
    result->lr = state.lr;
}
