/* Paragraph vectors (Le & Mikolov 2014, arXiv 1405.4053), which gensim calls doc2vec: training, and inference.
 *
 * A document has a vector v. For every word of it, after subsampling, an output layer (outputs.h) predicts the word of
 *
 *     DBOW        h = v
 *     DM_MEAN     h = mean of v and the vectors of the context words
 *     DM_CONCAT   h = v and the vectors of the context words, one behind the other; where the document has no word there, a
 *                 vector of its own
 *
 * A document with several tags has a vector for each: DBOW trains one after the other, DM_MEAN has all in its mean.
 *
 * Every vector in h moves by the gradient, which a mean divides by the number of its vectors: for all of them
 * (CORRECTED), for the context words alone (DOCUMENT) or for none (WORD2VEC, as word2vec's CBOW and gensim have it): few
 * words move a document's vector, many a word's. The context is the `window` words before (the paper: the word that follows is
 * predicted) or those on both sides (gensim). Inference moves v alone; its draws depend on nothing but the seed and the
 * document, so that a text has the same vector whatever stands around it.
 *
 * Departures from gensim: the window is not shortened at random; the sigmoid is exact, equal negatives are merged.
 */
#include "kernels/questions.h"
#include "kernels/wv_kernels.h"

/* One thread in one block of the corpus. */
typedef struct {
    int32_t *word;             /* (longest) of the document under way */
    float **vector;            /* (vectors) rows of the document under way */
    int64_t vectors;
    float **context;           /* (places) rows of the context words */
    float *hidden, *delta;     /* (width) */
    question_list questions[2]; /* of the word that is predicted, and of the next */
    uint64_t random;
    float lr;
    tile_totals totals;
} block_state;

static int64_t most_questions(const wv_doc2vec_run *run) {
    if (run->options.loss == WV_LOSS_HS) return run->path ? run->longest_path : -1;
    if (run->options.loss == WV_LOSS_NS) return run->sampler ? 1 + (int64_t)run->options.negative : -1;
    return -1;
}

/* Places of context, at most. */
static int64_t places(const wv_doc2vec_run *run) {
    return run->options.window * (run->options.context == WV_DOC2VEC_AROUND ? 2 : 1);
}

/* ---------------------------------------------------------------- what predicts */

WV_INLINE void add_row(float *row, const float *step, float scale, int stride) {
    for (int d = 0; d < stride; d += WV_LANES) v_store(row + d, v_load(row + d) + scale * v_load(step + d));
}

static float *input_row(const wv_doc2vec_run *run, int32_t word) {
    return run->input + (size_t)word * (size_t)run->stride;
}

/* Lists the rows of the context of `position`; `every_place`: those of places without a word, too. Returns their number. */
static int list_context(const wv_doc2vec_run *run, const block_state *state, int64_t position, int64_t words,
                        int every_place) {
    int64_t window = run->options.window, after = run->options.context == WV_DOC2VEC_AROUND ? window : 0;
    int rows = 0;
    for (int64_t at = position - window; at <= position + after; at++) {
        if (at == position) continue;
        if (at >= 0 && at < words)
            state->context[rows++] = input_row(run, state->word[at]);
        else if (every_place)
            state->context[rows++] = input_row(run, run->vocab_size);
    }
    return rows;
}

/* Trains the outputs on `hidden`, whose step goes to state->delta; frozen ones only say it. */
static void answer(const wv_doc2vec_run *run, block_state *state, question_list *list, float *hidden) {
    int width = run->output_stride;
    float *delta = state->delta;
    for (int d = 0; d < width; d += WV_LANES) v_store(delta + d, v_splat(0));
    if (!run->frozen) {
        answer_questions(list, run->output, width, hidden, delta, state->lr, &state->totals);
        return;
    }
    score_questions(list, run->output, width, hidden, state->lr, &state->totals);
    for (int k = 0; k < list->count; k++) add_row(delta, list->y[k], list->score[k], width);
}

static void train_dbow(const wv_doc2vec_run *run, block_state *state, question_list *list) {
    for (int64_t k = 0; k < state->vectors; k++) {
        answer(run, state, list, state->vector[k]);
        add_row(state->vector[k], state->delta, 1, run->stride);
    }
}

static void train_mean(const wv_doc2vec_run *run, block_state *state, question_list *list, int64_t position,
                       int64_t words) {
    int stride = run->stride, rows = list_context(run, state, position, words, 0);
    float share = 1.0f / (float)(state->vectors + rows);
    for (int d = 0; d < stride; d += WV_LANES) {
        vfloat sum = v_load(state->vector[0] + d);
        for (int64_t k = 1; k < state->vectors; k++) sum += v_load(state->vector[k] + d);
        for (int k = 0; k < rows; k++) sum += v_load(state->context[k] + d);
        v_store(state->hidden + d, sum * share);
    }
    answer(run, state, list, state->hidden);
    wv_mean_gradient gradient = run->options.mean_gradient;
    float of_document = gradient == WV_MEAN_GRADIENT_CORRECTED ? share : 1.0f;
    float of_context = gradient == WV_MEAN_GRADIENT_WORD2VEC ? 1.0f : share;
    for (int64_t k = 0; k < state->vectors; k++) add_row(state->vector[k], state->delta, of_document, stride);
    for (int k = 0; k < rows && !run->frozen; k++) add_row(state->context[k], state->delta, of_context, stride);
}

static void train_concat(const wv_doc2vec_run *run, block_state *state, question_list *list, int64_t position,
                         int64_t words) {
    float *document = state->vector[0];
    int stride = run->stride, rows = list_context(run, state, position, words, 1);
    memcpy(state->hidden, document, sizeof(float) * (size_t)stride);
    for (int k = 0; k < rows; k++)
        memcpy(state->hidden + (size_t)(k + 1) * (size_t)stride, state->context[k], sizeof(float) * (size_t)stride);
    answer(run, state, list, state->hidden);
    add_row(document, state->delta, 1, stride);
    for (int k = 0; k < rows && !run->frozen; k++)
        add_row(state->context[k], state->delta + (size_t)(k + 1) * (size_t)stride, 1, stride);
}

/* ---------------------------------------------------------------- documents */

/* Lists the outputs of a word and asks for them. */
static void list_outputs(const wv_doc2vec_run *run, block_state *state, int32_t word, question_list *list) {
    if (run->options.loss == WV_LOSS_HS)
        list_nodes(list, run->path, run->path_start[word], run->path_start[word + 1]);
    else
        list_sampled(list, word, run->options.negative, run->sampler, run->vocab_size, &state->random);
    fetch_outputs(list, run->output, run->output_stride);
}

/* Lists the rows of a document. */
static void list_vectors(const wv_doc2vec_run *run, block_state *state, int64_t document) {
    int64_t first = run->tag_start ? run->tag_start[document] : 0, end = run->tag_start ? run->tag_start[document + 1] : 1;
    state->vectors = end - first;
    for (int64_t k = first; k < end; k++) {
        size_t row = run->tag_start ? (size_t)run->tag[k] : (size_t)document;
        state->vector[k - first] = run->documents + row * (size_t)run->stride;
    }
}

/* `words` words, those that subsampling has left; `of_run` is the share of the run that lies before the document, and
 * `length` the share that it takes. */
static void train_document(const wv_doc2vec_run *run, block_state *state, int64_t words, double of_run, double length) {
    question_list *list = &state->questions[0], *next = &state->questions[1];
    if (words > 0) list_outputs(run, state, state->word[0], list);
    for (int64_t position = 0; position < words; position++) {
        if (position + 1 < words) list_outputs(run, state, state->word[position + 1], next);
        float lr = run->options.lr * (float)(1 - of_run - length * (double)position / (double)words);
        state->lr = lr > run->options.least_lr ? lr : run->options.least_lr;
        switch (run->options.algorithm) {
        case WV_DOC2VEC_DBOW: train_dbow(run, state, list); break;
        case WV_DOC2VEC_DM_MEAN: train_mean(run, state, list, position, words); break;
        case WV_DOC2VEC_DM_CONCAT: train_concat(run, state, list, position, words); break;
        }
        question_list *done = list;
        list = next;
        next = done;
    }
}

/* Reads the words of a document from ids[position] on that subsampling leaves, up to a line end or `end`. Returns where
 * the next one begins. */
static int64_t read_document(const wv_doc2vec_run *run, const int32_t *ids, int64_t position, int64_t end,
                             block_state *state, int64_t *words, int64_t *tokens) {
    *words = 0;
    while (position < end) {
        int32_t word = ids[position++];
        if (word < 0) break;
        ++*tokens;
        state->word[*words] = word;
        *words += run->keep == NULL || (uint32_t)(wv_rng_next(&state->random) >> 32) <= run->keep[word];
    }
    return position;
}

/* ---------------------------------------------------------------- blocks */

/* Lays the state out in `memory`; returns its size in bytes. With memory NULL it only measures. */
static size_t lay_out(const wv_doc2vec_run *run, void *memory, block_state *state) {
    wv_scratch scratch = {memory, 0};
    *state = (block_state){.lr = run->options.lr};
    state->word = WV_TAKE(&scratch, int32_t, run->longest + 1);
    state->vector = WV_TAKE(&scratch, float *, run->most_tags);
    state->context = WV_TAKE(&scratch, float *, places(run));
    state->hidden = WV_TAKE(&scratch, float, run->output_stride);
    state->delta = WV_TAKE(&scratch, float, run->output_stride);
    for (int k = 0; k < 2; k++) state->questions[k] = take_questions(&scratch, most_questions(run));
    return scratch.used;
}

size_t WV_NAME(wv_doc2vec_scratch_bytes)(const wv_doc2vec_run *run) {
    block_state state;
    return most_questions(run) < 0 ? 0 : lay_out(run, NULL, &state);
}

void WV_NAME(wv_doc2vec_block)(const wv_doc2vec_run *run, const wv_block *block, void *scratch,
                               wv_block_result *result) {
    block_state state;
    lay_out(run, scratch, &state);
    double epochs = run->options.epochs, loss = 0;
    int64_t tokens = 0, examples = 0, position = block->start, end = block->end, document = block->document;
    int32_t epoch = block->epoch;
    for (; position < end; document++) {
        int64_t begin = position, words;
        uint64_t place = run->frozen ? 0 : (uint64_t)begin;
        double before = run->frozen ? 0 : (double)begin / (double)run->epoch_ids;
        state.random = wv_rng_stream(run->options.seed, (uint64_t)epoch, place);
        position = read_document(run, block->ids, begin, end, &state, &words, &tokens);
        double length = run->frozen ? 1 : (double)(position - begin) / (double)run->epoch_ids;
        list_vectors(run, &state, document);
        train_document(run, &state, words, (epoch + before) / epochs, length / epochs);
        loss += v_sum(state.totals.loss); /* every document: float sums of many terms would lose digits */
        state.totals.loss = v_splat(0);
        examples += words;
    }
    result->loss = loss + 0 * (double)v_sum(state.totals.magnitude); /* NaN or infinity in any row shows here */
    result->examples = examples;
    result->tokens = tokens;
    result->lr = state.lr;
}
