/* The table of kernels of the instruction set this file is compiled for. */
#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

size_t WV_NAME(wv_word2vec_scratch_bytes)(const wv_word2vec_run *run);
void WV_NAME(wv_word2vec_block)(const wv_word2vec_run *run, const int32_t *ids, int64_t start, int64_t end,
                                int32_t epoch, void *scratch, wv_word2vec_result *result);

const wv_kernels WV_NAME(wv_kernels) = {
    .name = WV_TEXT(WV_ISA),
    .lanes = WV_LANES,
    .word2vec_scratch_bytes = WV_NAME(wv_word2vec_scratch_bytes),
    .word2vec_block = WV_NAME(wv_word2vec_block),
};
