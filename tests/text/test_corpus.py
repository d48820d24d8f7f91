"""Corpus: the id stream and vocabulary of real text against the reference implementation, in memory and spooled."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.processes import Process
from tests.reference.text import count_words, encode_lines, split_lines
from wv_cli.errors import UsageError, WvError
from wv_cli.text import id_stream as spool_module
from wv_cli.text.config import Marked, VocabConfig
from wv_cli.text.corpus import count, encode
from wv_cli.text.vocab import read_vocab
from wv_cli.words import WordList

words = st.sampled_from([b"a", b"b", b"c", b"dd", b"a-long-word-of-26-letters!"])
texts = st.lists(st.one_of(words, st.just(b"\n")), min_size=1, max_size=80).map(b" ".join)


def check(corpus, text, config):
    lines = split_lines(text)
    reference = count_words(lines, config.min_count, config.max_vocab)
    assert [corpus.vocab.words.bytes_at(i) for i in range(len(corpus.vocab))] == list(reference)
    assert corpus.vocab.counts.tolist() == list(reference.values())
    assert corpus.vocab.lines == len(lines)
    assert corpus.vocab.tokens_read == sum(map(len, lines))
    assert corpus.ids.tolist() == encode_lines(lines, list(reference))
    assert corpus.ids.dtype == np.int32
    assert corpus.ids.flags.c_contiguous
    assert not corpus.ids.flags.writeable
    assert corpus.tokens == corpus.vocab.tokens == np.count_nonzero(corpus.ids >= 0)
    assert corpus.lines == np.count_nonzero(corpus.ids == -1)


@pytest.mark.parametrize("config", [VocabConfig(), VocabConfig(min_count=1), VocabConfig(max_vocab=50)])
@pytest.mark.parametrize("memory", [None, 100_000, 1])
def test_real_text(config, memory, slice_text, tmp_path):
    corpus = encode([str(slice_text)], config, memory=memory, spool_beside=str(tmp_path / "out.vec"))
    check(corpus, slice_text.read_bytes(), config)
    assert list(tmp_path.iterdir()) == []


@given(texts, st.integers(1, 3), st.integers(0, 3), st.booleans())
def test_any_text(tmp_path_factory, text, min_count, max_vocab, spooled):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(text)
    config = VocabConfig(min_count=min_count, max_vocab=max_vocab)
    expected = count_words(split_lines(text), min_count)
    if not expected:
        with pytest.raises(WvError, match=r"no text|no word occurs"):
            encode([str(path)], config)
        return
    check(encode([str(path)], config, memory=1 if spooled else None), text, config)


def test_spooled_in_many_blocks(slice_text, tmp_path, monkeypatch):
    monkeypatch.setattr(spool_module, "_HELD", 1000)
    files = [str(slice_text)] * 8  # more than one block of the remapping, too
    in_memory = encode(files, VocabConfig())
    spooled = encode(files, VocabConfig(), memory=1, spool_beside=str(tmp_path / "x"))
    assert np.array_equal(in_memory.ids, spooled.ids)
    assert in_memory.digest == spooled.digest
    assert (in_memory.tokens, in_memory.lines) == (spooled.tokens, spooled.lines)


def test_the_digest_names_the_corpus(slice_text, tmp_path):
    text = slice_text.read_bytes()
    (tmp_path / "same").write_bytes(text.replace(b" ", b"\t\t"))
    (tmp_path / "lines").write_bytes(text.replace(b"\n", b" ", 1))
    one, same, lines = (encode([str(p)], VocabConfig()) for p in (slice_text, tmp_path / "same", tmp_path / "lines"))
    cut = encode([str(slice_text)], VocabConfig(max_vocab=100))
    assert one.digest == same.digest
    assert len({one.digest, lines.digest, cut.digest}) == 3


def test_golden_counts(slice_xz, tmp_path):
    """word2vec's and GloVe's own counts of the first 13,703 lines, their order of equal counts apart."""
    import lzma
    from itertools import islice

    with lzma.open(slice_xz) as packed:
        (tmp_path / "slice5m.txt").write_bytes(b"".join(islice(packed, 13703)))
    found = count([str(tmp_path / "slice5m.txt")], VocabConfig()).cut(VocabConfig(min_count=20))
    for name, lines in [("w2v.vocab", 13703), ("glove.vocab.txt", 0)]:
        golden = read_vocab(str(GOLDEN / name))
        assert dict(zip(found.words, found.counts, strict=True)) == dict(zip(golden.words, golden.counts, strict=True))
        assert golden.lines == lines
    assert found.lines == 13703
    assert found.tokens_read == 841127


def test_given_vocabulary(slice_text):
    vocab = read_vocab(str(GOLDEN / "w2v.vocab"))
    corpus = encode([str(slice_text)], VocabConfig(min_count=20), vocab=vocab)
    listed = [vocab.words.bytes_at(i) for i in range(len(vocab))]
    assert corpus.ids.tolist() == encode_lines(split_lines(slice_text.read_bytes()), listed)
    assert corpus.vocab is vocab  # its counts, not this text's
    cut = encode([str(slice_text)], VocabConfig(min_count=20, max_vocab=100), vocab=vocab)
    assert len(cut.vocab) == 100
    assert cut.ids.max() == 99
    spooled = encode([str(slice_text)], VocabConfig(min_count=20), vocab=vocab, memory=1)
    assert spooled.digest == corpus.digest


def test_labels_are_told_from_words_and_rare_words_may_be_kept(slice_text, tmp_path):
    path = tmp_path / "marked.txt"
    with slice_text.open("rb") as lines:
        path.write_bytes(b"".join(b"__l__%d %b" % (i % 3, next(lines)) for i in range(100)))
    plain = encode([path], VocabConfig(min_count=4))
    rare = next(word for word in encode([path], VocabConfig(min_count=1)).vocab.words if word not in plain.vocab.words)
    also = WordList.from_words(["__l__9", "</s>", "notthere", rare, plain.vocab.words[0]])
    corpus = encode([path], VocabConfig(min_count=4), marked=Marked("__l__", 34), also=also)
    words = [word for word in plain.vocab.words if not word.startswith("__l__")]
    assert list(corpus.vocab.words)[: len(words)] == words
    assert set(corpus.vocab.words[len(words) :]) == {"notthere", rare} and corpus.vocab.counts[-2:].tolist() == [1, 1]
    assert corpus.added == 2
    assert list(corpus.labels) == ["__l__0"] and corpus.label_counts.tolist() == [34]
    count = (corpus.ids == corpus.vocab.words.find(rare)).sum()
    assert 1 <= count < 4 and corpus.tokens == corpus.vocab.counts[:-2].sum() + count


def test_lowercase(tmp_path):
    (tmp_path / "x").write_text("The the THE ΣΑΣ σας")
    corpus = encode([str(tmp_path / "x")], VocabConfig(min_count=1, lowercase=True))
    assert corpus.ids.tolist() == [0, 0, 0, 1, 1, -1]


def test_count_is_not_cut(slice_text):
    reference = count_words(split_lines(slice_text.read_bytes()))
    vocab = count([str(slice_text)], VocabConfig(min_count=5))
    assert [vocab.words.bytes_at(i) for i in range(len(vocab))] == list(reference)
    assert vocab.counts.tolist() == list(reference.values())


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("content", [b"", b" \n\t\n \0\r\n"])
def test_no_text(content, tmp_path):
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    for read in (encode, count):
        with pytest.raises(WvError) as caught:
            read([str(path)], VocabConfig())
        assert str(caught.value) == f"{path}: no text: expected words divided by spaces or line ends, found none"


def test_nothing_kept(tmp_path):
    (tmp_path / "x").write_text("a b b")
    with pytest.raises(WvError, match=r"no word occurs 5 times .* 'b', occurs 2 times: lower --min-count"):
        encode([str(tmp_path / "x")], VocabConfig())
    with pytest.raises(WvError, match="none of the 3 words of the text is in the vocabulary; do they belong together"):
        (tmp_path / "v").write_text("other 9\n")
        encode([str(tmp_path / "x")], VocabConfig(), vocab=read_vocab(str(tmp_path / "v")))
    with pytest.raises(UsageError, match="--min-count"):
        encode([str(tmp_path / "x")], VocabConfig(min_count=0))
    assert encode([str(tmp_path / "x")], VocabConfig(min_count=2)).ids.tolist() == [0, 0, -1]


def test_a_spool_that_cannot_be_written(slice_text, tmp_path):
    with pytest.raises(WvError, match="cannot keep the word ids in a file here: no such file or directory"):
        encode([str(slice_text)], VocabConfig(), memory=1, spool_beside=str(tmp_path / "missing" / "x"))


def test_a_full_disk(slice_text, tmp_path):
    """A file size limit stands in for a full disk: the write fails half way."""
    script = (
        "import resource, signal, sys\n"
        "from wv_cli.text.corpus import encode\n"
        "from wv_cli.text.config import VocabConfig\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "encode([sys.argv[1]], VocabConfig(), memory=1, spool_beside=sys.argv[2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(slice_text), str(tmp_path / "x")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot keep the word ids in a file here: file too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_kill_9_leaves_nothing(slice_text, tmp_path):
    """The spool has no name from the start: the folder is empty while it is being written."""
    script = (
        "import sys\n"
        "from wv_cli.text.corpus import encode\n"
        "from wv_cli.text.config import VocabConfig\n"
        "tell = lambda *state: print('read', flush=True)\n"
        "encode([sys.argv[1], '-'], VocabConfig(), memory=1, spool_beside=sys.argv[2], progress=tell)\n"
    )
    command = [sys.executable, "-c", script, str(slice_text), str(tmp_path / "x")]
    with Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"read\n"
        assert process.stdout.readline() == b"read\n"  # the first chunk has been spooled by now
        links = [entry.readlink() for entry in Path(f"/proc/{process.pid}/fd").iterdir()]
        assert any(str(link).startswith(str(tmp_path)) and "deleted" in str(link) for link in links)
        assert list(tmp_path.iterdir()) == []
        process.kill()
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize(("memory", "megabytes"), [(None, 54 + 30), (10_000_000, 10 + 30)])
def test_peak_memory(memory, megabytes, slice_text):
    """4 bytes for each of 13.6 million ids and about 30 MB (20 are measured), or the limit and about 30 MB."""
    script = (
        "import sys\n"
        "from wv_cli.text.corpus import encode\n"
        "from wv_cli.text.config import VocabConfig\n"
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])\n"
        "before = peak()\n"
        "corpus = encode([sys.argv[1]] * 64, VocabConfig(), memory=int(sys.argv[2]) or None)\n"
        "print(len(corpus.ids), peak() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(slice_text), str(memory or 0)], capture_output=True, text=True, check=True
    )
    ids, kilobytes = map(int, done.stdout.split())
    assert ids > 12_000_000
    assert kilobytes / 1000 < megabytes


def test_no_descriptors_are_left_open():
    before = len(os.listdir("/proc/self/fd"))
    for memory in (None, 1) * 3:
        encode([str(GOLDEN / "w2v.vocab")], VocabConfig(min_count=1), memory=memory)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before
