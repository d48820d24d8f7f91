"""Packages that only some commands need, imported when they are needed, and their errors as ours."""

import contextlib
import importlib
import warnings
from collections.abc import Iterator
from typing import Any

from wv_cli.errors import BadFile, WvError

DISTRIBUTION = "wv-toolkit"  # as pip knows this program; PyPI's wv-cli is another one


def require(package: str, what: str, name: str = "") -> Any:
    """The package that `what` needs, called `name` by pip where it is imported by another name. Raises WvError with
    the line that installs it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of what made the package, not of how it is used
            return importlib.import_module(package)
    except ImportError:
        message = f"{what} needs the package {package}; pip install {name or package}"
        raise WvError(message) from None


@contextlib.contextmanager
def foreign(path: object, problem: str) -> Iterator[None]:
    """Makes a BadFile of what another package raises in this block: the `problem` and the first line of its words."""
    try:
        yield
    except (WvError, MemoryError):
        raise
    except BaseException as error:
        # A panic of a package in Rust is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise BadFile(path, f"{problem}, found: {said}") from None
