#include "core/ngramscore.h"

/* log10 p(word | context), which is a node or WV_NO_NODE. */
static float prob_after(const wv_ngram_model *model, int32_t context, int32_t word) {
    const wv_ngram_trie *trie = &model->trie;
    int32_t found;
    float sum = 0;
    while ((found = wv_ngram_child(trie, context, word)) < 0) {
        sum += model->backoff[context];
        context = trie->suffix[context];
    }
    return sum + model->prob[found];
}

void wv_ngram_below(const wv_ngram_model *model, int64_t begin, int64_t end, float *scores) {
    const wv_ngram_trie *trie = &model->trie;
    for (int64_t node = begin; node < end; node++)
        for (int32_t child = trie->first[node]; child < trie->first[node + 1]; child++)
            *scores++ = prob_after(model, trie->suffix[node], trie->word[child]);
}
