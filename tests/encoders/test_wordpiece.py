"""Tokens by csrc/core/wordpiece.c against those of the `tokenizers` package."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.encoders.wordpiece import open_reader
from wv_cli.errors import BadFile

BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
        "lowercase": True}  # fmt: skip
PIECES = [
    "[PAD]",
    "[UNK]",
    "a",
    "b",
    "##a",
    "##b",
    "##ab",
    "ab",
    "abba",
    "caf",
    "##e",
    "cafe",
    "é",
    "\u0301",
    "中",
    "!",
    "<",
    "##\u0301",
    "i",
    "##i̇",
    "_",
    "##!",
    "!!",
    "a_b",
    "ς",
    "σ",
    "##σ",
    "\u1100\u1161",
]
TEXTS = [
    "",
    "  ",
    "abba Abab",
    "café CAFE\u0301 \u00a0ab\tb",
    "a\0b\u200da\u200bb",
    "中国a中",
    "[PAD]a[UNK][PAD",
    "a" * 200,
    "!!! a_b <\u0338≮ \u037e",
    "ΑΣ Σ σς",
    "İi̇ \u1e9b",
    "가",
    "\u302e\u302fa\u302f\u0301\u302e[PAD]\u302e",
    "\ud7a3a\ufffd",
    "a\u1c89\u0345 \U0001d160 \U00011938",
    "\x1c\x85a\x0bb",
]


def settings(**changes: Any) -> dict[str, Any]:
    added = [
        {"id": number, "content": PIECES[number], "special": True}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for number in (0, 1)
    ]
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": vocabulary}  # fmt: skip
    facts = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": BERT,
             "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": None, "decoder": None,
             "model": model}  # fmt: skip
    return facts | changes


WHOLE = {"type": "WordLevel", "unk_token": "[UNK]", "vocab": settings()["model"]["vocab"]}
KINDS = [
    *(
        settings(normalizer=BERT | {"strip_accents": strips, "lowercase": lowers, "handle_chinese_chars": lowers})
        for strips in (None, True, False)
        for lowers in (True, False)
    ),
    *(
        settings(normalizer=normalizer, pre_tokenizer={"type": cut}, model=model)
        for normalizer in (None, {"type": "Lowercase"})
        for cut in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer")
        for model in (WHOLE, settings()["model"])
    ),
]


def compare(facts: dict[str, Any], texts: list[str], package: Any) -> None:
    reader = open_reader(facts)
    assert reader is not None
    ids, starts, _ = reader.read(texts)
    expected = package.Tokenizer.from_str(json.dumps(facts)).encode_batch(texts, add_special_tokens=False)
    for text, begin, end, each in zip(texts, starts[:-1], starts[1:], expected, strict=True):
        assert ids[begin:end].tolist() == each.ids, text


def test_every_kind_is_the_packages() -> None:
    package = pytest.importorskip("tokenizers")
    for facts in KINDS:
        compare(facts, TEXTS, package)


@given(
    st.lists(
        st.text(
            st.one_of(
                st.sampled_from("".join(PIECES) + "\u0301\u302e\u302f \0"), st.characters(exclude_categories=["Cs"])
            )
        ),
        max_size=9,
    )
)
def test_any_text_is_the_packages(texts: list[str]) -> None:
    package = pytest.importorskip("tokenizers")
    for facts in (KINDS[0], KINDS[1], KINDS[8]):
        compare(facts, texts, package)


@pytest.mark.full
def test_every_character_is_the_packages() -> None:
    package = pytest.importorskip("tokenizers")
    every = [f"a{chr(code)}b" for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    # Many words a text: the package takes as long for a text as for several words.
    texts = [" ".join(every[first : first + 64]) for first in range(0, len(every), 64)]
    known = [chr(code) for code in range(0x3100) if not 0xD800 <= code < 0xE000]
    pieces = dict.fromkeys([*PIECES, *known[1:], *(f"##{each}" for each in known[1:])])
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    for facts in (KINDS[0], KINDS[8]):
        compare(facts | {"model": facts["model"] | {"vocab": vocabulary}}, texts, package)


def test_tokens_are_counted_before_unknown_ones_are_dropped() -> None:
    reader = open_reader(settings(), dropped="[UNK]")
    assert reader is not None
    ids, starts, cut = reader.read(["a zzz b", "a zzz", "abab z"], 2)
    assert (ids.tolist(), starts.tolist(), cut.tolist()) == ([2, 2, 7, 6], [0, 1, 2, 4], [True, False, True])


def test_a_tokenizer_that_takes_long_is_refused(tmp_path: Path) -> None:
    """By either reader."""
    path = tmp_path / "tokenizer.json"
    model = settings()["model"]
    path.write_text(json.dumps(settings(model=model | {"max_input_chars_per_word": 10_000})))
    tokenizer = Tokenizer(path, max_length=None, rows=99, special=False)
    ids, _ = tokenizer.ids(["é" * 10_000, "a" * 10_000, "a" * 10_001, "ab" * 5000])
    assert [each.size for each in ids] == [0, 10_000, 0, 5000]  # unknown words are left out
    path.write_text(json.dumps(settings(model=model | {"max_input_chars_per_word": 10_001})))
    with pytest.raises(BadFile, match="max_input_chars_per_word of at most 10,000, found 10,001"):
        Tokenizer(path, max_length=None, rows=99, special=False)
    os.truncate(path, (1 << 28) + 1)
    for special in (False, True):
        with pytest.raises(BadFile, match="expected JSON of at most 268,435,456 bytes, found 268,435,457"):
            Tokenizer(path, max_length=None, rows=99, special=special)


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": {"type": "NFC"}},
        {"normalizer": BERT | {"clean_text": False}},
        {"normalizer": BERT | {"lowercase": 1}},
        {"pre_tokenizer": None},
        {"pre_tokenizer": {"type": "Metaspace"}},
        {"pre_tokenizer": {"type": "Whitespace", "more": 1}},
        {"post_processor": {"type": "Sequence"}},
        {"post_processor": [1]},
        {"added_tokens": [settings()["added_tokens"][0] | {"normalized": True}]},
        {"added_tokens": [settings()["added_tokens"][0] | {"id": 3}]},
        {"model": settings()["model"] | {"unk_token": "none"}},
        {"model": settings()["model"] | {"unk_token": ["[UNK]"]}},
        {"model": settings()["model"] | {"max_input_chars_per_word": -1}},
        {"model": settings()["model"] | {"max_input_chars_per_word": 10_001}},
        {"model": settings()["model"] | {"type": "Unigram"}},
        {"model": WHOLE | {"vocab": {"[UNK]": 0, "a\0": 1, "[PAD]": 2}}},
        {"model": WHOLE | {"vocab": {"[UNK]": 0, "\ud800": 1}}},
        {"model": WHOLE | {"vocab": {"[UNK]": 0, "a": 0}}},
    ],
)
def test_other_parts_are_left_to_the_package(changes: dict[str, Any]) -> None:
    assert open_reader(settings(**changes)) is None
