"""Lists of hosts whose records go, by the field that has the URL."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import numpy as np

from wv_cli.errors import BadFile
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import Columns, FieldScorer
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.source import Source

_HOST = re.compile(r"(?:[\w-]+\.)*[\w-]+")


def blocked_hosts(subject: str, options: ScorerOptions) -> FieldScorer:
    """`FILE`: 0 for a record whose host, or a domain above it, stands in the file. Without a URL a record stays."""
    blocked = frozenset(_read_hosts(subject))
    if not blocked:
        raise BadFile(subject, "expected a host in each line, found none")

    def score(columns: Columns) -> "np.typing.NDArray[np.float32]":
        urls = columns[options.url_field]
        return np.array([not any(map(blocked.__contains__, _domains(url))) for url in urls], np.float32)

    return FieldScorer((options.url_field,), score)


def _read_hosts(path: str) -> Iterator[str]:
    """One a line, also as a hosts file has them, behind an address. Raises BadFile."""
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "hosts")
    for number, line in enumerate(text.decode("utf-8", "replace").split("\n"), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        host = _normalize(fields[-1].removeprefix("*").removeprefix("."))
        if len(fields) > 2 or not _HOST.fullmatch(host):
            raise BadFile(path, f"expected a host such as example.com, found {line.strip()[:80]!r}", line=number)
        yield host


def _domains(url: object) -> Iterator[str]:
    """The host of a URL, and the domains above it."""
    if not isinstance(url, str):
        return
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname
    except ValueError:  # no address in its brackets
        return
    labels = _normalize(host or "")
    while labels:
        yield labels
        labels = labels.partition(".")[2]


def _normalize(host: str) -> str:
    """In small letters, as a name server is asked."""
    lower = host.lower().removesuffix(".")
    if lower.isascii():
        return lower
    try:
        return lower.encode("idna").decode()
    except UnicodeError:
        return lower
