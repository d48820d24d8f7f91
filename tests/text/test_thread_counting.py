"""Words counted by several threads: the words, counts, order and lines of one, however the text is cut."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wv_cli import _encoder, _text
from wv_cli.errors import WvError
from wv_cli.text import corpus, thread_counting
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import tally
from wv_cli.text.thread_counting import tally_in_threads

texts = st.lists(
    st.one_of(st.integers(0, 300).map(lambda n: b"w%d" % n), st.sampled_from([b" ", b"\n", b"\t", b"\n\n", b"x" * 50])),
    max_size=300,
).map(b"".join)


def of_one(chunks):
    encoder = _encoder.Encoder(keep_ids=False)
    for chunk in chunks:
        encoder.feed(chunk)
    encoder.finish()
    blob, _, counts = encoder.vocabulary()
    return blob, counts.tolist(), encoder.lines, encoder.tokens


def source_of(chunks):
    class Chunks(SimpleNamespace):
        def __iter__(self):
            return iter(chunks)

    return Chunks(divided=0)


def of_threads(chunks, threads):
    found = tally_in_threads(source_of(chunks), threads)
    assert np.array_equal(found.words.starts[[0, -1]], [0, len(found.words.blob)])
    return found.words.blob, found.counts.tolist(), found.lines, found.tokens_read


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 5))
def test_threads_count_what_one_counts(text, sizes, threads):
    chunks, at = [], 0
    for size in sizes:
        chunks.append(text[at : at + size])
        at += size
    chunks = [chunk for chunk in [*chunks, text[at:]] if chunk]
    assert of_threads(chunks, threads) == of_one(chunks)


def test_large_tables_go_on_alone(monkeypatch):
    monkeypatch.setattr(thread_counting, "_LARGEST_TABLE", 1)
    chunks = [b"some words %d\n" % n for n in range(200)]
    assert of_threads(chunks, 4) == of_one(chunks)


def test_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "LEAST_BYTES", 1)
    words = np.random.default_rng(1).zipf(1.2, 300_000) % 5000
    (tmp_path / "text").write_text("".join(f"w{word}{' ' if word % 7 else chr(10)}" for word in words.tolist()))
    one, two = (tally([str(tmp_path / "text")], VocabConfig(), threads=threads) for threads in (1, 2))
    assert one.words == two.words and np.array_equal(one.counts, two.counts)
    assert (one.lines, one.tokens_read) == (two.lines, two.tokens_read)


def test_what_a_thread_raises_is_raised(monkeypatch):
    """Though more pieces come than may wait."""

    class Full:
        words = tokens = lines = words_bytes = 0

        def __init__(self, **_):
            pass

        def feed(self, part):
            raise WvError("more than 2,147,483,647 different words")

    monkeypatch.setattr(_encoder, "Encoder", Full)
    with pytest.raises(WvError, match="different words"):
        tally_in_threads(source_of([b"a text\n"] * 100), 2)


def test_what_reading_raises_ends_the_threads():
    def chunks():
        yield b"some words\n"
        raise WvError("the text ends here")

    before = {*threading.enumerate()}
    with pytest.raises(WvError, match="ends here"):
        tally_in_threads(source_of(chunks()), 3)
    assert {*threading.enumerate()} <= before


def test_the_last_separator():
    for text in (b"", b"word", b" word", b"a b", b"a\n", b"a\tbc", "ä\u00a0b".encode()):
        places = [place for place, byte in enumerate(text) if byte in _text.SEPARATORS]
        assert _text.last_separator(text) == max(places, default=-1)
