"""Where a file can be divided: between lines or, inside a long one, between words. Some can only be read whole."""

from wv_cli.errors import WvError, cannot_read
from wv_cli.io.compression import is_compressed
from wv_cli.text.documents import document_of
from wv_cli.text.raw_files import blocks, is_file, name_of_input, open_raw, size_of_file
from wv_cli.text.web_pages import is_page

_LONG_LINE = 1 << 20
_BLOCK, _HEAD = 1 << 16, 64


def find_cut(path: str, place: int, size: int, whole_lines: bool) -> int:
    """The first byte at or after `place` that begins a line, or, unless `whole_lines`, a word of a long one."""
    if place <= 0 or place >= size:
        return min(max(place, 0), size)
    with open_raw(path) as raw:
        raw.seek(place - 1)
        space = 0  # the byte after the first one
        at = place - 1
        for block in blocks(raw, path, _BLOCK):
            end = block.find(b"\n")
            if end >= 0 and (whole_lines or not space or at + end - place < _LONG_LINE):
                return at + end + 1
            if not space and (found := block.find(b" ")) >= 0:
                space = at + found + 1
            at += len(block)
            if space and not whole_lines and at - place >= _LONG_LINE:
                return space
    return size


def size_of(path: str) -> int:
    """Its bytes. Raises WvError for what is no file that can be read from any place."""
    try:
        size = size_of_file(path) if path != "-" else None
    except OSError as error:
        raise cannot_read(path, error) from error
    if size is None or not is_file(path):
        message = (
            f"{name_of_input(path)}: several processes cannot share a stream; give files, which all of them can read"
        )
        raise WvError(message)
    return size


def is_packed(path: str) -> bool:
    """Whether a file is compressed, a web page or another document: it is read as a whole."""
    with open_raw(path) as raw:
        head = next(blocks(raw, path, _HEAD), b"")
    return document_of(path, head) is not None or is_compressed(head, path) or is_page(path, head)
