"""How the commands that search or score vectors read them, and the options for it."""

import warnings
from typing import TYPE_CHECKING

from wv_cli.errors import FormatWarning
from wv_cli.io.places import require_one_use

if TYPE_CHECKING:
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.file_options import BadRowsName


def load_vectors(
    path: str, from_format: str | None, quiet: bool, *, piped: bool, bad_rows: "BadRowsName"
) -> "Embeddings":
    """formats.load; its warnings go to stderr (wv_cli.__main__), with `quiet` nowhere. Raises UsageError when standard
    input holds the vectors and, `piped`, something else too."""
    from wv_cli.vectors.formats import load

    require_one_use(path, piped)
    ignore_format_warnings(quiet)
    return load(path, format=from_format, bad_rows=bad_rows)


def open_composer(
    path: str, from_format: str | None, quiet: bool, *, piped: bool, bad_rows: "BadRowsName"
) -> "Composer":
    """The same for vectors of single words and lines: a model or file is mapped where that can be done."""
    from wv_cli.transforms.composition import composer
    from wv_cli.vectors.formats import open_vectors

    require_one_use(path, piped)
    ignore_format_warnings(quiet)
    return composer(open_vectors(path, format=from_format, mapped=True, bad_rows=bad_rows), path)


def ignore_format_warnings(quiet: bool = True) -> None:
    """Warnings about files that were read whole go nowhere with `quiet`."""
    if quiet:
        warnings.simplefilter("ignore", FormatWarning)
