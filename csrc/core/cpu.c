/* The instruction sets in this build, with a probe has_NAME for each. CMakeLists.txt, where they are made, defines
 * WV_ISA_ROWS as ROW(NAME) for each, best last, and WV_FLAGS as the text of the build's flags.
 *
 * __builtin_cpu_supports asks the CPU and, through XGETBV, whether the operating system saves the wide registers. On ARM
 * Linux's auxiliary vector says what there is, and prctl how wide SVE's registers are for this process. */
#include "core/cpu.h"

#if defined WV_HAS_SVE256
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

/* A build may hold fewer sets than there are probes. */
#define PROBE __attribute__((unused)) static int

PROBE has_baseline(void) { return 1; }
#if defined __x86_64__ || defined __i386__
PROBE has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}
PROBE has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
PROBE has_avx512icl(void) { return has_avx512() && __builtin_cpu_supports("avx512vpopcntdq"); }
#elif defined WV_HAS_SVE256
PROBE has_sve256(void) {
    return (getauxval(AT_HWCAP) & HWCAP_SVE) && (prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK) == 256 / 8;
}
#endif

#define ROW(isa) has_##isa,
static int (*const probes[])(void) = {WV_ISA_ROWS};
#undef ROW

int wv_isa_count(void) { return (int)(sizeof probes / sizeof probes[0]); }

int wv_isa_usable(int index) { return index >= 0 && index < wv_isa_count() && probes[index](); }

const char *wv_compiler(void) {
#if defined __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

const char *wv_flags(void) { return WV_FLAGS; }
