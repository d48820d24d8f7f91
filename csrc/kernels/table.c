/* The table of kernels of the instruction set this file is compiled for. */
#include "kernels/lanes.h"
#include "kernels/wv_kernels.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const wv_kernels WV_NAME(wv_kernels) = {
    .name = TEXT(WV_ISA),
    .lanes = WV_LANES,
#define KERNEL(type, name, arguments) .name = WV_NAME(wv_##name),
#include "kernels/wv_kernels.def"
#undef KERNEL
};
