"""What is searched: the file of an index, or a folder or text whose index is made in memory."""

from collections.abc import Callable, Collection
from pathlib import Path

from wv_cli.errors import UsageError, WvError
from wv_cli.retrieval.config import FusionConfig, TextConfig
from wv_cli.retrieval.model import Model
from wv_cli.retrieval.query import Searcher
from wv_cli.vectors.stored_index import SearchIndex, open_search_index


def open_searcher(
    path: str,
    model: str | None,
    fusion: FusionConfig,
    text: TextConfig,
    given: Collection[str],
    *,
    threads: int,
    log: Callable[[str], None],
) -> Searcher:
    """`given` are the options that the user gave: those that an index keeps as its settings cannot be. Raises
    UsageError, BadFile, WvError."""
    index = None if path == "-" or Path(path).is_dir() else open_search_index(path)
    if index is not None:
        for name in ("threads", *TextConfig.options()):
            if name in given:
                flag = f"--{name.replace('_', '-')}"
                raise UsageError(f"{flag} has no effect: {path} is an index; give it to `wv search index`")
        name = model if model is not None else index.model
    else:
        name = model if model is not None else ""
    if "vector_weight" in given and not name:
        raise UsageError("--vector-weight needs --model, or an INDEX that was made with one")
    try:
        opened = Model(name, threads) if name and fusion.vector_weight else None
    except WvError as error:
        if model is not None:
            raise
        message = f"{error}; name its new place with --model, or search without it: --vector-weight 0"
        raise WvError(message) from error
    found = index or _build_index(path, text, opened, log)
    return Searcher.from_index(found, opened, fusion.vector_weight, path, is_stored=index is not None)


def _build_index(path: str, text: TextConfig, model: Model | None, log: Callable[[str], None]) -> SearchIndex:
    from wv_cli.retrieval.build import build
    from wv_cli.retrieval.files import find_files
    from wv_cli.text.input_files import files_without_text

    index, counts = build(find_files([path], log), text, log=log, model=model)
    if counts["skipped"]:
        log(f"{path}: {files_without_text(counts['skipped'])} left out")
    if not index.chunks:
        raise WvError(f"{path}: no text to search: it is empty, or has no files of text")
    return index
