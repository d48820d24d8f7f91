"""Records as the lines of `wv vectors --sentences`, and their vectors added to them (--add)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.commands.shared.options import conflict, given_options
from wv_cli.errors import UsageError
from wv_cli.text.config import ReadingConfig, RecordsConfig
from wv_cli.text.records.kinds import record_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.jobs.adding import Vectors
    from wv_cli.text.inputs import Texts
    from wv_cli.transforms.composition import Composer


def record_texts(
    words: Sequence[str], reading: RecordsConfig, sentences: bool, add: str | None, output: str | None, quiet: bool
) -> "Texts | None":
    """What `words` name when they are files of records, None for lines: their endings, --field or --add tell. Raises
    UsageError for options of records where there are none."""
    named = sentences and any(record_kind(word) and Path(word).is_file() for word in words)
    if not named and (add is None or not sentences) and (reading.field is None or not sentences):
        if given := [name for name in RecordsConfig.options() if name in given_options()]:
            flag = RecordsConfig.options()[given[0]].flag
            raise UsageError(f"{flag} is about records; give files of them with --sentences, such as pages.jsonl")
        return None
    from wv_cli.commands.shared.display import emit
    from wv_cli.formats.recognise import input_texts

    return input_texts(
        words or ("-",),
        log=partial(emit, quiet=quiet, as_json=False),
        reading=ReadingConfig(**vars(reading)),
        one_line=True,
        written=[output] if output is not None else [],
    )


def lines_of(texts: "Texts") -> Iterator[list[str]]:
    """The texts of records, many at a time."""
    from wv_cli.models.classifier import blocks_of_lines
    from wv_cli.text.source import Source
    from wv_cli.words import decode

    for block in blocks_of_lines(Source(texts)):
        yield decode(block).removesuffix("\n").split("\n")


def add_vectors(texts: "Texts", name: str, output: str | None, opened: "Callable[[], Vectors]") -> None:
    """Writes the records again, with the vector of each text as the field `name`."""
    from wv_cli.jobs.adding import vector_answer
    from wv_cli.text.input_files import refuse_overwriting
    from wv_cli.text.records.writing import add_answers

    refuse_overwriting(texts.inputs, output or "-")
    add_answers(texts, output or "-", (name,), lambda: vector_answer(name, opened()))


def finite_lines(source: "Composer", file: str) -> "Vectors":
    """The vectors of lines by a model or vectors from `file`."""
    from wv_cli.formats.lines import require_finite

    def vectors(lines: Sequence[str]) -> "NDArray[np.float32]":
        found = source.lines(lines)
        require_finite(found, lines, file)
        return found

    return vectors


def refuse_with_add(options: dict[str, Any]) -> None:
    """Raises UsageError for what --add cannot be given with, beside what makes vectors of lines."""
    if options["as_json"]:
        error = conflict("--add", "--json", "--add writes the records; leave --json out")
        raise error
    if options["dask"] is not None:
        raise conflict("--add", "--dask", "this process writes the records in their order")
    if "precision" in given_options():
        raise conflict("--add", "--precision", "added numbers keep every bit")
    if options["pooling"] is not None and options["encoder"] is None:
        raise conflict("--add", "--pooling", "it weighs words by all lines; --add takes the rule of FILE")
