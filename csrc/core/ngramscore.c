#include "core/ngramscore.h"

int32_t wv_ngram_begin(const wv_ngram_model *model) {
    return model->trie.order > 1 ? WV_SENTENCE : WV_NO_NODE;
}

/* The number of words of a node. */
static uint8_t length_of(const wv_ngram_trie *trie, int32_t node) {
    uint8_t length = 1;
    while (node >= trie->levels[length]) length++;
    return length;
}

float wv_ngram_step(const wv_ngram_model *model, int32_t word, int32_t *state, uint8_t *length) {
    const wv_ngram_trie *trie = &model->trie;
    int32_t context = *state, found;
    float score = 0;
    while ((found = wv_ngram_child(trie, context, word)) < 0) {
        score += model->backoff[context];
        context = trie->suffix[context];
    }
    *length = length_of(trie, found);
    *state = *length == trie->order ? trie->suffix[found] : found;
    return score + model->prob[found];
}

void wv_ngram_score(const wv_ngram_model *model, const int32_t *ids, int64_t n, int ends, int32_t *state, float *scores,
                    uint8_t *lengths) {
    int32_t begin = ends ? wv_ngram_begin(model) : WV_NO_NODE;
    for (int64_t i = 0; i < n; i++) {
        if (ids[i] >= 0) {
            scores[i] = wv_ngram_step(model, ids[i], state, &lengths[i]);
            continue;
        }
        scores[i] = 0;
        lengths[i] = 0;
        if (ends) scores[i] = wv_ngram_step(model, WV_SENTENCE_END, state, &lengths[i]);
        *state = begin;
    }
}

void wv_ngram_below(const wv_ngram_model *model, int32_t length, float *scores) {
    const wv_ngram_trie *trie = &model->trie;
    uint8_t found;
    for (int64_t node = trie->levels[length - 2]; node < trie->levels[length - 1]; node++) {
        for (int32_t child = trie->first[node]; child < trie->first[node + 1]; child++) {
            int32_t state = trie->suffix[node];
            *scores++ = wv_ngram_step(model, trie->word[child], &state, &found);
        }
    }
}

void wv_ngram_all(const wv_ngram_model *model, int32_t state, float *scores) {
    const wv_ngram_trie *trie = &model->trie;
    int32_t contexts[WV_LARGEST_ORDER + 1];
    float weight[WV_LARGEST_ORDER + 1];
    int32_t depth = 0;
    float sum = 0;
    for (int32_t node = state; node >= 0; node = trie->suffix[node]) {
        contexts[depth] = node;
        weight[depth++] = sum;
        sum += model->backoff[node];
    }
    for (int32_t word = 0; word < model->words; word++) scores[word] = sum + model->prob[word];
    while (depth-- > 0) { /* longer contexts overwrite what shorter ones said */
        int32_t node = contexts[depth];
        for (int32_t child = trie->first[node]; child < trie->first[node + 1]; child++)
            scores[trie->word[child]] = weight[depth] + model->prob[child];
    }
}
