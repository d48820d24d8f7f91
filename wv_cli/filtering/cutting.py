"""Texts cut into words by the settings of --tokenize."""

import threading
from collections.abc import Callable
from dataclasses import replace

from wv_cli.errors import BadFile
from wv_cli.io import meta
from wv_cli.text.reading_config import OF_MODEL, read_recipe

Cut = Callable[[list[bytes]], list[bytes]]


def recipe_of_model(path: str, recipe: str | None) -> str | None:
    """The settings by which texts for this model are cut into words: with `model` those that it was trained with,
    if any."""
    return meta.tokenization(path) if recipe == OF_MODEL else recipe


def open_cutter(recipe: str | None) -> Cut | None:
    """What cuts texts into words with a blank between two by these settings, if any. Threads may share it."""
    if recipe in (None, OF_MODEL):
        return None
    from wv_cli.text.tokenizing import Tokenizer

    config = replace(read_recipe(str(recipe)), sentences=False)  # a document has one score
    of_thread = threading.local()
    of_thread.tokenizer = Tokenizer(config)  # raises what it raises

    def cut(texts: list[bytes]) -> list[bytes]:
        if not hasattr(of_thread, "tokenizer"):
            of_thread.tokenizer = Tokenizer(config)
        return [of_thread.tokenizer.words_of(text) for text in texts]

    return cut


def require_recipe(path: str, found: str | None, wanted: str | None) -> None:
    """Raises BadFile for an index whose texts were cut by other settings."""
    if found != wanted:
        its = f"--tokenize {found}" if found is not None else "no --tokenize"
        raise BadFile(path, f"expected an index made with the same --tokenize, found one made with {its}")
