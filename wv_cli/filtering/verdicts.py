"""Verdicts on batches of texts that another program holds, by the judge of `wv filter`."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.filtering.judge import Judge
from wv_cli.filtering.scorer_types import Columns
from wv_cli.io.json_text import to_unicode
from wv_cli.text.records.arrow import is_text, text_values
from wv_cli.words import is_utf8

NO_TEXT, NOT_UTF8 = "no text", "not UTF-8"  # no names of rules: those have no blanks
_ROWS = 1024  # judged at once
_EXPECTED = "expected texts in a list, a NumPy array or an Arrow array"


class Verdict(NamedTuple):
    """What rules say of some texts: whether to `keep` each, the `reason` to drop it (the name of a rule, "no text" or
    "not UTF-8"; None for those that stay), and the `scores` of each rule, NaN where it was not asked."""

    keep: NDArray[np.bool_]
    reason: NDArray[np.object_]
    scores: dict[str, NDArray[np.floating[Any]]]

    def __bool__(self) -> bool:
        message = "a verdict is about several texts; use its keep, such as verdict.keep[0]"
        raise TypeError(message)


def judge_texts(judge: Judge, texts: Any, name: str = "texts", fields: Columns | None = None) -> Verdict:
    """The verdict on the texts of a list, a NumPy array, or an Arrow array, which messages call `name`. A text that is
    missing, or is not UTF-8, is not kept, since `wv filter` skips its record. `fields` are the others of their records,
    for a judge that asks for some. Raises TypeError."""
    parts, first = [], 0
    for block in text_blocks(texts, name):
        some = {key: values[first : first + len(block)] for key, values in (fields or {}).items()}
        parts.append(_judge_block(judge, block, some))
        first += len(block)
    parts = parts or [_judge_block(judge, [], fields or {})]
    scores = {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores}
    keep, reason = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    return Verdict(keep, reason, scores)


def _judge_block(judge: Judge, texts: list[bytes | None], fields: Columns) -> Verdict:
    problems = [NO_TEXT if text is None else None if is_utf8(text) else NOT_UTF8 for text in texts]
    good = [text for text, problem in zip(texts, problems, strict=True) if text is not None and problem is None]
    reason, names = np.array(problems, object), np.array([*judge.names, None], object)  # -1 is the last
    readable = np.flatnonzero(reason == None)  # noqa: E711
    found = judge.score_batch(good, {key: [values[i] for i in readable.tolist()] for key, values in fields.items()})
    reason[readable] = names[found.reason]
    scores = {}
    for name, values in found.scores.items():
        scores[name] = np.full(len(texts), np.nan, values.dtype)
        scores[name][readable] = values
    keep = np.zeros(len(texts), np.bool_)
    keep[readable] = found.reason < 0
    return Verdict(keep, reason, scores)


def text_blocks(texts: Any, name: str = "texts") -> Iterator[list[bytes | None]]:
    """Texts as bytes, None for one that is missing, some at a time. Those of Arrow never become Python strings. Raises
    TypeError."""
    column = _arrow_column(texts)
    if column is not None:
        if not is_text(column.type) and str(column.type) != "null":
            advice = "; name one column, or use Filter.table" if hasattr(texts, "columns") else ""
            raise TypeError(f"{name}: expected strings, found {column.type}{advice}")
        for first in range(0, len(column), _ROWS):
            yield text_values(column.slice(first, _ROWS))
        return
    if isinstance(texts, str | bytes | bytearray | Mapping) or not isinstance(texts, Iterable):
        raise TypeError(f"texts: {_EXPECTED}, found {type(texts).__name__}")
    if isinstance(texts, np.ndarray):
        if texts.ndim != 1:
            raise TypeError(f"texts: expected one dimension, found {texts.ndim}")
        texts = texts.tolist()
    each = map(_text, texts)
    while block := list(islice(each, _ROWS)):
        yield block


def _arrow_column(texts: Any) -> Any:
    """A pyarrow array of what has Arrow's interface; None for others, and where there is no pyarrow. A column of
    Python objects is none of Arrow's, whatever its interface says."""
    has_arrow = hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__")
    if not has_arrow or getattr(texts, "dtype", None) == np.dtype(object):
        return None
    try:
        import pyarrow
    except ImportError:
        return None
    if isinstance(texts, pyarrow.Array | pyarrow.ChunkedArray):
        return texts
    return pyarrow.chunked_array(texts) if hasattr(texts, "__arrow_c_stream__") else pyarrow.array(texts)


def _text(text: Any) -> bytes | None:
    """As `wv filter` reads it from JSON, where a lone surrogate becomes U+FFFD."""
    if isinstance(text, bytes):
        return bytes(text)
    if isinstance(text, str):
        try:
            return text.encode()
        except UnicodeEncodeError:
            return to_unicode(text).encode()
    if text is None or (isinstance(text, float) and np.isnan(text)) or type(text).__name__ == "NAType":  # pandas
        return None
    raise TypeError(f"texts: expected each text as str or bytes, found {type(text).__name__}")
