"""Packages that only some commands need, imported when they are needed, and their errors as ours."""

import contextlib
import importlib
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from wv_cli.errors import BadFile, WvError

DISTRIBUTION = "wv-toolkit"  # as pip knows this program; PyPI's wv-cli is another one


BROKEN = "whose import fails: "


def require(package: str, what: str, name: str = "") -> Any:
    """The package that `what` needs, called `name` by pip where it is imported by another name. Raises WvError with
    the line that installs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what made the package, not of how it is used
            return importlib.import_module(package)
    except ImportError as error:
        message = f"{what} needs the package {package}; pip install {name or package}"
        if (error.name or "").partition(".")[0] != package.partition(".")[0]:
            reason = [*str(error).strip().splitlines(), "without a reason"][0]
            message = f"{what} needs the package {package}, {BROKEN}{reason}"
        raise WvError(message) from None


@contextlib.contextmanager
def _no_stderr() -> Iterator[None]:
    """The descriptor of standard error goes nowhere in this block. Threads other than the first, which might disagree
    about when it comes back, leave it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextlib.contextmanager
def foreign(path: object, problem: str, *, quiet: bool = False) -> Iterator[None]:
    """Makes a BadFile of what another package raises in this block: the `problem` and the first line of its words.
    `quiet`: what it prints about the same is dropped."""
    try:
        with _no_stderr() if quiet else contextlib.nullcontext():
            yield
    except (WvError, MemoryError):
        raise
    except BaseException as error:
        # A panic of a package in Rust is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise BadFile(path, f"{problem}, found: {said}") from None
