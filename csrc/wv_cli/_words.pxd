"""What the modules over word lists share. A list is `blob`, the words end to end, and `starts`, (n + 1) int64."""


cdef inline const unsigned char *letters(const unsigned char[::1] blob) noexcept nogil:
    """The first byte of a list; one without bytes has none to point at."""
    return &blob[0] if blob.shape[0] else NULL
