"""The C tokenizer and word map against their reference implementation, on any bytes and any cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.text import count_words, encode_lines, split_lines
from wv_cli import _encoder, _text
from wv_cli.vectors.fasttext import tokens_of
from wv_cli.words import WordList, decode, split_words

SEPARATORS = b" \t\v\f\r\0\n"
# Bytes where a mask could go wrong: separators, their neighbors, the same with the high bit set.
tricky = st.sampled_from([*SEPARATORS, 8, 14, 31, 33, 1, 127, 128, 137, 138, 141, 160, 255, *b"ab"]).map(
    lambda byte: bytes([byte])
)
words = st.sampled_from([b"a", b"the", b"x" * 15, b"x" * 16, b"x" * 17, b"y" * 16, b"x" * 70, "é\u00a0ü".encode()])
texts = st.lists(st.one_of(tricky, words, st.binary(max_size=3), st.just(b" "), st.just(b"\n")), max_size=150).map(
    b"".join
)


def run(chunks, known=None):
    encoder = _encoder.Encoder(known)
    for chunk in chunks:
        encoder.feed(chunk)
    encoder.finish()
    blob, starts, counts = encoder.vocabulary()
    size = len(starts) - 1
    buffer, tokens, lines = encoder.take_ids(np.arange(size, dtype=np.int32), _encoder.Fingerprint())
    seen = [WordList(blob, starts).bytes_at(i) for i in range(size)]
    return encoder, seen, counts.tolist(), np.frombuffer(buffer, np.int32).tolist(), tokens, lines


def check(chunks):
    lines = split_lines(b"".join(chunks))
    reference = list(dict.fromkeys(word for line in lines for word in line))
    encoder, seen, counts, ids, tokens, ends = run(chunks)
    assert seen == reference
    assert dict(zip(seen, counts, strict=True)) == count_words(lines)
    assert ids == encode_lines(lines, reference)
    assert encoder.tokens == tokens == sum(map(len, lines))
    assert encoder.lines == len(lines)
    assert ends == ids.count(-1)


@given(texts, st.lists(st.integers(0, 2000), max_size=6))
def test_any_bytes_any_cuts(text, cuts):
    places = sorted(min(cut, len(text)) for cut in cuts)
    check([text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)])


def test_every_cut():
    text = b"one two\n\n three" + b"z" * 40 + b"\tfour\0five \r\nsix\r\n" + "naïve\u00a0word".encode() + b"\n \nlast"
    for cut in range(len(text) + 1):
        check([text[:cut], text[cut:]])
    check([text[i : i + 1] for i in range(len(text))])


def test_batches_and_blocks():
    """Words and lines across the borders of 64-byte blocks and 4096-byte batches."""
    for shift in range(70):
        check([b"p" * shift + b" ab\ncdefghijklmnopqrs tu " * 400])
    check([b"a " * 6000])
    check([b"\n" * 9000 + b"a" + b"\n" * 5000])
    check([b"w" * 10_000 + b" " + b"v" * 4096 + b"\n" + b"w" * 10_000])


@given(texts, st.lists(words, unique=True, max_size=5))
def test_known_words_only(text, known):
    word_list = WordList.from_words(known)
    lines = split_lines(text)
    encoder, _, counts, ids, tokens, _ = run([text], (word_list.blob, word_list.starts))
    assert ids == encode_lines(lines, known)
    every = count_words(lines)
    assert counts == [every.get(word, 0) for word in known]
    assert tokens == sum(counts)
    assert encoder.tokens == sum(map(len, lines))


@given(texts)
@settings(max_examples=50)
def test_counting_alone_gives_the_same_counts(text):
    encoder = _encoder.Encoder(keep_ids=False)
    encoder.feed(text)
    encoder.finish()
    blob, starts, counts = encoder.vocabulary()
    found = {WordList(blob, starts).bytes_at(i): int(count) for i, count in enumerate(counts)}
    assert found == count_words(split_lines(text))


def test_many_words_grow_the_table():
    many = [b"%d" % n for n in range(60_000)] + [b"a-word-of-some-length-%d" % n for n in range(60_000)]
    check([b" ".join(many), b"\n", b" ".join(reversed(many))])


def test_a_word_of_100_megabytes():
    encoder = _encoder.Encoder()
    piece = b"q" * (1 << 20)
    for _ in range(100):
        encoder.feed(piece)
    encoder.feed(b" x ")
    encoder.finish()
    _, starts, counts = encoder.vocabulary()
    assert starts.tolist() == [0, 100 << 20, (100 << 20) + 1]
    assert counts.tolist() == [1, 1]


@given(st.binary(min_size=64, max_size=64) | st.lists(tricky, min_size=64, max_size=64).map(b"".join))
def test_masks(block):
    separators = sum(1 << i for i, byte in enumerate(block) if byte in SEPARATORS)
    newlines = sum(1 << i for i, byte in enumerate(block) if byte == 10)
    assert _encoder.masks(block) == (separators, newlines)
    assert _encoder.masks(block, portable=True) == (separators, newlines)


def test_all_that_split_text_agree_on_every_byte():
    assert list(_text.SEPARATORS) == sorted(SEPARATORS)
    for byte in range(256):
        text, apart = b"a" + bytes([byte]) + b"b", [b"a", b"b"]
        separates = byte in SEPARATORS
        assert (run([text])[1] == apart) is separates
        assert (list(tokens_of(text, classifier=True)) == apart) is separates
        assert (list(tokens_of(text)) == apart) is (separates and byte != 0)
        assert (split_words(decode(text)) == ["a", "b"]) is (separates and byte != 10)


@given(st.lists(st.integers(-1, 40), max_size=120), st.lists(st.integers(-1, 9), min_size=41, max_size=41), st.data())
def test_remap(stream, lookup, data):
    """Dropped words leave nothing, emptied lines leave no end."""
    kept = []
    for value in (-1 if i < 0 else (lookup[i] if lookup[i] >= 0 else None) for i in stream):
        if value is None or (value == -1 and (not kept or kept[-1] == -1)):
            continue
        kept.append(value)
    with_file = _remapped_through_a_file(stream, lookup)
    assert with_file == (kept, len(kept) - kept.count(-1), kept.count(-1))


def _remapped_through_a_file(stream, lookup):
    import os
    import tempfile

    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(np.array(stream, np.int32).tobytes())
        fingerprint = _encoder.Fingerprint()
        length, tokens, lines = _encoder.remap_file(file.fileno(), np.array(lookup, np.int32), fingerprint)
        assert os.fstat(file.fileno()).st_size == 4 * length
        file.seek(0)
        ids = np.frombuffer(file.read(), np.int32)
        whole = _encoder.Fingerprint()
        whole.update(ids)
        assert fingerprint.digest() == whole.digest()
        return ids.tolist(), tokens, lines


@given(st.lists(st.integers(-1, 2**31 - 1), max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(0, 59))
def test_fingerprint_depends_on_every_id_but_not_on_cuts(ids, cuts, place):
    stream = np.array(ids, np.int32)
    whole = _encoder.Fingerprint()
    whole.update(stream)
    pieces = _encoder.Fingerprint()
    for piece in np.split(stream, sorted(cuts)):
        pieces.update(piece)
    assert whole.digest() == pieces.digest()
    if ids:
        other = stream.copy()
        other[place % len(ids)] ^= 1
        changed = _encoder.Fingerprint()
        changed.update(other)
        assert changed.digest() != whole.digest()
    shorter = _encoder.Fingerprint()
    shorter.update(np.append(stream, np.int32(0)))
    assert shorter.digest() != whole.digest()


def test_word_map_adds_and_finds():
    words_in = WordList.from_words(["b", "a", "b", "a longer word than sixteen bytes", "a"])
    words_map = _text.WordMap()
    assert words_map.add(words_in.blob, words_in.starts).tolist() == [0, 1, 0, 2, 1]
    other = WordList.from_words(["a", "c", "a longer word than sixteen bytez"])
    assert words_map.find(other.blob, other.starts).tolist() == [1, -1, -1]
    assert WordList(*words_map.words()) == WordList.from_words(["b", "a", "a longer word than sixteen bytes"])
    assert len(words_map) == 3


def test_gather_refuses_places_outside():
    word_list = WordList.from_words(["a", "bc"])
    assert WordList(*_text.gather(word_list.blob, word_list.starts, np.array([1, 0, 1]))) == WordList.from_words(
        ["bc", "a", "bc"]
    )
    with pytest.raises(IndexError):
        _text.gather(word_list.blob, word_list.starts, np.array([2]))
