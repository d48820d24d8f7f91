"""Saved phrases joined while a text is read: the same corpus as reading the joined text gives, wherever the ids are."""

import numpy as np
import pytest

from wv_cli.errors import BadFile
from wv_cli.text.config import PhrasesConfig, VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.text.labeled import encode_labeled
from wv_cli.text.phrase_finding import PhraseFinder
from wv_cli.text.phrases import JoinedText
from wv_cli.text.saved_phrases import read_phrases
from wv_cli.text.vocab import read_vocab, write_vocab


@pytest.fixture(scope="module")
def folder(slice_text, tmp_path_factory):
    """text, joined, labeled, labeled.joined, phrases: what two passes find in the first lines."""
    path = tmp_path_factory.mktemp("joining")
    lines = slice_text.read_text().splitlines()[:900]
    (path / "text").write_text("".join(f"{line}\n" for line in lines))
    labeled = [f"__label__{i % 3} {line[:200]}" for i, line in enumerate(lines)]
    (path / "labeled").write_text("".join(f"{line}\n" for line in labeled))
    config = PhrasesConfig(thresholds=(60.0, 30.0), min_count=3)
    with JoinedText([str(path / "text")], config) as text:
        (path / "joined").write_bytes(b"".join(text.chunks()))
        (path / "phrases").write_bytes(b"".join(text.rows()))
        assert all(one.joined > 10 for one in text.passes)
    saved = read_phrases(str(path / "phrases"))
    with JoinedText([str(path / "labeled")], config, saved=saved) as text:
        (path / "labeled.joined").write_bytes(b"".join(text.chunks()))
    return path


def assert_same_corpus(a, b):
    np.testing.assert_array_equal(a.ids, b.ids)
    assert a.vocab.words == b.vocab.words and a.vocab.counts.tolist() == b.vocab.counts.tolist()
    assert (a.tokens, a.lines, a.vocab.tokens_read, a.vocab.lines) == (
        b.tokens,
        b.lines,
        b.vocab.tokens_read,
        b.vocab.lines,
    )


@pytest.mark.parametrize("memory", [None, 1])
@pytest.mark.parametrize("own", [True, False])
def test_a_corpus(own, memory, folder, tmp_path):
    """Ids and words, of the text's own vocabulary and of a given one, in memory and on disk."""
    config = VocabConfig(min_count=2)
    saved = read_phrases(str(folder / "phrases"))
    vocab = None
    if not own:
        write_vocab(str(tmp_path / "v"), encode([str(folder / "joined")], VocabConfig(min_count=4)).vocab)
        vocab = read_vocab(str(tmp_path / "v"))
    place = str(tmp_path / "x")
    found = encode([str(folder / "text")], config, vocab=vocab, phrases=saved, memory=memory, spool_beside=place)
    assert_same_corpus(found, encode([str(folder / "joined")], config, vocab=vocab))
    assert not found.ids.flags.writeable
    assert any("_" in word for word in found.vocab.words)


def test_the_digest_is_that_of_the_phrases_too(folder, tmp_path):
    """A checkpoint does not go on with other phrases, even with those that join nothing."""
    rows = (folder / "phrases").read_bytes()
    (tmp_path / "more").write_bytes(rows + b"x_y\t1\t2\txqzt yqzt\n")
    (tmp_path / "scored").write_bytes(rows.replace(b"\t1\t", b"\t01\t"))
    digests = [
        encode([str(folder / "text")], VocabConfig(), phrases=read_phrases(str(path)) if path else None).digest
        for path in (None, folder / "phrases", tmp_path / "more", tmp_path / "scored")
    ]
    assert len(set(digests)) == 3 and digests[1] == digests[3]


@pytest.mark.parametrize("memory", [None, 1])
def test_labeled_lines(memory, folder, tmp_path):
    saved = read_phrases(str(folder / "phrases"))
    config = VocabConfig(min_count=2)
    place = str(tmp_path / "x")
    for keep in (False, True):
        expected = encode_labeled([str(folder / "labeled.joined")], config, keep_dropped=keep)
        found = encode_labeled(
            [str(folder / "labeled")], config, keep_dropped=keep, phrases=saved, memory=memory, spool_beside=place
        )
        np.testing.assert_array_equal(found.ids, expected.ids)
        assert found.words == expected.words and found.labels == expected.labels
        for name in ("kept", "end_of_line", "tokens_read", "lines"):
            assert getattr(found, name) == getattr(expected, name)
        assert found.counts.tolist() == expected.counts.tolist()
        assert found.digest != expected.digest


def test_phrases_of_version_02(tmp_path):
    (tmp_path / "old").write_bytes(b"new_york\t245.1\n")
    with pytest.raises(BadFile, match=r"as version 0\.2 wrote; save the phrases again"):
        read_phrases(str(tmp_path / "old"))


def test_what_is_found_is_what_is_saved(folder):
    """A text that is joined by what is found in it is the same corpus as one joined by the file of that; a pass that
    finds nothing is not in the file."""
    finder = PhraseFinder(PhrasesConfig(thresholds=(1e9, 60.0, 30.0), min_count=3))
    found = encode([str(folder / "text")], VocabConfig(), phrases=finder)
    saved = read_phrases(str(folder / "phrases"))
    expected = encode([str(folder / "text")], VocabConfig(), phrases=saved)
    assert_same_corpus(found, expected)
    assert found.digest == expected.digest and finder.digest == saved.digest
    assert len(finder.passes[0].phrases) == 0 and len(finder.to_saved().passes) == 2


def test_words_kept_apart(folder):
    """They are in no phrase, and the other phrases are as many as before."""
    config = PhrasesConfig(thresholds=(0.0,), min_count=2)
    phrases = []
    for apart in ("", "__label__"):
        finder = PhraseFinder(config, apart=apart)
        encode([str(folder / "labeled")], VocabConfig(), phrases=finder)
        phrases.append(dict(zip(finder.passes[0].phrases, finder.passes[0].scores.tolist(), strict=True)))
    every, without = phrases
    assert any("__label__" in phrase for phrase in every)
    assert without == {phrase: score for phrase, score in every.items() if "__label__" not in phrase}
