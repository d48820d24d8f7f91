"""Sentences in memory instead of files, and bars in a notebook: what some calls have that no command line has."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from wv_cli.cli.arguments import paths_of
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, show_value
from wv_cli.io.remote import is_remote

if TYPE_CHECKING:
    from wv_cli.commands.run import OnTraining
    from wv_cli.io.events import OnProgress
    from wv_cli.models.training.progress import Progress

WITH_SENTENCES = ("train", "glove")
_BAR = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def paths_or_sentences(inputs: Any, sentences: Any, *, needed: str) -> tuple[Any, Any]:
    """(paths, sentences), one of which is None: `inputs` whose first item is no path are sentences. Raises TypeError
    for both, and where one is needed, by the function `needed`, for neither; UsageError for lines among the paths."""
    if inputs is not None and sentences is not None:
        message = "expected inputs or sentences, found both"
        raise TypeError(message)
    if needed and inputs is None and sentences is None:
        message = f"{needed}: expected inputs or sentences, found neither"
        raise TypeError(message)
    if inputs is None:
        return None, sentences
    if not isinstance(inputs, Iterable) or isinstance(inputs, str | bytes):
        return inputs, None
    each = iter(inputs)
    first = list(islice(each, 1))
    whole = chain(first, each)
    if first and isinstance(first[0], str) and _is_text(first[0]):
        raise UsageError(f"inputs: expected paths, found the text {show_value(first[0])}; give texts as sentences=")
    are_sentences = bool(first) and isinstance(first[0], Iterable) and not isinstance(first[0], str | bytes)
    return (None, whole) if are_sentences else (whole, None)


def _is_text(path: str) -> bool:
    """Whether a text stands in the place of a path."""
    return " " in path and not is_remote(path) and not os.path.exists(path)  # noqa: PTH110 - of any length


def spool(sentences: Any, given: Mapping[str, Any], stack: ExitStack) -> dict[str, Any]:
    """Writes the sentences to a file that lasts as long as `stack`, and returns the options to read it. Raises
    UsageError for options about records, which sentences are not."""
    from wv_cli.text.sentences import spool_sentences

    for name in ("field", "no_header", "tsv_quotes", "bad_records", "force_text"):
        if given.get(name) is not None:
            raise UsageError(f"{flag_of(name)} has no effect on sentences; leave it out")
    outputs = paths_of(given["output"], "output") if given.get("output") is not None else ()
    path = stack.enter_context(spool_sentences(sentences, outputs[0] if outputs else None))
    return {"inputs": path, "force_text": True}


@contextlib.contextmanager
def progress_bar(on_progress: "OnTraining | None", *, progress: bool) -> Iterator["OnTraining | None"]:
    """`on_progress`, which with `progress` moves a bar of tqdm, too; in a notebook its widget."""
    if not progress:
        yield on_progress
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, bar_format=_BAR) as bar:

        def tell(moment: "Progress") -> None:
            bar.update(moment.fraction - bar.n)
            facts: dict[str, Any] = {"epoch": f"{moment.epoch}/{moment.epochs}", "words/s": f"{moment.rate:,.0f}"}
            if moment.loss is not None:
                facts["loss"] = f"{moment.loss:.3f}"
            bar.set_postfix(facts)
            if on_progress is not None:
                on_progress(moment)

        yield tell


@contextlib.contextmanager
def text_bar(texts: int, *, shown: bool) -> Iterator["OnProgress | None"]:
    """What moves a bar of tqdm over so many texts, in a notebook its widget; None when it is not `shown`."""
    if not shown:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=texts, unit=" texts") as bar:

        def tell(done: int, _: int | None) -> None:
            bar.update(done - bar.n)

        yield tell
        tell(texts, None)  # word vectors say nothing on the way
