"""Lines that are left out: repeated ones and short ones, however the text is cut into chunks."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.commands.made import training_job
from wv_cli import train
from wv_cli.errors import UsageError
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import count, encode
from wv_cli.text.labeled import encode_labeled
from wv_cli.text.lines import Lines
from wv_cli.text.records.labels import LabelFields
from wv_cli.vectors.recognize import input_texts


def expected(text, *, repeated, least):
    seen, kept = set(), []
    for line in text.split(b"\n"):
        if len(line.replace(b"\0", b" ").split()) >= least and not (repeated and line in seen):
            kept.append(line)
            seen.add(line)
    return kept


@given(
    st.lists(
        st.sampled_from([b"a b", b"a b ", b"A b", b"", b"\r", b"a\0b c", b"x" * 300, b"one two three"]), max_size=40
    ),
    st.lists(st.integers(0, 900), max_size=9),
    st.booleans(),
    st.integers(0, 3),
)
def test_whatever_the_cuts(lines, cuts, repeated, least):
    text = b"".join(line + b"\n" for line in lines)
    cuts = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    filtered = Lines(repeated=repeated, least=least)
    chunks = [text[a:b] for a, b in pairwise(cuts)]
    out = b"".join(filtered.filter_chunks(chunks))
    kept = expected(text.removesuffix(b"\n"), repeated=repeated, least=least) if lines else []
    assert out == b"".join(line + b"\n" for line in kept)
    assert filtered.left_out == len(lines) - len(kept)


def test_many_lines_are_compute_digest_by_eight_bytes_each():
    numbers = np.random.default_rng(1).integers(0, 30_000, 90_000)
    filtered = Lines(repeated=True)
    text = b"".join(b"line %d\n" % number for number in numbers)
    out = b"".join(filtered.filter_chunks(text[start : start + 10_000] for start in range(0, len(text), 10_000)))
    first = np.sort(np.unique(numbers, return_index=True)[1])
    assert out == b"".join(b"line %d\n" % number for number in numbers[first])
    assert filtered._seen.memory == 8 * len(first)
    assert len(filtered._seen._levels) < 15


def test_a_last_line_without_an_end():
    filtered = Lines(repeated=True, least=2)
    assert list(filtered.filter_chunks([b"a b\nc d\na", b" b"])) == [b"a b\nc d\n", b""] and filtered.left_out == 1


def test_labels_make_no_line_longer(tmp_path):
    """A record with two labels has no more words than one with none."""
    path = tmp_path / "labeled.jsonl"
    rows = [{"text": "one two", "a": 1, "b": 2}, {"text": "one two three", "a": 2}, {"text": "one two three", "b": 1}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = input_texts([str(path)], log=print, labels=LabelFields(["a", "b"], named=True))
    config = VocabConfig(min_count=1, min_line=3)
    assert encode_labeled(texts, config, fewest_labels=1).lines == 2
    (tmp_path / "labeled.txt").write_text("__weight__2 __label__a one two\n__label__a one __label__b two three\n")
    assert encode_labeled([str(tmp_path / "labeled.txt")], config, line_weights=True).lines == 1


def test_files_are_one_text_and_case_is_folded_first(tmp_path):
    for name, text in (("1.txt", "The cat sat\nno\n"), ("2.txt", "the cat sat\na dog ran")):
        (tmp_path / name).write_text(text)
    whole = encode([str(tmp_path)], VocabConfig(min_count=1))
    assert (whole.lines, whole.left_out) == (4, 0)
    corpus = encode([str(tmp_path)], VocabConfig(min_count=1, lowercase=True, dedup=True, min_line=2))
    assert (corpus.lines, corpus.tokens_read, corpus.left_out) == (2, 6, 2)
    assert count([str(tmp_path)], VocabConfig(min_count=1, dedup=True)).tokens_read == 10


def test_it_is_told(tmp_path, slice_text):
    text, said = tmp_path / "text.txt", []
    lines = slice_text.read_bytes().splitlines()[:40]
    text.write_bytes(b"\n".join(lines + lines))
    options = {"dim": 4, "epochs": 1, "dedup": True}
    facts = train(text, tmp_path / "a.vec", log=lambda message, **more: said.append(message), **options)
    assert (
        facts["corpus"]["lines_left_out"] >= 40 and f"{facts['corpus']['lines_left_out']:,} lines left out" in said[0]
    )
    (tmp_path / "once.txt").write_bytes(b"\n".join(dict.fromkeys(lines)))
    train(tmp_path / "once.txt", tmp_path / "b.vec", dim=4, epochs=1)
    assert (tmp_path / "a.vec").read_bytes() == (tmp_path / "b.vec").read_bytes()


def test_where_it_means_nothing(tmp_path, wv):
    (tmp_path / "a.vocab").write_text("a 3\n")
    done = wv("build-vocab", "--merge", tmp_path / "a.vocab", "--dedup", "-o", tmp_path / "b.vocab")
    assert done.returncode == 2 and "--merge and --dedup cannot be used together" in done.stderr
    options = {"autotune_validation": "v.txt", "autotune_size": 1000, "dedup": True}
    with pytest.raises(UsageError, match="--dedup has no effect with --autotune-size"):
        training_job("labeled.txt", str(tmp_path / "m.ftz"), model="supervised", **options).validate()
    options = {"doc_vectors": "d.vec", "min_line": 3}
    with pytest.raises(UsageError, match="--min-line has no effect with --doc-vectors"):
        training_job("text.txt", str(tmp_path / "m.d2v"), model="doc2vec", **options).validate()
