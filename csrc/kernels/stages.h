/* Texts on their way through a block, three at a time: while one is trained, what the next two will read is fetched. */
#ifndef WV_STAGES_H
#define WV_STAGES_H

enum { STAGES = 3 };

/* Which of STAGES texts stands where; each is one stage further at every step. */
typedef struct {
    int read;    /* its words and buckets are known; their rows' numbers are on their way */
    int fetched; /* its rows are known; the text that is trained meanwhile asks for them */
    int trained;
} stages;

static inline stages first_stages(void) { return (stages){0, 1, 2}; }

static inline void advance(stages *at) { *at = (stages){at->trained, at->read, at->fetched}; }

#endif
