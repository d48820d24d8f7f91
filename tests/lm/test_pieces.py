"""Pieces of sentencepiece: its own, asked of models of words; and the perplexity of documents."""

import io
import json
import struct

import numpy as np
import pytest

from tests.conftest import run_wv
from tests.lm.golden import FOLDER, TINY, kenlm_files
from wv_cli._pieces import Unigram
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.lm.config import LmConfig, PiecesConfig
from wv_cli.lm.counts import count
from wv_cli.lm.estimate import estimate
from wv_cli.lm.files import load, save
from wv_cli.lm.perplexities import MODES, DocumentScorer
from wv_cli.lm.pieces import Pieces
from wv_cli.lm.preparation import Preparation
from wv_cli.lm.scoring import Scorer
from wv_cli.text.normalize import normalize_ccnet, normalize_datatrove
from wv_cli.text.source import Source
from wv_cli.text.unigram import NORMAL, PieceFile

LINES = b"".join(Source([str(TINY)])).decode().splitlines()
TEXTS = [
    *(
        "",
        " ",
        "The anarchists, in 1,234.56 lines",
        "one line\n\nand Another\n",
        "日本 and 日本語 \u2028 日",
        "</s> <s> <unk>",
    ),
    *("nul \0 and tab \t", "\udcff bytes \ud800", "😀", *LINES[:30]),
]


def test_the_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sentencepiece", None)
    with pytest.raises(WvError, match="--tokenizer needs the package sentencepiece; pip install sentencepiece"):
        Pieces(tmp_path / "any.model")


def test_normalization_needs_no_package(tmp_path):
    text = tmp_path / "text"
    text.write_text("The 12\nÉ the\n")
    blocks = Preparation(PiecesConfig(normalize="ccnet")).blocks([b"The 1", b"2\n\xc3", b"\x89 the"])
    assert b"".join(blocks) == b"the 00\ne the\n"
    result = run_wv("lm", "score", str(FOLDER / "micro.o3.arpa"), "--normalize", "ccnet", input="A B\n")
    assert "OOV: 0" in result.stdout


@pytest.fixture(scope="module")
def package():
    return pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")


@pytest.fixture(scope="module")
def tokenizer(package, tmp_path_factory):
    """A model of 150 pieces that was trained here, without those for digits and capitals."""
    path, stream = tmp_path_factory.mktemp("pieces") / "sp.model", io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES[:60]), model_writer=stream, vocab_size=150, minloglevel=2, num_threads=1
    )
    path.write_bytes(stream.getvalue())
    return path


@pytest.fixture(scope="module")
def model(tokenizer, tmp_path_factory):
    """A model of the pieces of a text, some of which only its spelling knows (日)."""
    text = tmp_path_factory.mktemp("model") / "text"
    blocks = [line.encode() + b"\n" for line in [*LINES[:60], "日本 and 語"]]
    text.write_bytes(b"".join(Preparation(PiecesConfig(tokenizer=str(tokenizer))).blocks(blocks)))
    return estimate(count([str(text)], LmConfig(order=3)), LmConfig(order=3)).model


def test_pieces_are_its_own(package, tokenizer):
    own = package.SentencePieceProcessor(model_file=str(tokenizer))
    texts = [text for text in TEXTS if text.isprintable() and text.encode("utf-8", "replace").decode() == text]
    pieces = Pieces(tokenizer)
    assert pieces.cut(texts) == [own.encode_as_pieces(text) for text in texts]
    assert pieces.ids(texts) == [own.encode_as_ids(text) for text in texts]
    assert pieces.cut(["a\udcff\ud800"]) == own.encode([b"a\xff\xff"], out_type=str)


ODD = "\t\n\u00a0\u3000 ab\u0301éÅ①ﬁ日ｱﾞ\u200b\0.,1２▁Σ😀"


@pytest.mark.parametrize(
    "rule, extra", [("nmt_nfkc", True), ("nmt_nfkc", False), ("identity", False), ("nfkc_cf", True)]
)
def test_our_own_cut_is_that_of_the_package(package, tmp_path, rule, extra):
    stream, random = io.BytesIO(), np.random.default_rng(1)
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES[:60]), model_writer=stream, vocab_size=150, minloglevel=2, num_threads=1,
        normalization_rule_name=rule, remove_extra_whitespaces=extra, add_dummy_prefix=extra,
    )  # fmt: skip
    (tmp_path / "sp.model").write_bytes(stream.getvalue())
    pieces = Pieces(tmp_path / "sp.model")
    drawn = ["".join(random.choice(list(ODD + "the of a "), size)) for size in random.integers(0, 25, 500)]
    texts = [*TEXTS, *drawn]
    wanted, cut = pieces._encode(texts, int), pieces._encode(texts, str)
    assert (pieces.ids(texts), pieces.cut(texts)) == (wanted, cut)
    stream, unknown = pieces.stream(texts)
    assert unknown is not None, "the package cut"
    assert stream.tolist() == [id for row in wanted for id in (*row, -1)]
    spelled = [
        piece for row, ids in zip(cut, wanted, strict=True) for piece, id in zip(row, ids, strict=True) if not id
    ]
    assert [unknown.bytes_at(i).decode() for i in range(len(unknown))] == spelled


@pytest.mark.parametrize("grid", [0.1, 0.25, 0.3])
def test_ties_are_decided_as_the_package_decides_them(package, tokenizer, tmp_path, grid):
    """Scores on a grid make many ways equal, or equal but for the rounding of their float32 sums."""
    contents, place = bytearray(tokenizer.read_bytes()), 0
    for spelling, score, kind in PieceFile.from_bytes(bytes(contents)).pieces:
        mark = b"\n" + bytes([len(spelling)]) + spelling + b"\x15"
        place = contents.index(mark, place) + len(mark)
        if kind == NORMAL:
            contents[place : place + 4] = struct.pack("<f", round(score / grid) * grid)
    (tmp_path / "sp.model").write_bytes(contents)
    own, pieces, random = Pieces(tmp_path / "sp.model"), Pieces(tmp_path / "sp.model"), np.random.default_rng(3)
    texts = ["".join(random.choice(list("aeioust nrdlh"), 200)) for _ in range(300)]
    assert pieces.ids(texts) == own._encode(texts, int)


@pytest.mark.parametrize("options", [{"byte_fallback": True}, {"model_type": "bpe"}, {"user_defined_symbols": "xy"}])
def test_other_models_are_cut_by_the_package(package, tmp_path, options):
    stream = io.BytesIO()
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES[:60]), model_writer=stream, minloglevel=2, num_threads=1,
        **{"vocab_size": 400 if "byte_fallback" in options else 150} | options,
    )  # fmt: skip
    (tmp_path / "sp.model").write_bytes(stream.getvalue())
    pieces = Pieces(tmp_path / "sp.model")
    stream, unknown = pieces.stream(TEXTS)
    assert unknown is None
    assert stream.tolist() == [id for row in pieces.ids(TEXTS) for id in (*row, -1)]


def test_damaged_pieces_and_rules_are_refused():
    def model(pieces, rules=b""):
        plain = {"adds_prefix": True, "removes_blanks": True, "escapes": True}
        return Unigram(pieces, rules, unknown=0, unknown_score=-20.0, **plain)

    for pieces in ([(b"", 1, 0.0)], [(b"a", 1, 0.0), (b"a", 2, 0.0)]):
        with pytest.raises(ValueError, match="empty, or comes twice"):
            model(pieces)
    for rules in (b"abc", b"\xff\xff\xff\x7f" + bytes(8), bytes(4) + b"a"):
        with pytest.raises(ValueError, match="rules do not fit"):
            model([(b"a", 1, 0.0)], rules)
    nowhere = (4).to_bytes(4, "little") + b"\xff\xff\xff\x7f" + b"a\0"
    with pytest.raises(ValueError, match="rules do not fit"):
        model([(b"a", 1, 0.0)], nowhere).cut([b"a"])


def test_blocks_may_be_cut_anywhere(tokenizer):
    preparation = Preparation(PiecesConfig(normalize="datatrove", tokenizer=str(tokenizer)))
    text = "\n".join(TEXTS[:7]).encode() + b"\xff"
    whole = b"".join(preparation.blocks([text]))
    assert whole.count(b"\n") == text.count(b"\n") + 1
    for step in (1, 5, 64):
        assert b"".join(preparation.blocks(text[i : i + step] for i in range(0, len(text), step))) == whole


def expected(model, tokenizer, sentences):
    """(log10 p, events) of sentences by what the package and a Scorer say."""
    lines = [" ".join(pieces).replace("\0", "\1").replace("\n", " ") for pieces in Pieces(tokenizer).cut(sentences)]
    parts = list(Scorer(model).read(["".join(f"{line}\n" for line in lines).encode()]))
    scores = np.concatenate([part.scores for part in parts])
    return float(scores.sum(dtype=np.float64)), len(scores)


@pytest.mark.parametrize("mode", MODES)
def test_perplexities_by_their_definition(model, tokenizer, mode):
    sentences = {
        "ccnet": lambda text: [normalize_ccnet(text)],
        "lines": lambda text: [normalize_ccnet(line) for line in text.split("\n")],
        "raw": lambda text: [text],
        "datatrove": lambda text: [normalize_datatrove(text)],
    }[mode]
    scorer = DocumentScorer(model, Pieces(tokenizer), mode)
    sums, events = scorer.scores(TEXTS)
    found = scorer.perplexities(iter(TEXTS))
    assert np.isnan(found[0]) == (mode in ("ccnet", "lines"))
    for i, text in enumerate(TEXTS[1:], 1):
        log10, n = expected(model, tokenizer, sentences(text))
        assert events[i] == n
        assert sums[i] == pytest.approx(log10, rel=1e-6)
        assert found[i] == pytest.approx(10 ** (-log10 / n), rel=1e-5)
    assert scorer.perplexities([]).shape == (0,)


def test_unknown_pieces_are_found_by_their_spelling(model, tokenizer):
    pieces, scorer = Pieces(tokenizer), DocumentScorer(model, Pieces(tokenizer), "raw")
    (known,) = pieces.cut(["日本"])
    assert known[-1] == "日本" and model.words.find("日本") > 0
    assert scorer.scores(["日本"])[0] > scorer.scores(["本日"])[0]


def test_kenlm_files_and_long_streams(tokenizer, tmp_path):
    kenlm = load(kenlm_files(tmp_path) / "words.o4.trie-a4.bin")
    scorer = DocumentScorer(kenlm, Pieces(tokenizer), "raw")
    many = [text for _ in range(3) for text in TEXTS]
    found = scorer.perplexities(many)
    assert np.array_equal(found[: len(TEXTS)], found[-len(TEXTS) :])
    log10, n = expected(kenlm, tokenizer, [TEXTS[10]])
    assert found[10] == pytest.approx(10 ** (-log10 / n), rel=1e-5)


def test_unknown_modes_are_named(model, tokenizer):
    with pytest.raises(UsageError, match=r"unknown mode of perplexity 'lins'; did you mean 'lines'\?"):
        DocumentScorer(model, Pieces(tokenizer), "lins")


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        (b"no model of pieces\n", "'no model of pieces"),
        (b"\\data\\\nngram 1=1\n", "an ARPA file of n-grams"),
        (b"\x12\0", "'"),
    ],
)
def test_other_files_are_refused(package, tmp_path, contents, found):
    (tmp_path / "other.model").write_bytes(contents)
    with pytest.raises(BadFile, match=rf"byte 0: expected a model of sentencepiece \(\.model\), found {found}"):
        Pieces(tmp_path / "other.model")


@pytest.mark.parametrize("contents", [b"\x08\x05", b"\n\x02\x08\x05", b"\x12\x02\x18\x09", b"\x1a\x02\x10\x05"])
def test_a_number_where_a_model_has_bytes_is_a_value_error(contents):
    """A piece, its spelling and the table of the normalizer are bytes; the third is a kind of model that is none."""
    with pytest.raises(ValueError, match=r"^$"):
        PieceFile.from_bytes(contents)


def test_commands(model, tokenizer, tmp_path):
    save(str(tmp_path / "pieces.lm"), model)
    options = ("--tokenizer", str(tokenizer), "--normalize", "ccnet")
    result = run_wv("lm", "score", str(tmp_path / "pieces.lm"), *options, "--json", input="The 12 Anarchists\n")
    row = json.loads(result.stdout)
    log10, n = expected(model, tokenizer, ["the 00 anarchists"])
    assert row["events"] == n and row["log10"] == pytest.approx(log10, abs=1e-4)
    (tmp_path / "text").write_text("The 12 Anarchists\n")
    data = ("-d", str(tmp_path / "text"), "--json", "--resamples", "0")
    result = run_wv("eval", "perplexity", str(tmp_path / "pieces.lm"), *data, *options)
    assert json.loads(result.stdout)["results"][0]["perplexity"] == pytest.approx(10 ** (-log10 / n), rel=1e-4)
