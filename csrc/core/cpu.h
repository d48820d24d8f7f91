/* Which instruction set the kernels run on: probed once at import, overridden by WV_ISA, never silently replaced. */
#ifndef WV_CPU_H
#define WV_CPU_H

/* Number of instruction sets in this build, best last; kernels/tables.h has their tables. */
int wv_isa_count(void);
/* 1 when this machine (CPU and operating system) can run instruction set `index`. */
int wv_isa_usable(int index);

/* The compiler and its version; the flags of all C of this build. Static storage. */
const char *wv_compiler(void);
const char *wv_flags(void);

#endif
