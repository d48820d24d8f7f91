/* Which instruction set the kernels run on: probed once at import, overridden by WV_ISA, never silently replaced. */
#ifndef WV_CPU_H
#define WV_CPU_H

#include "kernels/wv_kernels.h"

/* Number of instruction sets this build holds, best last. */
int wv_isa_count(void);
/* The table of instruction set `index`; NULL when out of range. Static storage. */
const wv_kernels *wv_isa_table(int index);
/* 1 when this machine (CPU and operating system) can run it. */
int wv_isa_usable(int index);

/* The compiler and its version; the flags of all C of this build. Static storage. */
const char *wv_compiler(void);
const char *wv_flags(void);

#endif
