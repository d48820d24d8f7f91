"""Exact duplicates: documents byte for byte, paragraphs as CCNet compares them; the first one stays."""

import hashlib
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wv_cli.filtering.duplicates import ExactDuplicates, left_over, normalize_paragraphs, paragraph_digests
from wv_cli.text.digests import DigestSet

# CCNet's table of punctuation (text_normalizer.py, UNICODE_PUNCT).
PUNCTUATION = set("，。、„”“«»１」「《》´∶：？！（）；–—．～’…━〈〉【】％►")


def expected_paragraph(line):
    """CCNet's normalize_for_dedup, a character at a time."""
    digits = ("0" if unicodedata.category(c) == "Nd" else c for c in line.strip().lower())
    return "".join(c for c in digits if c not in PUNCTUATION and not (c < " " or "\x7f" <= c < "\xa0"))


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        (b"", [b""]),
        (b"A 12\n\n", [b"a 00", b"", b""]),
        (b"\x1c\t b\x07 \r\nC", [b"b", b"c"]),
        ("Ünï １٣ «x».\u00a0\n Σας ΣΑΣ\n".encode(), ["ünï 00 x.".encode(), "σας σας".encode(), b""]),
        ("! … !".encode(), [b"!  !"]),
        (b"a\xffb", ["a\ufffdb".encode()]),
    ],
)
def test_paragraphs_by_example(text, paragraphs):
    assert normalize_paragraphs(text) == paragraphs


_CHARACTERS = st.sampled_from([*"aB1 \t\n\r\v\x00\x1c\x1d\x7f.,!", *"İΣα９٣’‘«…►\x85\u00a0\u2028\u200b\u3000é"])


@given(st.text(_CHARACTERS) | st.text(st.characters(max_codepoint=0x7F)))
def test_paragraphs_are_those_of_the_reference(text):
    expected = [expected_paragraph(line).encode() for line in text.split("\n")]
    assert normalize_paragraphs(text.encode()) == expected
    assert normalize_paragraphs(("é\n" + text).encode()) == ["é".encode(), *expected]


def test_the_digest_of_a_paragraph_is_ccnets():
    """The first 8 bytes of SHA-1, little-endian; that of the empty paragraph as CCNet has it."""
    keys, starts = paragraph_digests([b"", b"Some 7\nText"])
    digest = hashlib.sha1(b"some 0").digest()[:8]
    assert keys.tolist()[:2] == [957977401221134810, int.from_bytes(digest, "little")]
    assert starts.tolist() == [0, 1, 3]


def first_seen(rule, texts):
    everything = np.arange(len(texts))
    return rule.first_seen(rule.keys(texts), everything, 0, everything).first


@given(st.lists(st.sampled_from([b"", b"a", b"A", b"b\n", b"\xff"])), st.integers(1, 5))
def test_the_first_document_stays(texts, block):
    seen = ExactDuplicates()
    blocks = [texts[at : at + block] for at in range(0, len(texts), block)]
    found = [new for each in blocks for new in first_seen(seen, each).tolist()]
    assert found == [text not in texts[:i] for i, text in enumerate(texts)]


@given(st.lists(st.lists(st.sampled_from([b"a", b"A", b" a", b"b", b"", b"7", b"8"]), min_size=1)), st.integers(1, 5))
def test_the_first_paragraph_stays(documents, block):
    seen, kept = DigestSet(), []
    texts = [b"\n".join(lines) for lines in documents]
    for at in range(0, len(texts), block):
        keys, starts = paragraph_digests(texts[at : at + block])
        kept += left_over(texts[at : at + block], starts, seen.first_seen(keys))
    known, expected = set(), []
    for lines in documents:
        left = []
        for line in lines:
            normal = line.strip().lower().replace(b"7", b"0").replace(b"8", b"0")
            left += [] if normal in known else [line]
            known.add(normal)
        expected.append(b"\n".join(left))
    assert kept == expected


def test_what_is_left_of_documents():
    seen = DigestSet()
    texts = ["Title\nÜber 1 \nTitle".encode(), b"title\n", b"TITLE", "new\nüber 2".encode()]
    keys, starts = paragraph_digests(texts)
    left = left_over(texts, starts, seen.first_seen(keys))
    assert left == ["Title\nÜber 1 ".encode(), b"", b"", b"new"]
    keys, starts = paragraph_digests([b"x\ny"])
    assert left_over([text := b"x\ny"], starts, seen.first_seen(keys))[0] is text


def test_no_texts():
    assert first_seen(ExactDuplicates(), []).tolist() == []
    keys = paragraph_digests([])[0]
    assert DigestSet().first_seen(keys).tolist() == [] and keys.dtype == np.uint64
