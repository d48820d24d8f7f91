/* MaxScore over windows of documents, with a bound for every block of postings; see bm25.h.
 *
 * The tokens of a query have an order: the rarest first. A document's score is added up in that order in double, so that
 * equal documents have equal scores. Documents are taken a window at a time. In a window each list of postings has a bound,
 * by the largest of its blocks there. Lists at the end of the order that together do not reach the worst of the k best so
 * far are not read (Turtle and Flood 1995): no document is among the best by them alone. The others are added up in a row of
 * sums that stays in the first-level cache. A document whose sum and the bounds of the lists left out reach the worst score is
 * looked up in these, one after the other, as long as they do. Bounds by blocks are from Ding and Suel (2011).
 *
 * This file is compiled without -fassociative-math: sums must not be regrouped.
 */
#include "core/bm25.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 2048
#define SLACK 1e-9 /* more than a sum of bounds is wrong by */

/* A token of the query. */
typedef struct {
    int64_t token;
    int64_t at, end;    /* its postings from the window on: at .. end - 1 */
    int64_t beyond;     /* those in the window end before this one */
    double idf, times;  /* `times`: how often it stands in the query */
    double bound;       /* of what it adds to a score in the window */
} posting_list;

typedef struct {
    double score;
    int32_t row;
} hit;

typedef struct {
    const wv_bm25 *index;
    posting_list *lists; /* (count) the different tokens, the rarest first */
    int64_t count, k, held;
    double *reach; /* (count + 1): what the lists from each one on add at most */
    hit *best;     /* (k) a heap, the worst on top, once `held` is k */
    double *sums;  /* (WINDOW), zero between windows */
    double least;  /* the worst score of k; below 0 before there are as many */
} search;

/* f / (f + k1 (1 - b + b |D| / mean)) */
static inline double frequency(const wv_bm25 *index, uint16_t count, int32_t length) {
    return count / (count + index->k1 * (1 - index->b + index->b / index->mean * length));
}

static int is_document(const wv_bm25 *index, int32_t document) { return document >= 0 && document < index->n; }

int wv_bm25_make_bounds(const wv_bm25 *index, float *bounds) {
    for (int64_t first = 0; first < index->postings; first += WV_BM25_BLOCK) {
        const int64_t last = first + WV_BM25_BLOCK < index->postings ? first + WV_BM25_BLOCK : index->postings;
        double most = 0;
        for (int64_t i = first; i < last; i++) {
            if (!is_document(index, index->documents[i])) return WV_BM25_ORDER;
            if (index->lengths[index->documents[i]] < 0) return WV_BM25_LENGTHS;
            double each = frequency(index, index->found[i], index->lengths[index->documents[i]]);
            if (each > most) most = each;
        }
        bounds[first / WV_BM25_BLOCK] = nextafterf((float)most, 2);
    }
    return WV_BM25_FINE;
}

int wv_bm25_find(const wv_bm25 *index, const unsigned char *text, int64_t length, int64_t *token) {
    int64_t low = 0, high = index->tokens;
    *token = -1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t begin = index->word_at[middle], end = index->word_at[middle + 1];
        if (begin < 0 || begin > end || end > index->word_bytes) return WV_BM25_WORD_PLACES;
        const int64_t shorter = end - begin < length ? end - begin : length;
        int difference = shorter ? memcmp(index->words + begin, text, (size_t)shorter) : 0;
        if (!difference) difference = (end - begin > length) - (end - begin < length);
        if (!difference) {
            *token = middle;
            return WV_BM25_FINE;
        }
        if (difference < 0) low = middle + 1;
        else high = middle;
    }
    return WV_BM25_FINE;
}

/* ---------------------------------------------------------------- the k best */

static int is_worse(hit a, hit b) { return a.score < b.score || (a.score == b.score && a.row > b.row); }

/* Puts `value` in the place of the root of a heap of `count` hits. */
static void sift_down(hit *heap, int64_t hole, int64_t count, hit value) {
    for (;;) {
        int64_t child = 2 * hole + 1;
        if (child >= count) break;
        if (child + 1 < count && is_worse(heap[child + 1], heap[child])) child++;
        if (!is_worse(heap[child], value)) break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = value;
}

static void offer(search *s, hit value) {
    if (s->held < s->k) {
        s->best[s->held++] = value;
        if (s->held < s->k) return;
        for (int64_t i = s->k / 2; i-- > 0;) sift_down(s->best, i, s->k, s->best[i]);
    } else {
        if (!is_worse(s->best[0], value)) return;
        sift_down(s->best, 0, s->k, value);
    }
    s->least = s->best[0].score;
}

/* Writes the hits, best first. */
static int64_t sort_hits(search *s, int32_t *rows, double *scores) {
    for (int64_t i = s->held / 2; i-- > 0;) sift_down(s->best, i, s->held, s->best[i]);
    for (int64_t left = s->held; left > 0; left--) {
        rows[left - 1] = s->best[0].row;
        scores[left - 1] = s->best[0].score;
        sift_down(s->best, 0, left - 1, s->best[left - 1]);
    }
    return s->held;
}

/* ---------------------------------------------------------------- lists */

/* The first posting of at .. end - 1 whose document is `document` or a later one. No branch depends on a document: half of
 * them would be foretold wrongly. */
static int64_t lower_bound(const int32_t *documents, int64_t at, int64_t end, int32_t document) {
    int64_t size = end - at;
    if (size <= 0) return at;
    for (; size > 1; size -= size / 2) at += documents[at + size / 2 - 1] < document ? size / 2 : 0;
    return at + (documents[at] < document);
}

/* The same, for a place that is near `at`. */
static int64_t skip_to(const int32_t *documents, int64_t at, int64_t end, int32_t document) {
    int64_t step = WV_BM25_BLOCK / 2;
    while (at + step < end && documents[at + step] < document) {
        at += step;
        step *= 2;
    }
    return lower_bound(documents, at, at + step < end ? at + step : end, document);
}

/* Finds the postings of a list before document `beyond`, and their bound. */
static void enter_window(const wv_bm25 *index, posting_list *list, int32_t beyond) {
    list->beyond = skip_to(index->documents, list->at, list->end, beyond);
    float most = 0;
    if (list->at < list->beyond)
        for (int64_t block = list->at / WV_BM25_BLOCK; block <= (list->beyond - 1) / WV_BM25_BLOCK; block++)
            if (index->bounds[block] > most) most = index->bounds[block];
    list->bound = (double)most * list->idf * list->times * (1 + SLACK);
}

/* Adds the postings of a list in the window that begins with document `first` to the sums. */
static int add_list(search *s, const posting_list *list, int32_t first) {
    const wv_bm25 *index = s->index;
    double shares[WV_BM25_BLOCK];
    int32_t lengths[WV_BM25_BLOCK], before = first - 1, negative = 0;
    for (int64_t at = list->at; at < list->beyond; at += WV_BM25_BLOCK) {
        const int64_t count = list->beyond - at < WV_BM25_BLOCK ? list->beyond - at : WV_BM25_BLOCK;
        const int32_t *documents = index->documents + at;
        const uint16_t *found = index->found + at;
        for (int64_t i = 0; i < count; i++) {
            if (documents[i] <= before || documents[i] - first >= WINDOW || documents[i] >= index->n)
                return WV_BM25_ORDER;
            before = documents[i];
            lengths[i] = index->lengths[before];
            negative |= lengths[i];
        }
        for (int64_t i = 0; i < count; i++) shares[i] = frequency(index, found[i], lengths[i]) * list->idf * list->times;
        for (int64_t i = 0; i < count; i++) s->sums[documents[i] - first] += shares[i];
    }
    return negative < 0 ? WV_BM25_LENGTHS : WV_BM25_FINE;
}

/* What a list adds to the score of a document: 0 where it does not hold it. */
static double look_up(const wv_bm25 *index, const posting_list *list, int32_t document) {
    const int64_t at = lower_bound(index->documents, list->at, list->beyond, document);
    if (at == list->beyond || index->documents[at] != document) return 0;
    return frequency(index, index->found[at], index->lengths[document]) * list->idf * list->times;
}

/* ---------------------------------------------------------------- windows */

/* Offers the documents of a window, of which the lists before `added` are added up. */
static void offer_window(search *s, int64_t added, int32_t first) {
    for (int64_t i = 0; i < added; i++) {
        const posting_list *list = &s->lists[i];
        for (int64_t at = list->at; at < list->beyond; at++) {
            const int32_t document = s->index->documents[at];
            double sum = s->sums[document - first];
            if (sum == 0) continue; /* seen in another list */
            s->sums[document - first] = 0;
            int64_t next = added;
            for (; next < s->count && sum + s->reach[next] >= s->least; next++)
                sum += look_up(s->index, &s->lists[next], document);
            if (next == s->count && sum >= s->least) offer(s, (hit){sum, document});
        }
    }
}

static int search_window(search *s, int32_t first) {
    const int32_t beyond = first > INT32_MAX - WINDOW ? INT32_MAX : first + WINDOW;
    int64_t added = 0;
    for (int64_t i = s->count; i-- > 0;) {
        enter_window(s->index, &s->lists[i], beyond);
        s->reach[i] = s->reach[i + 1] + s->lists[i].bound;
        if (!added && !(s->reach[i] < s->least)) added = i + 1;
    }
    int problem = WV_BM25_FINE;
    for (int64_t i = 0; i < added && !problem; i++) problem = add_list(s, &s->lists[i], first);
    if (!problem) offer_window(s, added, first);
    for (int64_t i = 0; i < s->count; i++) s->lists[i].at = s->lists[i].beyond;
    return problem;
}

/* The first document of the window with the next document of any list; -1 at the end. */
static int64_t next_window(const search *s) {
    int64_t next = -1;
    for (int64_t i = 0; i < s->count; i++) {
        const posting_list *list = &s->lists[i];
        if (list->at == list->end) continue;
        const int64_t document = (uint32_t)s->index->documents[list->at]; /* a negative one is beyond all */
        if (next < 0 || document < next) next = document;
    }
    return next < 0 ? next : next / WINDOW * WINDOW;
}

static int search_windows(search *s) {
    int64_t least = 0;
    for (int64_t first = next_window(s); first >= 0; first = next_window(s)) {
        if (first < least || first >= s->index->n) return WV_BM25_ORDER; /* windows ascend, or it would not end */
        least = first + WINDOW;
        int problem = search_window(s, (int32_t)first);
        if (problem) return problem;
    }
    return WV_BM25_FINE;
}

static int is_rarer(const posting_list *a, const posting_list *b) { return a->end - a->at < b->end - b->at; }

/* Makes the lists of the different tokens of a query. */
static int open_lists(search *s, const int64_t *query, int64_t size) {
    const wv_bm25 *index = s->index;
    for (int64_t i = 0; i < size; i++) {
        int64_t place = 0;
        while (place < s->count && s->lists[place].token != query[i]) place++;
        if (place < s->count) {
            s->lists[place].times += 1;
            continue;
        }
        posting_list list = {query[i], index->posting_at[query[i]], index->posting_at[query[i] + 1], 0, 0, 1, 0};
        const int64_t holding = list.end - list.at;
        if (list.at < 0 || list.at > list.end || list.end > index->postings) return WV_BM25_POSTING_PLACES;
        if (holding > index->n) return WV_BM25_ORDER;
        list.idf = log1p(((double)(index->n - holding) + 0.5) / ((double)holding + 0.5));
        for (; place > 0 && is_rarer(&list, &s->lists[place - 1]); place--) s->lists[place] = s->lists[place - 1];
        s->lists[place] = list;
        s->count++;
    }
    return WV_BM25_FINE;
}

int wv_bm25_top(const wv_bm25 *index, const int64_t *query, int64_t size, int64_t k, int32_t *rows, double *scores,
                int64_t *count) {
    *count = 0;
    if (size <= 0 || k <= 0) return WV_BM25_FINE;
    /* All sizes are of a query, or of the answers that the caller has memory for. */
    search s = {.index = index, .k = k, .least = -1};
    s.lists = malloc((size_t)size * sizeof *s.lists);
    s.reach = calloc((size_t)size + 1, sizeof *s.reach);
    s.best = malloc((size_t)k * sizeof *s.best);
    s.sums = calloc(WINDOW, sizeof *s.sums);
    int problem = WV_BM25_MEMORY;
    if (s.lists && s.reach && s.best && s.sums) {
        problem = open_lists(&s, query, size);
        if (!problem) problem = search_windows(&s);
        if (!problem) *count = sort_hits(&s, rows, scores);
    }
    free(s.lists);
    free(s.reach);
    free(s.best);
    free(s.sums);
    return problem;
}
