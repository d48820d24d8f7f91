"""Files of pooled text classifiers: a container (wv_cli.io.container) of all that prediction needs.

Rows are float32, or bytes with scales: a token's row has one, and each column of the features' rows.
"""

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import container, memory
from wv_cli.io.input import Input, open_input
from wv_cli.io.output import open_output
from wv_cli.models.pooled_model import Head, PooledModel
from wv_cli.models.pooled_reader import Reading, name_of_question, problem_of_questions
from wv_cli.models.text_classifier import POOLED as KIND
from wv_cli.text.records.labels import value_of
from wv_cli.vectors.formats.tokenizer_file import require_tokenizer
from wv_cli.words import WordList

_LARGEST = 1e9  # scores of so many features as a line has are finite then
_LAYOUT: container.Layout = {
    "word_starts": ("<i8", ("word starts",)),
    "label_starts": ("<i8", ("label starts",)),
    "table": ("<f4 |u1", ("tokens", "dim")),
    "table_scale": ("<f4", ("table scales",)),
    "rows": ("<f4 |u1", ("features", "rank")),
    "row_scale": ("<f4", ("row scales",)),
    "token_output": ("<f4", ("labels", "dim")),
    "ngram_output": ("<f4", ("labels", "rank")),
    "idf": ("<f4", ("features",)),
    "kept": ("<i4", ("kept",)),
    "words": ("|u1", ("word letters",)),
    "labels": ("|u1", ("label letters",)),
    "tokenizer": ("|u1", ("tokenizer",)),
}
# Where a model answers several questions: where the labels of each begin.
_OF_QUESTIONS: container.Layout = {"questions": ("<i4", ("questions",)), "temperatures": ("<f8", ("questions",))}
_TEMPERATURES = (1e-3, 1e3)
_WHOLE = {
    "word_ngrams": (1, 20),
    "minn": (0, 100),
    "maxn": (0, 100),
    "buckets": (1, 2**31 - 1),
    "max_length": (1, 1 << 20),
}


def save_pooled(path: str | os.PathLike[str], model: PooledModel, *, quantized: bool = False) -> None:
    """Writes a model, whole or not at all; `quantized` in bytes. Raises WvError."""
    with open_output(path) as stream:
        write_pooled(stream, model, quantized=quantized)


def write_pooled(stream: BinaryIO, model: PooledModel, *, quantized: bool = False) -> None:
    reading = model.reading
    (tokens, token_output), (ngrams, ngram_output) = model.tokens.arrays(), model.ngrams.arrays()
    assert reading.kept is not None and reading.idf is not None, "a model that was trained"
    facts = {name: getattr(reading, name) for name in ("label_prefix", "lowercase", *_WHOLE)}
    table, table_scale = _pack(tokens, 1, quantized)
    rows, row_scale = _pack(ngrams, 0, quantized)
    tokenizer = json.dumps(reading.tokenizer).encode() if reading.tokenizer is not None else b""
    arrays: dict[str, NDArray[Any]] = {
        "word_starts": reading.words.starts,
        "label_starts": reading.labels.starts,
        "table": table,
        "table_scale": table_scale,
        "rows": rows,
        "row_scale": row_scale,
        "token_output": token_output,
        "ngram_output": ngram_output,
        "idf": reading.idf,
        "kept": reading.kept,
        "words": np.frombuffer(reading.words.blob, np.uint8),
        "labels": np.frombuffer(reading.labels.blob, np.uint8),
        "tokenizer": np.frombuffer(tokenizer, np.uint8),
    }
    temperatures = model.temperatures or (1.0,) * max(1, len(reading.questions))
    if reading.questions:
        arrays |= {"questions": np.array(reading.questions, np.int32), "temperatures": np.array(temperatures)}
    else:
        facts["temperature"] = temperatures[0]
    container.write(stream, KIND, facts, arrays)


def _pack(rows: NDArray[np.float32], axis: int, quantized: bool) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """(rows, scales along the other axis); bytes are signed numbers."""
    if not quantized:
        return rows, np.empty(0, np.float32)
    scale = (np.abs(rows).max(axis=axis, initial=0) / 127).astype(np.float32)
    divisor = np.expand_dims(np.where(scale > 0, scale, 1), axis)
    return np.rint(rows / divisor).astype(np.int8).view(np.uint8), scale


def _unpack(rows: NDArray[Any], scale: NDArray[np.float32] | None = None, axis: int = 0) -> NDArray[np.float32]:
    """Padded rows of floats. Bytes have a scale."""
    found = memory.zeros(max(1, len(rows)), memory.pad_width(rows.shape[1]))[: len(rows)]
    if scale is not None and rows.dtype == np.uint8:
        np.multiply(rows.view(np.int8), np.expand_dims(scale, axis), out=found[:, : rows.shape[1]])
    else:
        found[:, : rows.shape[1]] = rows
    return found


def dump_pooled(model: PooledModel, *, quantized: bool = False) -> bytes:
    """The file of a model, for parse_pooled()."""
    stream = io.BytesIO()
    write_pooled(stream, model, quantized=quantized)
    return stream.getvalue()


def parse_pooled(file: bytes, name: str) -> PooledModel:
    """The model in the bytes of a file."""
    return read_pooled(Input(name, io.BytesIO(file), len(file)))


def load_pooled(path: str | os.PathLike[str]) -> PooledModel:
    """Raises BadFile, WvError."""
    with open_input(path, "a classifier") as source:
        return read_pooled(source)


def read_pooled(source: Input) -> PooledModel:
    """The model in a file. Raises BadFile for one that is damaged, or whose arrays do not fit each other."""
    reader = container.Reader(source, KIND, "train it again")
    facts: dict[str, Any] = {name: reader.fact(name, int, *bounds) for name, bounds in _WHOLE.items()}
    prefix, lowercase = reader.fact("label_prefix", str), reader.fact("lowercase", bool)
    several = "questions" in reader.layout
    temperatures = () if several else (reader.fact("temperature", float, *_TEMPERATURES),)
    sizes = reader.expect({**_LAYOUT, **(_OF_QUESTIONS if several else {})}, "a pooled classifier")
    words, labels, tokens = (sizes[name] for name in ("word starts", "label starts", "tokens"))
    expected = {
        "label starts": sizes["labels"] + 1,
        "features": words - 1 + sizes["kept"],
        "table scales": tokens if reader.layout["table"][0] == "|u1" else 0,
        "row scales": sizes["rank"] if reader.layout["rows"][0] == "|u1" else 0,
    }
    if not sizes["tokenizer"]:
        expected["tokens"] = words - 1
    if words < 1 or labels < 2 or not tokens or any(sizes[name] != size for name, size in expected.items()):
        reader.refuse("the sizes of its arrays do not fit each other")
    if (
        min(sizes["dim"], sizes["rank"]) < 1
        or (facts["maxn"] and not 1 <= facts["minn"] <= facts["maxn"])
        or not prefix
    ):
        reader.refuse("its options do not fit each other")
    arrays = reader.read()
    reader.require_finite({name: each for name, each in arrays.items() if each.dtype.kind == "f"}, _LARGEST)
    kept = arrays["kept"]
    if len(kept) and (kept[0] < 0 or kept[-1] >= facts["buckets"] or (np.diff(kept) < 1).any()):
        reader.refuse("the n-grams are not numbered in order", reader.offset("kept"))
    reading = Reading(
        words=_names(reader, arrays, "words", "word_starts"),
        labels=_names(reader, arrays, "labels", "label_starts"),
        label_prefix=prefix,
        lowercase=lowercase,
        word_ngrams=facts["word_ngrams"],
        minn=facts["minn"],
        maxn=facts["maxn"],
        buckets=facts["buckets"],
        max_length=facts["max_length"],
        tokenizer=_tokenizer(reader, arrays["tokenizer"]),
        tokens=tokens,
        kept=kept,
        idf=arrays["idf"],
        questions=tuple(arrays["questions"].tolist()) if several else (),
    )
    if several:
        temperatures = tuple(arrays["temperatures"].tolist())
        if not all(_TEMPERATURES[0] <= each <= _TEMPERATURES[1] for each in temperatures):
            reader.refuse("expected temperatures from 0.001 to 1,000", reader.offset("temperatures"))
        if problem := problem_of_questions(reading):
            reader.refuse(problem, reader.offset("questions"))
    table = Head(_unpack(arrays["table"], arrays["table_scale"], 1), _unpack(arrays["token_output"].T), sizes["labels"])
    rows = Head(_unpack(arrays["rows"], arrays["row_scale"], 0), _unpack(arrays["ngram_output"].T), sizes["labels"])
    return PooledModel(reading, table, rows, temperatures, from_bytes=bool(sizes["table scales"]))


def question_names(source: Input) -> tuple[str, ...]:
    """The questions that the classifier in a file answers, () for one question. Only what is needed is read of a plain
    file, and not checked. Raises BadFile for a file that is cut short or has another header."""
    reader = container.Reader(source, KIND, "train it again")
    if "questions" not in reader.layout:
        return ()
    reader.expect({**_LAYOUT, **_OF_QUESTIONS}, "a pooled classifier")
    prefix, arrays = reader.fact("label_prefix", str), reader.views()
    starts, firsts = np.asarray(arrays["label_starts"], np.int64), arrays["questions"]
    if (np.diff(starts) < 1).any() or (firsts < 0).any() or (firsts >= len(starts) - 1).any():
        reader.refuse("the labels do not follow each other", reader.offset("label_starts"))
    labels = WordList(arrays["labels"].tobytes(), starts)
    return tuple(value_of(name_of_question(labels[first], prefix)) for first in firsts.tolist())


def _names(reader: container.Reader, arrays: dict[str, NDArray[Any]], name: str, of_starts: str) -> WordList:
    starts, letters = np.asarray(arrays[of_starts], np.int64), arrays[name]
    if starts[0] != 0 or starts[-1] != len(letters) or (np.diff(starts) < 1).any():
        reader.refuse(f"the {name} do not follow each other", reader.offset(of_starts))
    found = WordList(letters.tobytes(), starts)
    if len(found) and not found.is_a_vocabulary():
        reader.refuse(f"the {name}: one is listed twice", reader.offset(name))
    return found


def _tokenizer(reader: container.Reader, text: NDArray[np.uint8]) -> dict[str, Any] | None:
    """The settings of a tokenizer.json; None where words are the tokens."""
    if not len(text):
        return None
    found: Any = None
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(text.tobytes())
    if not isinstance(found, dict):
        reader.refuse("expected the settings of a tokenizer; it is damaged", reader.offset("tokenizer"))
    return require_tokenizer(Path(reader.name), found)
