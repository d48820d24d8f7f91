"""How a document becomes the one line that a classifier is asked about. Each pipeline does it in its own way, and a
classifier's probabilities depend on it: one is asked as it was trained."""

import re
from collections.abc import Callable, Iterable

from wv_cli.config import option
from wv_cli.registry import Registry

Flatten = Callable[[str], str]
_EMPTY_LINES = re.compile(rb"\n{2,}")


def _space(text: str) -> str:
    return text.replace("\n", " ")


def _drop(text: str) -> str:
    return text.replace("\n", "")


def _stripped_drop(text: str) -> str:
    return text.strip().replace("\n", "")


def _lines(text: str) -> str:
    """str.splitlines knows nine line ends."""
    return " ".join(text.strip().splitlines())


def _lower(text: str) -> str:
    return text.lower().replace("\n", " ").strip()


def _words(text: str) -> str:
    return " ".join(text.strip().split())


def _without_labels(text: str) -> str:
    return text.replace("\n", " ").replace("__label__", " ")


def _stripped_space(text: str) -> str:
    return text.strip().replace("\n", " ")


FLATTENINGS: Registry[Flatten] = Registry(
    "flattening",
    [
        ("space", _space),  # a line end becomes a space: DataTrove's language filter
        ("none", _drop),  # it goes: CCNet, and DCLM's language step
        ("strip-space", _stripped_space),  # NeMo Curator's language filter
        ("datatrove", _stripped_drop),  # DataTrove's FastTextClassifierFilter
        ("dclm", _lines),  # DCLM's quality filter, Dolma's dclm-oh-eli5
        ("dolma", _lower),  # Dolma's language taggers
        ("words", _words),  # Dolma 1.7's quality taggers
        ("nemo", _without_labels),  # NeMo Curator's FastTextQualityFilter
    ],
)


def _sentences(text: bytes) -> list[bytes]:
    import numpy as np

    from wv_cli import _segments

    starts = np.flatnonzero(_segments.boundaries(text) & 2).tolist()
    characters = text.decode("utf-8", "surrogateescape")
    ends = zip([0, *starts], [*starts, len(characters)], strict=True)
    return [characters[begin:end].encode("utf-8", "surrogateescape") for begin, end in ends]


# The parts of a document that are scored one by one.
UNITS: Registry[Callable[[bytes], list[bytes]]] = Registry(
    "unit",
    [
        ("document", lambda text: [text]),
        ("paragraph", _EMPTY_LINES.split),
        ("sentence", _sentences),  # by Unicode's annex 29
        ("line", lambda text: text.split(b"\n")),
    ],
)


def flatten(texts: Iterable[bytes], name: str) -> bytes:
    """The texts as lines of one text, flattened in the way called `name`."""
    if name == "space":
        return b"".join(text.replace(b"\n", b" ") + b"\n" for text in texts)
    way = FLATTENINGS.find(name)
    # Python knows more line ends than \n, which become part of the text where they are left.
    return b"".join(
        way(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") + b"\n" for text in texts
    )


def flatten_option(*, only: str = "") -> str:
    help = "How a text of several lines becomes one: as a pipeline does it, by name."
    return option("space", help, choices=FLATTENINGS, only=only)


def unit_option(*, only: str = "") -> str:
    return option("document", "Units of a text that are scored one by one.", choices=UNITS, only=only)
