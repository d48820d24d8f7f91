"""The tokenizer.json of a unigram model of sentencepiece (.model): the same normalization, pieces and probabilities.

Its tokens are those of the model, with two exceptions. Control pieces such as <s> are no token, since sentencepiece
finds them in no text; `<unk>` in a text is the unknown token. Among cuts of the same probability the package
`tokenizers` may take another one than sentencepiece, which adds up in float32.
"""

import base64
from pathlib import Path
from typing import Any

from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.folders import read_bounded
from wv_cli.io.kinds import HEAD_BYTES, kind_of
from wv_cli.text.unigram import BYTE, NORMAL, UNKNOWN, USER_DEFINED, PieceFile

_EXPECTED = "a tokenizer.json, or a unigram model of sentencepiece"
_WAY_OUT = "give the tokenizer.json of an encoder with this model, or train one with --model_type=unigram"
_BLANK = "\u2581"


def is_sentencepiece(path: Path) -> bool:
    """Whether a file begins as sentencepiece's models do. Raises BadFile, WvError."""
    head = read_bounded(path)[:HEAD_BYTES]
    return head.startswith(b"\n") and not head.lstrip().startswith((b"{", b"["))


def sentencepiece_settings(path: Path) -> dict[str, Any]:
    """The settings of the tokenizer. Raises BadFile for a file or model that they cannot be made of, WvError."""
    contents = read_bounded(path)
    try:
        file = PieceFile.from_bytes(contents)
        if not file.trainer or not file.normalizer:  # which stand behind the pieces
            raise ValueError
        unfit = _unfit(file)
        pieces = [(spelling.decode(), score, kind) for spelling, score, kind in file.pieces]
    except ValueError:
        head = contents[:HEAD_BYTES]
        raise BadFile(path, f"expected {_EXPECTED}, found {kind_of(head) or show_bytes(head, 20)}") from None
    if unfit:
        raise BadFile(path, f"expected {_EXPECTED}, found {unfit}; {_WAY_OUT}")
    known = [(spelling, score, kind) for spelling, score, kind in pieces if kind in (NORMAL, UNKNOWN, BYTE)]
    normalizers: list[dict[str, Any]] = []
    if file.rules:
        rules = base64.b64encode(file.rules).decode()
        normalizers.append({"type": "Precompiled", "precompiled_charsmap": rules})
    for blanks, one in ((r"\A +| +\z", ""), (" {2,}", " ")):
        normalizers.append({"type": "Replace", "pattern": {"Regex": blanks}, "content": one})
    cuts = {
        "type": "Metaspace",
        "replacement": _BLANK,
        "prepend_scheme": "always" if file.adds_prefix else "never",
        "split": not any(_BLANK in spelling[1:] for spelling, _, _ in known),
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": cuts,
        "post_processor": None,
        "decoder": cuts,
        "model": {
            "type": "Unigram",
            "unk_id": [kind for _, _, kind in known].index(UNKNOWN),
            "vocab": [[spelling, score] for spelling, score, _ in known],
            "byte_fallback": file.has_bytes,
        },
    }


def _unfit(file: PieceFile) -> str:
    """What a tokenizer.json would do otherwise than the model; "" for nothing."""
    kinds = [kind for _, _, kind in file.pieces]
    if file.kind != "unigram":
        return f"one of {file.kind}"
    if kinds.count(UNKNOWN) != 1 or NORMAL not in kinds:
        return "one without an unknown piece" if UNKNOWN not in kinds else "one without pieces"
    if USER_DEFINED in kinds:
        return "one with user-defined symbols"
    if file.ends_with_blanks or not file.removes_blanks or not file.escapes:
        return "one that treats blanks in a way of its own"
    return ""
