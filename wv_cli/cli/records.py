"""Records as the lines of `wv vectors --sentences`, and their vectors added to them (--add)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wv_cli.cli.display import emit
from wv_cli.cli.options import conflict, given_options
from wv_cli.cli.queries import piped_lines
from wv_cli.config import Options
from wv_cli.errors import UsageError
from wv_cli.text.reading_config import LinesConfig, ReadingConfig, RecordsConfig, read_recipe
from wv_cli.text.records.kinds import RECORDS, record_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.commands.adding import Vectors
    from wv_cli.text.inputs import Texts
    from wv_cli.transforms.composition import Composer

Protocol = TypeVar("Protocol", bound=Options)  # of an evaluation


def asked_lines(
    words: Sequence[str], file: str | None, reading: LinesConfig, *,
    sentences: bool, add: str | None, output: str | None, quiet: bool, piped: bool,
) -> "tuple[Texts | None, Iterator[list[str]]]":  # fmt: skip
    """What `words` name when they are files of records, and the lines that the model in `file`, if there is one, is
    asked about, many at a time. Raises UsageError for options of records where there are none."""
    from wv_cli.text.tokenizing import recipe_for

    log = partial(emit, quiet=quiet, as_json=False)
    if sentences and file is not None:
        reading = replace(reading, tokenize=recipe_for([file], reading.tokenize, log))
    texts = _record_texts(words, reading, sentences, add, output, log, one_line=file is not None)
    if texts is not None:
        return texts, _lines_of(texts)
    for word in filter(isfile, words if sentences and not piped else ()):
        log(f"{word} is taken for a text, and is the name of a file; to read its lines, give them with < {word}")
    batches = piped_lines(log) if piped else iter([list(words)])
    return None, batches if reading.tokenize is None else _cut_lines(batches, reading.tokenize)


def _record_texts(
    words: Sequence[str], reading: LinesConfig, sentences: bool, add: str | None, output: str | None,
    log: Callable[[str], None], *, one_line: bool,
) -> "Texts | None":  # fmt: skip
    """None for lines: the endings of files, --field or --add tell. Without `one_line` texts keep line feeds, which
    are tokens to some encoders."""
    named = sentences and any(record_kind(word) and Path(word).is_file() for word in words)
    if not named and (add is None or not sentences) and (reading.field is None or not sentences):
        if given := [name for name in RecordsConfig.options() if name in given_options()]:
            flag = RecordsConfig.options()[given[0]].flag
            raise UsageError(f"{flag} is about records; give files of them with --sentences, such as pages.jsonl")
        return None
    from wv_cli.vectors.recognize import input_texts

    written = [output] if output is not None else []
    return input_texts(
        words or ("-",), log=log, reading=ReadingConfig(**vars(reading)), one_line=one_line, written=written
    )


def _cut_lines(batches: Iterable[list[str]], recipe: str) -> Iterator[list[str]]:
    from wv_cli.text.tokenizing import Tokenizer
    from wv_cli.words import decode, encode

    tokenizer = Tokenizer(read_recipe(recipe))
    for batch in batches:
        yield [decode(tokenizer.words_of(encode(line)).replace(b"\n", b" ")) for line in batch]


def _lines_of(texts: "Texts") -> Iterator[list[str]]:
    """The texts of records, many at a time."""
    from wv_cli.models.text_classifier import blocks_of_lines
    from wv_cli.text.source import Source
    from wv_cli.words import decode

    source = Source(texts)
    if texts.one_line or not all(map(texts.records, source.paths)):
        for lines in blocks_of_lines(source):
            yield decode(lines).removesuffix("\n").split("\n")
        return
    for path in source.paths:
        for block in source.blocks(path):
            yield [decode(text) for text in block.each]


def add_vectors(
    texts: "Texts", name: str, output: str | None, model: str, opened: "Callable[[], Vectors]", *, fixed_size: bool
) -> int:
    """Writes the records again, with the vector that `model` gives each text as the field `name`, in tables perhaps of
    a `fixed_size`. Returns 0, the exit code."""
    from wv_cli.commands.adding import vector_answer
    from wv_cli.io.places import refuse_reading
    from wv_cli.text.input_files import refuse_overwriting
    from wv_cli.text.records.writing import add_answers

    kinds = [texts.records(path) for path in texts.inputs]
    if fixed_size and not all(kind is not None and RECORDS[kind].table for kind in kinds):
        tables = " and ".join(kind for kind, row in RECORDS.items() if row.table)
        raise UsageError(f"--fixed-size is about {tables}, and {texts.inputs[0]} is none; leave it out")
    refuse_overwriting(texts.inputs, output or "-")
    refuse_reading([output or "-"], [model])
    add_answers(texts, output or "-", lambda: ((name,), vector_answer(name, opened(), fixed_size=fixed_size)))
    return 0


def finite_lines(source: "Composer", file: str) -> "Vectors":
    """The vectors of lines by a model or vectors from `file`."""
    from wv_cli.vectors.formats.lines import require_finite

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
    for name in ("pooling", "counts", "case"):
        if name in given_options() and options["encoder"] is None:
            raise conflict("--add", f"--{name}", "--pooling weighs words by all lines; --add takes the rule of FILE")
