/* The tables of kernels in this build, in the order of core/cpu.h: one for each instruction set. CMakeLists.txt, where the
 * sets are made, defines WV_ISA_ROWS as ROW(NAME) for each. */
#ifndef WV_TABLES_H
#define WV_TABLES_H

#include "kernels/wv_kernels.h"

#define ROW(isa) extern const wv_kernels wv_kernels_##isa;
WV_ISA_ROWS
#undef ROW

#define ROW(isa) &wv_kernels_##isa,
static const wv_kernels *const wv_isa_tables[] = {WV_ISA_ROWS};
#undef ROW

#endif
