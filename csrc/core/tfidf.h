/* The values of a text's features: sublinear term frequencies times inverse document frequencies, of length 1. */
#ifndef WV_TFIDF_H
#define WV_TFIDF_H

#include <stdint.h>

/* Text t has the features id[start[t]:start[t + 1]], in any order. Makes them distinct, ascending and packed, in place:
 * id, start, and their values v = (1 + ln count) idf[id] / |v|. idf NULL: all are 1. */
void wv_tfidf(int64_t texts, int64_t *start, int32_t *id, float *value, const float *idf);

#endif
