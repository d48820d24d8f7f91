"""What is told of the first texts of a corpus before rules judge them by their words."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from wv_cli.errors import WvError
from wv_cli.filtering.cutting import open_cutter
from wv_cli.filtering.label_files import NONE
from wv_cli.filtering.near_duplicates import SHINGLE, Banding
from wv_cli.text.inputs import Texts
from wv_cli.text.raw_files import is_file
from wv_cli.text.raw_text import note_cut, note_unsegmented
from wv_cli.text.reading_config import read_recipe
from wv_cli.text.record_files import RecordFiles
from wv_cli.text.records.field_values import read_fields
from wv_cli.text.records.reading import DEFAULT_FIELD, Block

_FEW = 1000


def notes_on_fields(
    texts: Texts, path: str, names: Sequence[str], labels: Sequence[str] = (), words: Sequence[str] = ()
) -> Iterator[str]:
    """Which of the fields `names` no record of the first has, which of `labels`, some of them, has values that are no
    labels, and which of `words`, taken for texts, are fields. Raises UsageError where records have columns."""
    for block in _first_blocks(texts, path) if names else ():
        columns = read_fields(block, names, texts.reading.field or DEFAULT_FIELD, path)
        for name, values in columns.items():
            if values and all(value is None for value in values):
                yield f"{path}: none of the first {len(values):,} records has the field {name}"
            if name in labels and (lists := sum(isinstance(value, list | dict) for value in values)):
                have = f"{lists:,} of the first {len(values):,} records have a list or an object as {name}"
                yield f"{path}: {have}, which is no label; they go to the folder {NONE}"
        for word in words:
            with suppress(WvError):  # there is no such column, or there are two
                (values,) = read_fields(block, [word], texts.reading.field or DEFAULT_FIELD, path).values()
                if any(value is not None for value in values):
                    what = f"--where compares with the word {word}, not with the field of this name"
                    yield f"{path}: {what}; put it in quotes if the word is meant"


def notes_on_words(
    texts: Texts, path: str, tokenize: str | None, *, words: bool, near_duplicates: bool
) -> Iterator[str]:
    """What of the records of the file `path`, the first of `texts`, makes rules on `words` say little: no blanks
    between them, unless --tokenize cuts texts. For `near_duplicates`: texts that are too short to be compared."""
    found = [text for block in _first_blocks(texts, path) for text in block.each[:_FEW]]
    head = b"\n".join(found)
    if words:
        advise = note_unsegmented(head, advise=True) if tokenize is None else note_cut(head, read_recipe(tokenize))
        if advise is not None:
            yield f"{path}: {advise}"
    if not near_duplicates:
        return
    cut, signer = open_cutter(tokenize), Banding().signer(separate=tokenize is None)
    short = sum(signer.words(text).count(b" ") + 1 < SHINGLE for text in (found if cut is None else cut(found)))
    if 2 * short > len(found):
        yield (
            f"{path}: {short:,} of the first {len(found):,} texts have fewer than {SHINGLE} words, and are duplicates "
            "only where they are equal"
        )


def _first_blocks(texts: Texts, path: str) -> list[Block]:
    """The first one, if any."""
    if is_file(path):  # a pipe is read once
        with suppress(WvError):  # which is told when it is judged
            for block in RecordFiles(replace(texts.quiet(), inputs=[path])).blocks(path, ()):
                return [block]
    return []
