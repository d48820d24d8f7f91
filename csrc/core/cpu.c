/* The instruction sets in this build and the probe for each, has_NAME. CMakeLists.txt, where they are made, says which:
 * WV_ISA_ROWS is ROW(NAME) for each, best last. And how this build was made: WV_FLAGS is the text of its flags.
 *
 * __builtin_cpu_supports asks the CPU and, through XGETBV, whether the operating system saves the wide registers. On ARM
 * Linux's auxiliary vector says what there is, and prctl how wide SVE's registers are for this process. */
#include "core/cpu.h"

#include <stddef.h>
#if defined WV_HAS_SVE256
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#define ROW(isa) extern const wv_kernels wv_kernels_##isa;
WV_ISA_ROWS
#undef ROW

static int has_baseline(void) { return 1; }
#if defined __x86_64__ || defined __i386__
static int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}
static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
static int has_avx512icl(void) { return has_avx512() && __builtin_cpu_supports("avx512vpopcntdq"); }
#elif defined WV_HAS_SVE256
static int has_sve256(void) {
    return (getauxval(AT_HWCAP) & HWCAP_SVE) && (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) == 256 / 8;
}
#endif

static const struct {
    const wv_kernels *table;
    int (*usable)(void);
} instruction_sets[] = {
#define ROW(isa) {&wv_kernels_##isa, has_##isa},
    WV_ISA_ROWS
#undef ROW
};

int wv_isa_count(void) { return (int)(sizeof instruction_sets / sizeof instruction_sets[0]); }

const wv_kernels *wv_isa_table(int index) {
    return index >= 0 && index < wv_isa_count() ? instruction_sets[index].table : NULL;
}

int wv_isa_usable(int index) {
    return index >= 0 && index < wv_isa_count() && instruction_sets[index].usable();
}

const char *wv_compiler(void) {
#if defined __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

const char *wv_flags(void) { return WV_FLAGS; }
