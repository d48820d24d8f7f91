#include "kernels/wv_kernels.h"
size_t WV_NAME(wv_supervised_predict_scratch_bytes)(const wv_prediction_run *run) { return (size_t)run->labels*4+1024; }
void WV_NAME(wv_supervised_predict)(const wv_prediction_run *run, const int64_t *start, const int32_t *row,
                                    int64_t lines, int32_t *label, float *score, int32_t *found, void *scratch) {}
