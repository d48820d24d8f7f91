"""Counts do not depend on the memory they are made with, nor on the parts they are made in."""

import itertools

import numpy as np
import pytest

from tests.lm.golden import TINY, entries, text_of, trained, unpacked
from wv_cli.errors import BadFile, UsageError
from wv_cli.io import container, runs
from wv_cli.lm import counts as counts_module
from wv_cli.lm import packed as packed_module
from wv_cli.lm import trie as trie_module
from wv_cli.lm.config import CountConfig, LmConfig
from wv_cli.lm.count_files import load, save, sum_counts
from wv_cli.lm.counts import count
from wv_cli.lm.estimate import estimate
from wv_cli.lm.files import save as save_model

WHOLE = CountConfig(order=5)
KATZ = {"smoothing": "katz", "discount_fallback": True}


@pytest.fixture(scope="module")
def whole():
    return count([str(TINY)], WHOLE)


@pytest.fixture
def parts(tmp_path):
    """The counts of three parts of the text, written and read again."""
    lines = unpacked(TINY, tmp_path).read_text().splitlines(keepends=True)
    found = []
    for i, (begin, end) in enumerate([(0, 7), (7, 200), (200, 300)]):
        text, path = tmp_path / f"{i}.txt", str(tmp_path / f"{i}.counts")
        text.write_text("".join(lines[begin:end]))
        save(path, count([str(text)], WHOLE))
        found.append(load(path))
    return found


def assert_same(one, other):
    assert one.trie.words == other.trie.words
    for name in ("levels", "word", "first", "suffix"):
        assert np.array_equal(getattr(one.trie, name), getattr(other.trie, name)), name
    assert np.array_equal(one.count, other.count)


@pytest.mark.parametrize("order", [1, 2, 5, 10])
def test_every_ngram_is_counted(order, tmp_path):
    """Against a dictionary."""
    expected: dict[str, int] = {}
    for line in unpacked(TINY, tmp_path).read_text().splitlines():
        words = ["<s>", *line.split(), "</s>"]
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + order, len(words)) + 1):
                ngram = " ".join(words[begin:end])
                expected[ngram] = expected.get(ngram, 0) + 1
    counts = count([str(TINY)], CountConfig(order=order))
    trie, found = counts.trie, {}
    for length in range(1, order + 1):
        for row, number in zip(trie.rows(length).tolist(), counts.count[trie.level(length)].tolist(), strict=True):
            found[" ".join(trie.words[word] for word in row)] = number
    assert found.pop("<unk>") == 0
    assert found == expected


@pytest.fixture
def small(monkeypatch):
    """--memory bounds the buffers alone, and may be as small as it likes, so that short texts take every path."""
    monkeypatch.setattr(counts_module, "_LEAST_ROOM", 1)
    monkeypatch.setattr(counts_module.process, "for_buffers", lambda limit: limit)


@pytest.mark.parametrize("most", [2, 256])
def test_memory_changes_nothing(small, whole, monkeypatch, tmp_path, most):
    """Five segments in one pass of merging, or in several."""
    monkeypatch.setattr(runs, "_MOST_RUNS", most)
    assert_same(count([str(TINY)], WHOLE, memory=30_000, spool_beside=str(tmp_path / "out")), whole)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("memory", [None, 30_000, 400_000])
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("options", [{}, {"prune": "0,1,1,2"}, KATZ, {"prune_entropy": 1e-7}])
def test_threads_and_memory_change_no_byte(small, monkeypatch, tmp_path, memory, threads, options):
    """Of files, nor of the numbers: blocks of n-grams are the same, whoever works on them."""
    monkeypatch.setattr(trie_module, "_BLOCK", 1000)
    monkeypatch.setattr(counts_module, "_HELD", 500)
    monkeypatch.setattr(packed_module, "_BLOCK", 1024)
    files = []
    for name, bound, number in (("one", None, 1), ("other", memory, threads)):
        config = LmConfig(order=4, threads=number, **options)
        found = count([str(TINY)], config, memory=bound, spool_beside=str(tmp_path / "out"))
        save_model(str(tmp_path / f"{name}.lm"), estimate(found, config).model)
        files.append((tmp_path / f"{name}.lm").read_bytes())
    assert files[0] == files[1]
    assert {path.name for path in tmp_path.iterdir()} == {"one.lm", "other.lm"}


def test_blocks_have_whole_contexts(whole, monkeypatch):
    monkeypatch.setattr(trie_module, "_BLOCK", 50)
    trie = whole.trie
    for length in range(2, 6):
        blocks = list(trie.blocks(length))
        assert (
            len(blocks) > 10 and blocks[0].start == trie.levels[length - 1] and blocks[-1].stop == trie.levels[length]
        )
        assert all(a.stop == b.start for a, b in itertools.pairwise(blocks))
        seen = []
        for nodes in blocks:
            contexts, starts = trie.contexts(length, nodes)
            assert np.array_equal(trie.first[contexts] - nodes.start, starts)
            seen += range(contexts.start, contexts.stop)
        level = trie.level(length - 1)
        assert seen == list(range(level.start, level.stop))
        rows = np.concatenate([trie.rows_of(length, nodes) for nodes in blocks])
        assert np.array_equal(rows, trie.rows(length)) and len(np.unique(rows, axis=0)) == len(rows)


def test_a_line_longer_than_a_segment(small, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(" ".join(unpacked(TINY, tmp_path).read_text().split()) + "\nthe end\n")
    config = CountConfig(order=3)
    assert_same(count([str(text)], config, memory=30_000), count([str(text)], config))


def test_parts_add_up(whole, parts, tmp_path):
    assert_same(sum_counts(parts), whole)
    path = str(tmp_path / "first two.counts")
    save(path, sum_counts(parts[:2], memory=1))
    assert_same(sum_counts([load(path), parts[2]]), whole)


def test_shorter_ngrams_of_longer_counts(parts):
    assert_same(sum_counts(parts, 2), count([str(TINY)], CountConfig(order=2)))
    with pytest.raises(UsageError, match="n-grams of up to 5 words"):
        sum_counts(parts, 6)


def test_the_model_of_summed_counts(parts):
    config = LmConfig(order=5)
    assert entries(estimate(sum_counts(parts), config).model) == entries(trained(TINY, config).model)


def test_the_commands(wv, tmp_path):
    text = unpacked(TINY, tmp_path)
    for name, source in (("a", text), ("b", text_of("micro.o3"))):
        assert wv("lm", "train", source, "--counts-only", "-o", f"{name}.counts", "-q").returncode == 0
    both = wv("lm", "train", "--counts", "a.counts", "--counts", "b.counts", "-o", "summed.arpa")
    assert "21,841 words in 310 sentences" in both.stderr
    at_once = wv("lm", "train", text, text_of("micro.o3"), "-o", "whole.arpa", "--memory", "1k", "-q")
    assert at_once.returncode == 0
    assert (tmp_path / "summed.arpa").read_bytes() == (tmp_path / "whole.arpa").read_bytes()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("--counts a.counts text.txt -o out.lm", "INPUT and --counts cannot be used together"),
        ("-o out.lm", "INPUT is missing (or --counts FILE)"),
        ("--counts a.counts -o out.lm --lowercase", "--counts and --lowercase cannot be used together"),
        ("text.txt --counts-only -o out --prune 1", "--counts-only and --prune cannot be used together"),
        ("text.txt --counts-only -o out --to arpa", "--counts-only and --to cannot be used together"),
        ("--counts text.txt -o out.lm", "expected a ngram-counts file"),
        ("--counts a.counts -o a.counts --counts-only", "is also an input"),
        ("--counts a.counts -o out.lm --prune 0,0,0,1", "--prune 0,0,0,1 has 4 numbers, but --order is 3"),
        ("--counts a.counts -o out.lm --order 4", "n-grams of up to 3 words"),
    ],
)
def test_calls_that_are_refused(wv, tmp_path, call, message):
    (tmp_path / "text.txt").write_text("the cat sat\n")
    assert wv("lm", "train", "text.txt", "--counts-only", "-o", "a.counts", "-q", "--no-meta").returncode == 0
    done = wv("lm", "train", *call.split())
    assert done.returncode in (1, 2) and message in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "a.counts"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays["count"].__setitem__(5, -1), "negative"),
        (lambda arrays: arrays["count"].__setitem__(5, 2**62), "too large"),
        (lambda arrays: arrays["count"].__setitem__(-1, 99), "those of no text"),
        (lambda arrays: arrays["count"].__setitem__(5, 99), "those of no text"),
        (lambda arrays: arrays["word"].__setitem__(-1, 99), "words of the n-grams"),
        (lambda arrays: arrays["first"].__setitem__(3, 1), "do not follow each other"),
        (lambda arrays: arrays["letters"].__setitem__(0, 65), "not those of a model"),
    ],
)
def test_damaged_counts(tmp_path, change, message):
    path = tmp_path / "micro.counts"
    counts = count([str(text_of("micro.o3"))], CountConfig(order=3))
    trie = counts.trie
    arrays = {
        "letters": np.frombuffer(trie.words.blob, np.uint8).copy(),
        "starts": trie.words.starts.copy(),
        "levels": trie.levels.copy(),
        "word": trie.word.copy(),
        "first": trie.first.copy(),
        "count": counts.count.copy(),
    }
    change(arrays)
    container.save(path, "ngram-counts", {"order": 3}, arrays)
    with pytest.raises(BadFile, match=message):
        load(path)
