/* The table of kernels of the instruction set this file is compiled for. A set that adds nothing but popcounts to another
 * one, WV_EXTENDS, has hamming.c of its own; all other kernels are the other one's. */
#include "base/lanes.h"
#include "kernels/wv_kernels.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#ifndef WV_EXTENDS
#define WV_EXTENDS WV_ISA
#endif

#define KERNEL(type, name, arguments) type WV_JOIN(wv_##name, WV_EXTENDS) arguments;
#include "kernels/wv_kernels.def"
#undef KERNEL

const wv_kernels WV_NAME(wv_kernels) = {
    .name = TEXT(WV_ISA),
    .flags = WV_ISA_FLAGS,
    .lanes = WV_LANES,
#define KERNEL(type, name, arguments) .name = WV_JOIN(wv_##name, WV_EXTENDS),
#include "kernels/wv_kernels.def"
#undef KERNEL
#define KERNEL(type, name, arguments) .name = WV_NAME(wv_##name),
#include "kernels/wv_hamming.def"
#undef KERNEL
};
