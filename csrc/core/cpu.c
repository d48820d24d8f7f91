/* The list of instruction sets in this build and the probe for each.
 *
 * __builtin_cpu_supports asks the CPU and, through XGETBV, whether the operating system saves the wide registers. */
#include "core/cpu.h"

#include <stddef.h>

#define TABLE(isa) extern const wv_kernels wv_kernels_##isa;
TABLE(baseline)
#ifdef WV_HAVE_avx2
TABLE(avx2)
#endif
#ifdef WV_HAVE_avx512
TABLE(avx512)
#endif
#ifdef WV_HAVE_avx512icl
TABLE(avx512icl)
#endif

static int always(void) { return 1; }
#ifdef WV_HAVE_avx2
static int has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}
#endif
#ifdef WV_HAVE_avx512
static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#ifdef WV_HAVE_avx512icl
static int has_avx512icl(void) { return has_avx512() && __builtin_cpu_supports("avx512vpopcntdq"); }
#endif

static const struct {
    const wv_kernels *table;
    int (*usable)(void);
} instruction_sets[] = {
    {&wv_kernels_baseline, always},
#ifdef WV_HAVE_avx2
    {&wv_kernels_avx2, has_avx2},
#endif
#ifdef WV_HAVE_avx512
    {&wv_kernels_avx512, has_avx512},
#endif
#ifdef WV_HAVE_avx512icl
    {&wv_kernels_avx512icl, has_avx512icl},
#endif
};

int wv_isa_count(void) { return (int)(sizeof instruction_sets / sizeof instruction_sets[0]); }

const wv_kernels *wv_isa_table(int index) {
    return index >= 0 && index < wv_isa_count() ? instruction_sets[index].table : NULL;
}

int wv_isa_usable(int index) {
    return index >= 0 && index < wv_isa_count() && instruction_sets[index].usable();
}
