"""The files of vectors that a job reads and writes."""

import contextlib
from collections.abc import Container, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part
from wv_cli.config import argument, frozen, option
from wv_cli.errors import WvError
from wv_cli.io.places import identity, is_stream
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Precision, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats.base import Format


@frozen
class VectorInput(Part):
    """An input file of vectors. The first `limit` rows of the file `vectors`; None: all of them. Its content tells the
    format where `from_format` does not. `bad_rows` as for formats.load."""

    ASKS_WORDS: ClassVar[bool] = False  # so that vectors which only compose words are enough
    group: ClassVar[str] = "Input"

    vectors: str = argument("VECTORS", role="read")
    from_format: str | None = option(None, "Format of VECTORS; by default their content tells.", metavar="FORMAT")
    bad_rows: BadRowsName = bad_rows_option()
    limit: int | None = option(None, "Read only the first N words of VECTORS.", low=1)

    def load(self, *, mapped: bool = False) -> "Embeddings":
        """Reads the vectors; see formats.load."""
        from wv_cli.vectors import formats

        found = formats.load(
            self.vectors, format=self.from_format, limit=self.limit, mapped=mapped, bad_rows=self.bad_rows
        )
        return found if self.ASKS_WORDS else found.require_listed(self.vectors)


STATIC = "static"  # the format of a static embedding, which is a folder


def names_folder(path: str) -> bool:
    """Whether an output without --to is a folder: its name ends with a slash, or has no ending."""
    return path.endswith("/") or (path != "-" and not Path(path).suffix)


def folder_name(path: str) -> str:
    """The name of a folder without a slash at its end."""
    return path.rstrip("/") or path


def static_file(folder: str) -> str:
    """The file by which the folder of a static embedding is known, the folder where there is none yet."""
    from wv_cli.vectors.formats.beside import MODEL

    return str(Path(folder) / MODEL) if Path(folder).is_dir() else folder_name(folder)


def files_beside(folder: str) -> list[str]:
    """The other files of the folder of a static embedding that a run replaces; none where there is no folder yet."""
    from wv_cli.vectors.formats.beside import SETTINGS

    return [str(Path(folder) / name) for name in SETTINGS] if Path(folder).is_dir() else []


@frozen
class VectorOutput(Part):
    """An output file of vectors. The file `output` gets vectors, in the format of its ending where `to_format` names
    none; see formats.save."""

    group: ClassVar[str] = "Output"

    output: str | None = option(None, "Output file, whose ending chooses the format.", short="o", role="result")
    to_format: str | None = option(
        None, "Format of the vectors written; by default FILE's ending chooses.", metavar="FORMAT", only="output"
    )
    precision: Precision = option(
        WORD2VEC_PRECISION,
        "Decimals of numbers in text; exact writes the shortest text that keeps every bit.",
        low=1, high=9, metavar="1-9|exact", only="output",
    )  # fmt: skip
    escape: bool = option(False, "Write words the output cannot hold as new%20york.", off=None, only="output")

    def replaceable(self, inputs: Iterable[str]) -> list[str]:
        """Those of the inputs whose place the output may take. Not a fastText model or another file that wv does not
        write from vectors: all but its vectors would be lost."""
        place = None if self.output is None else identity(self.output)
        return [path for path in inputs if identity(path) != place or _is_of_vectors(path)]

    def chosen_format(self, explicit: Container[str]) -> "Format":
        """Raises UsageError where there is none, or where `explicit` options do not go with it."""
        from wv_cli.vectors.formats import format_for_output

        assert self.output is not None
        row = format_for_output(self.output, self.to_format)
        if "precision" in explicit:
            row.require_precision(self.precision)
        return row

    def save(self, vectors: "Embeddings") -> None:
        """Writes the vectors; see formats.save."""
        from wv_cli.vectors import formats

        assert self.output is not None
        formats.save(self.output, vectors, format=self.to_format, precision=self.precision, escape=self.escape)


def _is_of_vectors(path: str) -> bool:
    """Whether a file that is read holds vectors alone. What is none of the formats is refused when it is read."""
    from wv_cli.vectors import formats

    if not is_stream(path):
        with contextlib.suppress(WvError):
            return formats.sniff(path).write is not None
    return True
