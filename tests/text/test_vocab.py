"""Vocabularies: order, cuts, sums, and the files of word2vec and GloVe."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.text.config import VocabConfig
from wv_cli.text.vocab import Vocab, merge_vocabs, read_ranked_vocab, read_vocab, write_vocab
from wv_cli.words import WordList

SEPARATORS = b" \t\v\f\r\n\0"
word = st.binary(min_size=1, max_size=24).filter(lambda w: not set(w) & set(SEPARATORS))
counted = st.dictionaries(word, st.integers(1, 2**40), min_size=1, max_size=30)


def vocab(counts, lines=0):
    ranked = sorted(
        ((w.encode() if isinstance(w, str) else w, n) for w, n in counts.items()), key=lambda item: -item[1]
    )
    array = np.array([n for _, n in ranked], np.int64)
    return Vocab(WordList.from_words([w for w, _ in ranked]), array, lines, int(array.sum()))


def same(a, b):
    return a.words == b.words and a.counts.tolist() == b.counts.tolist() and a.lines == b.lines


def write(path, content):
    path.write_bytes(content)
    return str(path)


# ---------------------------------------------------------------- files


def test_word2vec_golden_file(tmp_path):
    read = read_vocab(str(GOLDEN / "w2v.vocab"))
    assert (len(read), read.lines, read.tokens) == (4330, 13703, 717507)
    assert read.words[:3] == WordList.from_words(["the", "of", "and"])
    assert read.counts[:2].tolist() == [57335, 29936]
    write_vocab(str(tmp_path / "again"), read)
    assert (tmp_path / "again").read_bytes() == (GOLDEN / "w2v.vocab").read_bytes()


def test_glove_golden_file(tmp_path):
    read = read_vocab(str(GOLDEN / "glove.vocab.txt"))
    assert (len(read), read.lines, read.tokens) == (4330, 0, 717507)
    write_vocab(str(tmp_path / "again"), read, sentence_end=False)
    assert (tmp_path / "again").read_bytes() == (GOLDEN / "glove.vocab.txt").read_bytes()


@given(counted, st.integers(0, 10**9))
def test_round_trip(tmp_path_factory, counts, lines):
    path = str(tmp_path_factory.getbasetemp() / "round-trip.vocab")
    written = vocab(counts, lines)
    write_vocab(path, written)
    read = read_vocab(path)
    assert same(read, written)
    assert read.digest == written.digest


def test_rows_in_any_order_with_tabs_and_carriage_returns(tmp_path):
    path = write(tmp_path / "v", b"rare\t1\r\nthe 30\r\nalso  1 \nof\t 20")
    read = read_vocab(path)
    assert list(read.words) == ["the", "of", "rare", "also"]
    assert read.counts.tolist() == [30, 20, 1, 1]


def test_a_word_that_looks_like_the_sentence_end(tmp_path):
    """Only a first row `</s>` counts lines; further down it is a word like another."""
    strange = vocab({"</s>": 9, "a": 2}, lines=4)
    write_vocab(str(tmp_path / "v"), strange)
    assert same(read_vocab(str(tmp_path / "v")), strange)
    with pytest.raises(UsageError, match="cannot stand in the first row; use --sentence-end"):
        write_vocab(str(tmp_path / "g"), strange, sentence_end=False)


def test_text_without_line_ends_has_zero_of_them(tmp_path):
    assert read_vocab(write(tmp_path / "v", b"</s> 0\na 1\n")).lines == 0


def test_compressed(tmp_path):
    packed = write(tmp_path / "v.gz", gzip.compress((GOLDEN / "w2v.vocab").read_bytes()))
    assert same(read_vocab(packed), read_vocab(str(GOLDEN / "w2v.vocab")))


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"", None, "expected lines of `word count`, found none"),
        (b"</s> 3\n", None, "expected lines of `word count`, found none"),
        (b"a 1\nb\n", 2, "expected a word and its count (1 or more), found 'b'"),
        (b"a 1\nb c\n", 2, "expected a word and its count (1 or more), found 'b c'"),
        (b"a 1 2\n", 1, "expected a word and its count (1 or more), found 'a 1 2'"),
        (b" 1\n", 1, "expected a word and its count (1 or more), found ' 1'"),
        (b"a -1\n", 1, "expected a word and its count (1 or more), found 'a -1'"),
        (b"a 1.5\n", 1, "expected a word and its count (1 or more), found 'a 1.5'"),
        (b"a 3\nb 0\n", 2, "expected a word and its count (1 or more), found 'b 0'"),
        (b"</s> 3\na 3\nb 0\n", 3, "expected a word and its count (1 or more), found 'b 0'"),
        (b"a 99999999999999999999\n", 1, "expected a word and its count (1 or more), found 'a 99999999999999999999'"),
        (b"a 3\n\nb 2\n", 2, "expected a word and its count, found an empty line"),
        (b"a\0b 3\n", 1, "expected a word and its count (1 or more), found 'a\\x00b 3'"),
        (b"\xff\xfb\x90d" + b"rubbish" * 20 + b"\n", 1, None),
        (b"a 3\nb 2\na 1\n", 3, "the word 'a' was already given in line 1; remove one of them"),
        (b"</s> 9\na 3\nb 2\nb 1\n", 4, "the word 'b' was already given in line 3; remove one of them"),
        (
            b"</s> 1\na 9000000000000000000\nb 1\nc 9000000000000000000\n",
            4,
            "with 9,000,000,000,000,000,000 of 'c' the counts add up to 2^63 or more; give the counts of this text",
        ),
        (
            b"a 9223372036854775807\nb 1\n",
            2,
            "with 1 of 'b' the counts add up to 2^63 or more; give the counts of this text",
        ),
    ],
)
def test_bad_files(content, line, problem, tmp_path):
    path = write(tmp_path / "bad.vocab", content)
    with pytest.raises(BadFile) as caught:
        read_vocab(path)
    assert caught.value.line == line
    if problem is not None:
        place = path if line is None else f"{path}:{line}"
        assert str(caught.value) == f"{place}: {problem}".replace("\0", "\\x00")
    assert "\0" not in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(WvError, match="no such file or directory; check the spelling"):
        read_vocab(str(tmp_path / "missing"))


def test_an_unwritable_place_harms_nothing(tmp_path):
    with pytest.raises(WvError, match="/no does not exist; create it first"):
        write_vocab(str(tmp_path / "no" / "v"), vocab({"a": 1}))
    with pytest.raises(WvError, match="no space left"):
        write_vocab("/dev/full", vocab({"a": 1}))


def test_by_rank_a_line_number_is_a_word_s_id(tmp_path):
    path = tmp_path / "v"
    path.write_bytes(b"</s> 1\nof 4\nthe 9\nof 4\n")
    found = read_ranked_vocab(str(path))
    assert list(found.words) == ["</s>", "of", "the", "of"] and found.counts.tolist() == [1] * 4
    path.write_bytes(b"")
    assert len(read_ranked_vocab(str(path))) == 0
    path.write_bytes(b"the 9\nof\n")
    with pytest.raises(BadFile, match="v:2: expected a word and its count"):
        read_ranked_vocab(str(path))


# ---------------------------------------------------------------- cuts and sums


def test_cut():
    whole = vocab({"a": 9, "b": 5, "c": 5, "d": 1}, lines=3)
    cut = whole.cut(VocabConfig(min_count=5))
    assert list(cut.words) == ["a", "b", "c"]
    assert (cut.tokens, cut.tokens_read, cut.lines) == (19, 20, 3)
    assert list(whole.cut(VocabConfig(min_count=1, max_vocab=2)).words) == ["a", "b"]
    assert whole.cut(VocabConfig(min_count=1)) is whole
    assert cut.digest != whole.digest


def test_an_empty_cut_says_what_to_do():
    with pytest.raises(WvError) as caught:
        vocab({"the": 3, "of": 1}).cut(VocabConfig(min_count=4))
    assert str(caught.value) == (
        "no word occurs 4 times (--min-count 4); the most frequent, 'the', occurs 3 times: "
        "lower --min-count or give more text"
    )
    with pytest.raises(UsageError, match="--min-count must be at least 1"):
        vocab({"a": 1}).cut(VocabConfig(min_count=0))


def test_digest_sees_words_counts_and_borders():
    digests = {
        vocab(counts).digest for counts in [{"ab": 2, "c": 1}, {"a": 2, "bc": 1}, {"ab": 3, "c": 1}, {"ab": 2, "d": 1}]
    }
    assert len(digests) == 4


@given(st.lists(counted, min_size=1, max_size=4))
def test_merge_sums(shards):
    merged = merge_vocabs([vocab(shard, lines=i) for i, shard in enumerate(shards)])
    sums = {}
    for shard in shards:
        for w, n in sorted(shard.items(), key=lambda item: -item[1]):
            sums[w] = sums.get(w, 0) + n
    assert same(merged, vocab(sums, lines=sum(range(len(shards)))))
    assert merged.tokens_read == sum(sums.values())


def test_sums_that_no_count_can_be_are_refused():
    half = vocab({"a": 3, "b": 2**62})
    with pytest.raises(WvError, match="the counts of 'b' add up to 2\\^63 or more"):
        merge_vocabs([half, half])
    with pytest.raises(WvError, match="the vocabularies have 9,223,372,036,854,776,835 words in all"):
        merge_vocabs([half, vocab({"c": 2**62, "d": 2**10})])
    with pytest.raises(WvError, match="lines in all; 2\\^63 or more cannot be counted"):
        merge_vocabs([vocab({"a": 1}, lines=2**62), vocab({"a": 1}, lines=2**62)])
    assert merge_vocabs([half, vocab({"b": 2**62 - 10})]).counts.tolist() == [2**63 - 10, 3]


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), min_size=1, max_size=4))
def test_the_order_of_equal_sums(texts):
    """As one pass over the texts has it, but for what a file sorted by count cannot tell."""
    in_order = [word for text in texts for word in text]
    parts = [vocab({word: text.count(word) for word in dict.fromkeys(text)}) for text in texts]
    merged = list(merge_vocabs(parts).words)
    sums = {word: in_order.count(word) for word in in_order}
    first = {word: next(text.count(word) for text in texts if word in text) for word in sums}
    one_pass = sorted(sums, key=lambda word: (-sums[word], in_order.index(word)))
    assert [sums[word] for word in merged] == [sums[word] for word in one_pass]
    for i, word in enumerate(merged):
        for other in merged[i + 1 :]:
            if sums[word] == sums[other] and one_pass.index(word) > one_pass.index(other):
                assert first[word] > first[other]
