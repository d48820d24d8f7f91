/* Included by what reads integers out of bytes: files hold numbers lowest byte first, and text is compared and parsed
 * eight bytes at a time. */
#ifndef WV_LITTLE_ENDIAN_H
#define WV_LITTLE_ENDIAN_H

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "wv needs a little-endian machine (x86-64, AArch64): it reads words and numbers as integers in memory order"
#endif

#endif
