/* Which rows a worker may use in a round of a deterministic run (deterministic.h): those of the words of its block, whether
 * subsampling keeps them or not, the nodes of their paths, and the words that its pool of random numbers chooses.
 *
 * All workers are listed before any trains. The users of a row are a number: of worker w bit w, and above them the round
 * that the bits are of, so that nothing need be forgotten. Threads add to it together.
 */
#ifndef WV_WORD2VEC_DETERMINISTIC_USERS_H
#define WV_WORD2VEC_DETERMINISTIC_USERS_H

#include "base/rng.h"
#include "kernels/word2vec/deterministic.h"
#include "kernels/word2vec/layers.h"

/* `user`: the round, and the bit of a worker; `together`: other threads add theirs meanwhile. */
typedef struct {
    uint16_t user;
    int together;
} user_mark;

WV_INLINE user_mark mark_of(const wv_round_merge *rounds, int32_t worker) {
    return (user_mark){(uint16_t)(rounds->round << 8 | 1 << worker), rounds->threads > 1};
}

WV_INLINE uint16_t with_user(uint16_t users, uint16_t user) {
    return (users ^ user) >> 8 ? user : (uint16_t)(users | user);
}

WV_INLINE void mark_row(uint16_t *users, user_mark mark) {
    uint16_t known = __atomic_load_n(users, __ATOMIC_RELAXED), wanted = with_user(known, mark.user);
    if (!mark.together) {
        *users = wanted;
        return;
    }
    while (wanted != known && !__atomic_compare_exchange_n(users, &known, wanted, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        wanted = with_user(known, mark.user);
}

/* The first input row of a word, which no other word has. */
WV_INLINE int32_t own_row(const wv_word2vec_run *run, int32_t word) {
    return run->subword ? run->subword[run->subword_start[word]] : word;
}

/* Whether the worker has had a word in this round. */
WV_INLINE int is_known(const wv_word2vec_run *run, const wv_round_merge *rounds, int32_t word, user_mark mark) {
    uint16_t known = __atomic_load_n(rounds->input_users + own_row(run, word), __ATOMIC_RELAXED);
    return with_user(known, mark.user) == known;
}

static void mark_word(const wv_word2vec_run *run, const wv_round_merge *rounds, int32_t word, user_mark mark) {
    mark_row(rounds->input_users + own_row(run, word), mark);
    if (run->subword)
        for (int64_t k = run->subword_start[word] + 1; k < run->subword_start[word + 1]; k++)
            mark_row(rounds->input_users + run->subword[k], mark);
    if (run->sampler) mark_row(rounds->output_users + run->first_word + word, mark);
    if (run->path)
        for (int64_t k = run->path_start[word]; k < run->path_start[word + 1]; k++)
            mark_row(rounds->output_users + (run->path[k] >> 1), mark);
}

/* The words that a pool may choose. */
static void mark_pool(const wv_word2vec_run *run, const wv_round_merge *rounds, random_pool pool, user_mark mark) {
    for (uint32_t k = 0; k < pool.size; k++)
        mark_row(rounds->output_users + run->first_word + drawn_word(run, wv_rng_mix(pool.seed + k)), mark);
}

#endif
