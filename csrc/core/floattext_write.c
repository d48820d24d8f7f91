/* Printing rows of word vectors (floattext.h says in which forms).
 *
 * Fixed decimals: a float32 has 24 significant bits and 10^decimals = 5^decimals * 2^decimals needs at most 21 more, so
 * value * 10^decimals is exact in double and rounding it to an integer is printf's own rounding (ties to even).
 *
 * Shortest: Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2021) for float32: among the decimals that
 * read back to the value the one with the fewest digits, and of those the nearest.
 *
 * Significant digits: the value times a power of ten in 128 bits, from the same table; the table's error is far below the
 * distance of a float32 from the middle between two decimals of so few digits, but for exact middles, which go to even. */
#include "core/floattext.h"

#include <math.h>
#include <string.h>

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960"
    "616263646566676869707172737475767778798081828384858687888990919293949596979899";

static const uint32_t pow10_integer[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
static const double pow10_double[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

static inline char *put_pair(char *out, uint32_t pair) {
    memcpy(out, digit_pairs + 2 * pair, 2);
    return out + 2;
}

/* `value` with leading zeros, exactly `digits` of them. */
static inline char *put_padded(char *out, uint32_t value, int digits) {
    int at = digits;
    for (; at >= 2; at -= 2) {
        put_pair(out + at - 2, value % 100);
        value /= 100;
    }
    if (at) *out = (char)('0' + value);
    return out + digits;
}

static char *put_integer(char *out, unsigned __int128 value) {
    char reversed[40];
    int n = 0;
    do {
        reversed[n++] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    while (n) *out++ = reversed[--n];
    return out;
}

static inline float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline char *put_fixed(char *out, float value, int decimals) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    *out = '-';
    out += bits >> 31;
    double magnitude = (double)from_bits(bits & 0x7FFFFFFFu);
    if (magnitude < 4e9) {
        uint64_t scaled = (uint64_t)llrint(magnitude * pow10_double[decimals]);
        uint32_t whole = (uint32_t)(decimals == 6 ? scaled / 1000000 : scaled / pow10_integer[decimals]);
        uint32_t fraction = (uint32_t)(scaled - (uint64_t)whole * pow10_integer[decimals]);
        if (whole < 10) {
            *out++ = (char)('0' + whole);
        } else {
            out = put_integer(out, whole);
        }
        *out++ = '.';
        if (decimals == 6) {
            out = put_pair(out, fraction / 10000);
            out = put_pair(out, fraction / 100 % 100);
            return put_pair(out, fraction % 100);
        }
        return put_padded(out, fraction, decimals);
    }
    /* Above 2^24 a float32 is an integer, below 2^128 always. */
    out = put_integer(out, (unsigned __int128)magnitude);
    *out++ = '.';
    return put_padded(out, 0, decimals);
}

/* ceil(10^k * 2^(63 - floor(log2(10^k)))), k = -38 .. 51; tests/vectors/formats/test_floattext.py recomputes it. */
#define SMALLEST_POWER (-38)
static const uint64_t powers_of_ten[] = {
    0xD9C7DCED53C72256u, 0x881CEA14545C7576u, 0xAA242499697392D3u, 0xD4AD2DBFC3D07788u, 0x84EC3C97DA624AB5u,
    0xA6274BBDD0FADD62u, 0xCFB11EAD453994BBu, 0x81CEB32C4B43FCF5u, 0xA2425FF75E14FC32u, 0xCAD2F7F5359A3B3Fu,
    0xFD87B5F28300CA0Eu, 0x9E74D1B791E07E49u, 0xC612062576589DDBu, 0xF79687AED3EEC552u, 0x9ABE14CD44753B53u,
    0xC16D9A0095928A28u, 0xF1C90080BAF72CB2u, 0x971DA05074DA7BEFu, 0xBCE5086492111AEBu, 0xEC1E4A7DB69561A6u,
    0x9392EE8E921D5D08u, 0xB877AA3236A4B44Au, 0xE69594BEC44DE15Cu, 0x901D7CF73AB0ACDAu, 0xB424DC35095CD810u,
    0xE12E13424BB40E14u, 0x8CBCCC096F5088CCu, 0xAFEBFF0BCB24AAFFu, 0xDBE6FECEBDEDD5BFu, 0x89705F4136B4A598u,
    0xABCC77118461CEFDu, 0xD6BF94D5E57A42BDu, 0x8637BD05AF6C69B6u, 0xA7C5AC471B478424u, 0xD1B71758E219652Cu,
    0x83126E978D4FDF3Cu, 0xA3D70A3D70A3D70Bu, 0xCCCCCCCCCCCCCCCDu, 0x8000000000000000u, 0xA000000000000000u,
    0xC800000000000000u, 0xFA00000000000000u, 0x9C40000000000000u, 0xC350000000000000u, 0xF424000000000000u,
    0x9896800000000000u, 0xBEBC200000000000u, 0xEE6B280000000000u, 0x9502F90000000000u, 0xBA43B74000000000u,
    0xE8D4A51000000000u, 0x9184E72A00000000u, 0xB5E620F480000000u, 0xE35FA931A0000000u, 0x8E1BC9BF04000000u,
    0xB1A2BC2EC5000000u, 0xDE0B6B3A76400000u, 0x8AC7230489E80000u, 0xAD78EBC5AC620000u, 0xD8D726B7177A8000u,
    0x878678326EAC9000u, 0xA968163F0A57B400u, 0xD3C21BCECCEDA100u, 0x84595161401484A0u, 0xA56FA5B99019A5C8u,
    0xCECB8F27F4200F3Au, 0x813F3978F8940985u, 0xA18F07D736B90BE6u, 0xC9F2C9CD04674EDFu, 0xFC6F7C4045812297u,
    0x9DC5ADA82B70B59Eu, 0xC5371912364CE306u, 0xF684DF56C3E01BC7u, 0x9A130B963A6C115Du, 0xC097CE7BC90715B4u,
    0xF0BDC21ABB48DB21u, 0x96769950B50D88F5u, 0xBC143FA4E250EB32u, 0xEB194F8E1AE525FEu, 0x92EFD1B8D0CF37BFu,
    0xB7ABC627050305AEu, 0xE596B7B0C643C71Au, 0x8F7E32CE7BEA5C70u, 0xB35DBF821AE4F38Cu, 0xE0352F62A19E306Fu,
    0x8C213D9DA502DE46u, 0xAF298D050E4395D7u, 0xDAF3F04651D47B4Du, 0x88D8762BF324CD10u, 0xAB0E93B6EFEE0054u,
};

static inline int floor_log2_pow10(int k) { return (k * 1741647) >> 19; }
static inline int floor_log10_pow2(int q) { return (q * 1262611) >> 22; }
static inline int floor_log10_three_quarters_pow2(int q) { return (q * 1262611 - 524031) >> 22; }

/* g * c / 2^64, its last bit set when the dropped part is not negligible (the paper's round to odd). */
static inline uint32_t multiply_round_to_odd(uint64_t g, uint32_t c) {
    unsigned __int128 product = (unsigned __int128)g * c;
    return (uint32_t)(product >> 64) | ((uint32_t)(product >> 32) > 1);
}

/* Shortest digits * 10^*exponent that rounds to the positive finite value with these bits. */
static uint32_t shortest_digits(uint32_t bits, int *exponent) {
    const uint32_t fraction = bits & 0x7FFFFFu, biased = bits >> 23;
    const uint32_t c = biased ? fraction | 0x800000u : fraction;
    const int q = (biased ? (int)biased : 1) - 150;
    const int is_even = c % 2 == 0, lower_is_closer = fraction == 0 && biased > 1;
    const uint32_t left = 4 * c - 2 + (uint32_t)lower_is_closer, middle = 4 * c, right = 4 * c + 2;
    const int k = lower_is_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    const int shift = q + floor_log2_pow10(-k) + 1;
    const uint64_t g = powers_of_ten[-k - SMALLEST_POWER];
    const uint32_t lower = multiply_round_to_odd(g, left << shift) + !is_even;
    const uint32_t v = multiply_round_to_odd(g, middle << shift);
    const uint32_t upper = multiply_round_to_odd(g, right << shift) - !is_even;
    const uint32_t s = v / 4;
    if (s >= 10) { /* is there a decimal with one digit less? */
        const uint32_t tens = s / 10;
        const int below_fits = lower <= 40 * tens, above_fits = 40 * tens + 40 <= upper;
        if (below_fits != above_fits) {
            *exponent = k + 1;
            return tens + (uint32_t)above_fits;
        }
    }
    *exponent = k;
    const int below_fits = lower <= 4 * s, above_fits = 4 * s + 4 <= upper;
    if (below_fits != above_fits) return s + (uint32_t)above_fits;
    return s + (uint32_t)(v > 4 * s + 2 || (v == 4 * s + 2 && s % 2));
}

static inline int digit_count(uint32_t value) {
    int count = 1;
    while (count < 10 && value >= pow10_integer[count]) count++;
    return count;
}

/* digits * 10^exponent, digits above 0, without zeros at its end: plain where 0.DIGITS * 10^point has from <= point <= to,
 * from -5 and up to 9 at most, else with an exponent. */
static char *put_decimal(char *out, uint32_t digits, int exponent, int from, int to) {
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    const int count = digit_count(digits);
    const int point = count + exponent; /* 0.DIGITS * 10^point */
    if (point >= from && point <= 0) {
        memcpy(out, "0.00000", 7);
        return put_padded(out + 2 - point, digits, count);
    }
    if (point > 0 && point <= to) {
        if (exponent >= 0) {
            out = put_padded(out, digits, count);
            memset(out, '0', (size_t)exponent);
            return out + exponent;
        }
        const uint32_t whole = digits / pow10_integer[-exponent];
        out = put_padded(out, whole, point);
        *out++ = '.';
        return put_padded(out, digits - whole * pow10_integer[-exponent], -exponent);
    }
    const uint32_t unit = pow10_integer[count - 1];
    *out++ = (char)('0' + digits / unit);
    if (count > 1) {
        *out++ = '.';
        out = put_padded(out, digits % unit, count - 1);
    }
    *out++ = 'e';
    const int power = point - 1;
    *out++ = power < 0 ? '-' : '+';
    return put_padded(out, (uint32_t)(power < 0 ? -power : power), 2);
}

static char *put_shortest(char *out, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    *out = '-';
    out += bits >> 31;
    bits &= 0x7FFFFFFFu;
    if (bits >= 0x7F800000u) {
        memcpy(out, bits > 0x7F800000u ? "nan" : "inf", 3);
        return out + 3;
    }
    if (bits == 0) {
        *out = '0';
        return out + 1;
    }
    int exponent;
    const uint32_t digits = shortest_digits(bits, &exponent);
    return put_decimal(out, digits, exponent, -5, 9);
}

/* The `wanted` significant digits of the positive finite value with these bits: digits * 10^*exponent. */
static uint32_t rounded_digits(uint32_t bits, int wanted, int *exponent) {
    const uint32_t biased = bits >> 23, c = biased ? (bits & 0x7FFFFFu) | 0x800000u : bits;
    const int q = (biased ? (int)biased : 1) - 150;
    int power = floor_log10_pow2(q + 31 - __builtin_clz(c)); /* of the first digit, perhaps one too low */
    for (;; power++) {
        const int k = wanted - 1 - power, shift = 63 - floor_log2_pow10(k) - q;
        const unsigned __int128 product = (unsigned __int128)powers_of_ten[k - SMALLEST_POWER] * c;
        const unsigned __int128 half = (unsigned __int128)1 << (shift - 1), rest = product & (2 * half - 1);
        uint32_t digits = (uint32_t)(product >> shift);
        if (digits >= pow10_integer[wanted]) continue;
        /* The table is at most 1 too large, so the product is at most c: this close to the middle is the middle. */
        digits += rest > half + c || (rest + c >= half && digits % 2);
        *exponent = -k;
        return digits;
    }
}

/* As printf's "%.*g". */
static char *put_significant(char *out, float value, int wanted) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if ((bits & 0x7FFFFFFFu) == 0 || (bits & 0x7F800000u) == 0x7F800000u) return put_shortest(out, value);
    *out = '-';
    out += bits >> 31;
    int exponent;
    const uint32_t digits = rounded_digits(bits & 0x7FFFFFFFu, wanted, &exponent);
    return put_decimal(out, digits, exponent, -3, wanted);
}

static inline char *put_float(char *out, float value, int decimals) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    if (decimals < 0) return put_significant(out, value, -decimals);
    if (decimals && (bits & 0x7F800000u) != 0x7F800000u) return put_fixed(out, value, decimals);
    return put_shortest(out, value);
}

size_t wv_format_float(float value, int decimals, char *out) { return (size_t)(put_float(out, value, decimals) - out); }

static inline char *put_word(char *out, const wv_word_rows *rows, int64_t i) {
    const int64_t *starts = rows->starts;
    const size_t length = (size_t)(starts[i + 1] - starts[i]);
    memcpy(out, rows->blob + starts[i], length);
    out[length] = ' ';
    return out + length + 1;
}

size_t wv_format_rows(const wv_word_rows *rows, int decimals, int trailing_space, char *out) {
    char *p = out;
    for (int64_t row = 0; row < rows->rows; row++) {
        const float *values = rows->matrix + row * rows->stride;
        const int32_t dim = rows->dim;
        p = put_word(p, rows, row);
        for (int32_t i = 0; i < dim; i++) {
            p = put_float(p, values[i], decimals);
            *p++ = ' ';
        }
        if (!trailing_space) p--;
        *p++ = '\n';
    }
    return (size_t)(p - out);
}

size_t wv_pack_rows(const wv_word_rows *rows, char *out) {
    char *p = out;
    const size_t bytes = 4 * (size_t)rows->dim;
    for (int64_t row = 0; row < rows->rows; row++) {
        p = put_word(p, rows, row);
        memcpy(p, rows->matrix + row * rows->stride, bytes);
        p += bytes;
        *p++ = '\n';
    }
    return (size_t)(p - out);
}
