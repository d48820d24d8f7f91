/* The contract of the kernels: plain C structs and one table of function pointers per instruction set. What each
 * kernel does stands in wv_kernels.def (and wv_hamming.def), from which everything that names them is made.
 *
 * Every C file in kernels/ is compiled once per instruction set; each set exports one `wv_kernels` table (table.c)
 * and tables.h lists them. Kernels only compute: no allocation, no I/O, no globals. The caller owns every buffer
 * and every thread.
 *
 * Notation: (n, dim) is a row-major matrix; rows lie `stride` floats apart, stride is a multiple of WV_ROW_FLOATS, the
 * first row is aligned to 64 bytes and the padding is zero (kernels keep it zero).
 */
#ifndef WV_KERNELS_H
#define WV_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/wv_shared.h"
#include "kernels/wv_affine.h"
#include "kernels/wv_bioword.h"
#include "kernels/wv_doc2vec.h"
#include "kernels/wv_glove.h"
#include "kernels/wv_hashing.h"
#include "kernels/wv_neural.h"
#include "kernels/wv_pairs.h"
#include "kernels/wv_pooled.h"
#include "kernels/wv_product.h"
#include "kernels/wv_search.h"
#include "kernels/wv_supervised.h"
#include "kernels/wv_word2vec.h"

typedef struct {
    const char *name;  /* baseline, avx2, avx512, avx512icl, sve256: the values of WV_ISA */
    const char *flags; /* what the compiler was told beside the flags of all C */
    int lanes;         /* floats per vector register */
#define KERNEL(type, name, arguments) type (*name)arguments;
#include "kernels/wv_kernels.def"
#include "kernels/wv_hamming.def"
#undef KERNEL
} wv_kernels;

#ifdef WV_ISA /* the kernels themselves, not those who call them */

/* WV_NAME(f) is f's symbol for the instruction set being compiled: f_baseline, f_avx2, ... */
#define WV_JOIN_(name, isa) name##_##isa
#define WV_JOIN(name, isa) WV_JOIN_(name, isa)
#define WV_NAME(name) WV_JOIN(name, WV_ISA)

#define KERNEL(type, name, arguments) type WV_NAME(wv_##name) arguments;
#include "kernels/wv_kernels.def"
#include "kernels/wv_hamming.def"
#undef KERNEL
extern const wv_kernels WV_NAME(wv_kernels);

#endif

#endif
