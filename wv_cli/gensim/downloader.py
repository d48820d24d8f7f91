"""gensim's downloads, which are not had: each call says how to bring the vectors along."""

from typing import Any, NoReturn

from wv_cli.errors import UsageError


def load(name: str, return_path: bool = False) -> NoReturn:
    """Raises UsageError."""
    message = (
        f"{name}: wv downloads nothing; call gensim.downloader.load({name!r}).save_word2vec_format('{name}.bin', "
        f"binary=True) once with gensim, then KeyedVectors.load('{name}.bin')"
    )
    raise UsageError(message)


def info(name: Any = None, show_only_latest: bool = True, name_only: bool = False) -> NoReturn:
    """Raises UsageError."""
    message = "wv downloads nothing; gensim.downloader.info() lists vectors with gensim"
    raise UsageError(message)
