"""Mapped files: a word from the process when another one cuts such a file short. core/mapguard.h has the how."""

from wv_cli.core.mapguard cimport wv_mapguard_add, wv_mapguard_remove


def guard(const unsigned char[::1] mapped not None: mmap, bytes message not None) -> int:
    """Guards a mapping: the address to give to release(), 0 when there is no room for one more. `message` is written
    to stderr as it is when a page is gone, and the process ends with exit code 1."""
    if wv_mapguard_add(&mapped[0], mapped.shape[0], <const char *>message, len(message)):
        return 0
    return <size_t>&mapped[0]


def release(size_t address) -> None:
    """Ends a guard; to be called when the mapping goes."""
    wv_mapguard_remove(<const void *>address)
