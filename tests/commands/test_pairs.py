"""Runs of `wv train --model pairs`: what is read of records, what a run begins with, the folder that it leaves."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN, Run
from wv_cli import train
from wv_cli.commands.pair_tables import Pieces, Words
from wv_cli.commands.pairs import PairReading
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, TimedOut, UsageError, WvError
from wv_cli.evaluation import TASKS
from wv_cli.evaluation.config import StsConfig
from wv_cli.io.folders import find_folder
from wv_cli.text.config import VocabConfig
from wv_cli.text.pairs import PairFiles
from wv_cli.vectors import formats
from wv_cli.vectors.formats.static import StaticModel

TOKENIZER = GOLDEN / "encoders" / "tiny-bert" / "tokenizer.json"
STATIC = GOLDEN / "encoders" / "static-model2vec"
PAIRS = [("a\tcat", "the Cat, ran"), ('the "dog', "A dog barks")]
FEW = {"dim": 8, "batch": 8, "min_count": 1, "epochs": 3}


def rows_of(number):
    """Pairs of a few words: the positive has other words than the anchor, the same ones for the same topic."""
    random = np.random.default_rng(number)
    topics = [(f"q{t}a q{t}b q{t}c".split(), f"d{t}a d{t}b d{t}c".split()) for t in range(12)]
    return [
        (" ".join(random.permutation(topics[i % 12][0])), " ".join(random.permutation(topics[i % 12][1])) + f" n{i}")
        for i in range(number)
    ]


@pytest.fixture
def pairs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, number in (("train.tsv", 200), ("valid.tsv", 24)):
        Path(name).write_text("anchor\tpositive\n" + "".join(f"{a}\t{b}\n" for a, b in rows_of(number)))
    return tmp_path


def vectors_of(folder, texts):
    encoder = open_encoder(folder)
    return encode(encoder, texts, [Pooling.parse(encoder.pooling, encoder.layers, encoder.name)])[0].vectors


def test_records_of_every_kind_are_the_same_pairs(tmp_path):
    rows = [("one cat", "two, dogs", "three"), ('a "b" c', "d e", "f")]
    names = ["anchor", "positive", "negative"]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    for name, header in (("p.csv", [names]), ("bare.csv", [])):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([*header, *rows])
    tabs = "".join("\t".join(row) + "\n" for row in rows)
    (tmp_path / "bare.tsv").write_text(tabs.rstrip("\n"))
    (tmp_path / "p.tsv").write_text("\t".join(names) + "\r\n" + tabs.replace("\n", "\r\n"))
    wanted = [tuple(cell.encode() for cell in row) for row in rows]
    for name in ("p.jsonl", "p.csv", "p.tsv", "bare.csv", "bare.tsv"):
        bare, path = name.startswith("bare"), str(tmp_path / name)
        fields = ["1", "2", "3"] if bare else names
        assert [pair for batch in PairFiles([path], fields, bare).batches() for pair in batch] == wanted, name
        usual = [pair for batch in PairFiles([path], (), bare).batches() for pair in batch]
        assert usual == [pair[: 3 if bare else 2] for pair in wanted], name
        swapped = [fields[1], fields[0]]
        turned = [pair for batch in PairFiles([path], swapped, bare).batches() for pair in batch]
        assert turned == [(b, a) for a, b, _ in wanted], name


@pytest.mark.parametrize(
    ("name", "text", "options", "problem"),
    [
        (
            "p.tsv",
            "a\tb\nc\td\n",
            {},
            "p.tsv: expected the field anchor, found a, b; .* fields, or give no_header",
        ),
        ("p.tsv", "\x1b[31m\tb\nc\td\n", {}, r"p.tsv: expected the field anchor, found '\\x1b\[31m', b; "),
        (
            "p.tsv",
            "a\tb\nc\n",
            {"no_header": True},
            "p.tsv:2: .*as many fields as .*; a quote is a letter unless tsv_quotes",
        ),
        ("p.tsv", "a\nb\n", {"no_header": True}, "p.tsv:1: expected an anchor and a positive, found one column"),
        (
            "p.tsv",
            "a\tb\n",
            {"no_header": True, "fields": "1,3"},
            "p.tsv: expected the field 3, found 1 to 2",
        ),
        ("p.csv", "anchor,positive\na,b\nc\n", {}, "p.csv:3: .*as many fields as the header"),
        ("p.csv", "x,y\na,b\n", {}, "p.csv: expected the field anchor, found x, y"),
        ("p.jsonl", '{"anchor": "a", "positive": "b"}\n{"anchor": "a"}\n', {}, "p.jsonl:2: .*no field positive"),
        ("p.jsonl", '{"anchor": "a", "positive": "b"}\n', {"no_header": True}, "no_header is about CSV and TSV"),
        ("p.tsv", "\ufeffa\tb\n".encode("utf-16-le"), {"no_header": True}, "p.tsv: .*UTF-16"),
        (
            "p.tsv",
            b"\x00\x01model",
            {"no_header": True},
            "p.tsv:1: expected an anchor and a positive, found one column",
        ),
        ("p.tsv", b"\x00" * 99, {}, "p.tsv: expected TSV, found binary data"),
        ("p.tsv", bytes(5000) + b"\n", {"no_header": True}, "p.tsv: expected TSV, found "),
        ("p.csv", "a;b;c\n", {"no_header": True, "min_count": 2}, "no word occurs 2 times"),
        ("p.txt", "a\tb\n", {}, "p.txt: expected pairs of texts in a file named .jsonl, .csv, .tsv, .parquet"),
        ("p.tsv", "anchor\tpositive\n", {}, "no pairs"),
        ("p.tsv", "anchor\tpositive\n\t\n", {}, "no text"),
        ("p.tsv", "a\tb\n", {"fields": "1"}, "fields takes an anchor, a positive"),
        ("p.tsv", "a\tb\n", {"nested": "32,x"}, "nested takes dimensions"),
        ("p.tsv", "a\tb\n", {"nested": "16"}, r"nested takes up to 15 dimensions below dim \(8\)"),
        ("p.tsv", "a\tb\n", {"tokenizer": "none.json"}, "none.json: cannot read"),
        ("p.tsv", "a\tb\n", {"tokenizer": "p.tsv"}, "p.tsv: expected the settings of a tokenizer"),
        ("p.tsv", "a\tb\n", {"init": str(STATIC), "tokenizer": "p.tsv"}, "has a tokenizer of its own"),
        ("p.tsv", "a\tb\n", {"init": str(STATIC)}, "min_count has no effect with init"),
        ("p.tsv", "a\tb\n", {"deterministic": True}, "deterministic has no effect with model pairs"),
        ("p.tsv", "a\tb\n", {"bad_records": "error"}, "bad_records has no effect with model pairs"),
    ],
)
def test_what_is_no_pair_is_told_in_a_line(name, text, options, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    few = {key: value for key, value in FEW.items() if key != "min_count" or "tokenizer" not in options}
    with pytest.raises((WvError, BadFile, UsageError), match=problem):
        train(name, "out", model="pairs", **{**few, **options})
    assert sorted(path.name for path in Path().iterdir()) == [name]


def test_an_ending_that_names_no_format_is_no_folder(pairs):
    with pytest.raises(UsageError, match=r"ending '\.2' .*; out\.2/ is a folder's name"):
        train("train.tsv", "out.2", model="pairs", **FEW)
    train("train.tsv", "out.2/", model="pairs", **FEW)
    assert {"model.safetensors", "tokenizer.json", "config.json", "modules.json", "README.md"} == {
        p.name for p in Path("out.2").iterdir()
    }
    assert Path("out.2.meta.json").exists()


def test_texts_of_a_pair_come_near_each_other(pairs):
    told = []
    facts = train(
        "train.tsv", "out", model="pairs", nested="4", log=lambda m, **f: told.append(m), **{**FEW, "epochs": 8}
    )
    anchors, positives = (vectors_of("out", list(side)) for side in zip(*rows_of(12), strict=True))
    for dim in (4, 8):
        a, b = (each[:, :dim] / np.linalg.norm(each[:, :dim], axis=1, keepdims=True) for each in (anchors, positives))
        assert ((a @ b.T).argmax(axis=1) == np.arange(12)).mean() > 0.8
    assert facts["corpus"]["pairs"] == 200 and any("200 pairs" in line for line in told)


def test_the_folder_and_the_file_hold_the_same_rows(pairs):
    train("train.tsv", ["out", "out.vec"], model="pairs", **FEW)
    words, model = formats.load("out.vec"), StaticModel.open(Path("out"))
    found = formats.load("out")
    assert list(found.words) == list(words.words) and model.max_length == 512
    np.testing.assert_allclose(found.matrix, words.matrix, atol=1e-5)
    assert not model.table.whole()[model.unknown_id].any()


def test_pieces_are_those_that_the_encoder_reads(pairs):
    """As the package makes them, with the tokenizer's marks and control letters in the text."""
    texts = [
        *(text for pair in PAIRS for text in pair),
        "[MASK]x[CLS] a\x0bb\x00c --- \u00a0 \u3000 Caf\u00e9s\u0301",
        "",
        "[unused1]",
    ]
    Path("p.jsonl").write_text("".join(json.dumps({"anchor": text, "positive": "x"}) + "\n" for text in texts))
    pieces = Pieces(str(TOKENIZER), None)
    corpus = pieces.corpus(PairFiles(["p.jsonl"]), 0, None)
    package = pytest.importorskip("tokenizers").Tokenizer.from_file(str(TOKENIZER))
    package.no_padding()
    package.no_truncation()
    unknown = package.token_to_id("[UNK]")
    encoded = package.encode_batch(texts, add_special_tokens=False)
    whole = [np.array([id for id in each.ids if id != unknown], np.int32) for each in encoded]
    found = [corpus.ids[corpus.starts[2 * i] : corpus.starts[2 * i + 1]].tolist() for i in range(len(texts))]
    assert found == [ids.tolist() for ids in whole] and sum(map(len, found)) > 20
    cut = pieces.corpus(PairFiles(["p.jsonl"]), 3, None)
    assert np.diff(cut.starts).tolist() == np.minimum(np.diff(corpus.starts), 3).tolist()
    for i in range(len(texts)):
        assert cut.ids[cut.starts[2 * i] : cut.starts[2 * i + 1]].tolist() == found[i][:3]


def model_of_pieces(**settings):
    """A model of sentencepiece that was trained here on the topics' words."""
    package, stream = pytest.importorskip("sentencepiece"), io.BytesIO()
    lines = [text for pair in rows_of(100) for text in pair] + ["Caf\u00e9 at 12 o'clock", "na\u00efve plans"]
    package.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=stream, minloglevel=2, num_threads=1, **settings
    )
    return package, stream.getvalue()


@pytest.mark.parametrize("settings", [{"vocab_size": 35}, {"vocab_size": 290, "byte_fallback": True}], ids=str)
def test_pieces_of_sentencepiece_are_its_own_and_the_folders(settings, pairs):
    """Control pieces have no row, since no text has them."""
    pytest.importorskip("tokenizers")
    package, contents = model_of_pieces(**settings)
    Path("sp.model").write_bytes(contents)
    own = package.SentencePieceProcessor(model_proto=contents)
    rows = [id for id in range(own.get_piece_size()) if not own.is_control(id)]
    texts = ["  q1a  d2b\t", "", "Caf\u00e9 \ufb01 \u65e5\u672c x", "<s> n11 </s>", "zzz n7 \u2581 q3c", "at\u00a012"]
    Path("p.jsonl").write_text("".join(json.dumps({"anchor": text, "positive": "x"}) + "\n" for text in texts))
    pieces = Pieces("sp.model", None)
    corpus = pieces.corpus(PairFiles(["p.jsonl"]), 0, None)
    found = [corpus.ids[corpus.starts[2 * i] : corpus.starts[2 * i + 1]].tolist() for i in range(len(texts))]
    assert found == [[rows.index(id) for id in own.encode(text) if id != own.unk_id()] for text in texts]
    assert list(pieces.words()) == [own.id_to_piece(id) for id in rows]
    train("train.tsv", "out", model="pairs", tokenizer="sp.model", **FEW | {"min_count": None})
    model = StaticModel.open(Path("out"))
    means = [model.table.whole()[ids].mean(axis=0) if ids else np.zeros(8) for ids in found]
    np.testing.assert_allclose(vectors_of("out", texts), means, atol=1e-6)


def test_a_model_of_sentencepiece_that_no_tokenizer_json_equals_is_refused(pairs):
    for settings, problem in (
        ({"vocab_size": 36, "model_type": "bpe"}, "found one of BPE; give the tokenizer.json of an encoder"),
        ({"vocab_size": 35, "user_defined_symbols": ["q1"]}, "found one with user-defined symbols"),
        ({"vocab_size": 35, "remove_extra_whitespaces": False}, "found one that treats blanks in a way of its own"),
    ):
        Path("sp.model").write_bytes(model_of_pieces(**settings)[1])
        with pytest.raises(BadFile, match=f"sp.model: expected a tokenizer.json, or .*{problem}"):
            Pieces("sp.model", None)
    whole = Path("sp.model").read_bytes()
    for cut in (b"\n\x05<unk", b"\n\n\n", whole[:300], whole[: whole.index(b"\x12", 200) - 1], whole[:-9]):
        Path("cut.model").write_bytes(cut)
        with pytest.raises(BadFile, match=r"cut.model: expected a tokenizer.json, or .*, found "):
            Pieces("cut.model", None)


def test_words_are_those_of_the_vocabulary(pairs):
    Path("p.jsonl").write_text(json.dumps({"anchor": "The the cat", "positive": "rare dog"}) + "\n")
    words = Words(VocabConfig(min_count=2, lowercase=True), None, None)
    corpus = words.corpus(PairFiles(["p.jsonl"]), 0, None)
    assert list(words.words()) == ["the"] and corpus.ids.tolist() == [0, 0] and corpus.starts.tolist() == [0, 2, 2]


def test_a_name_of_a_model_is_its_folder(pairs):
    """The shipped one, whose tokens are then those of the table; and its tokenizer alone."""
    table = StaticModel.open(find_folder("wv/small")).table
    small = {"model": "pairs", "epochs": 0}
    train("train.tsv", "from", init="wv/small", **small)
    train("train.tsv", "of", tokenizer="wv/small", dim=8, **small)
    np.testing.assert_array_equal(StaticModel.open(Path("from")).table.whole()[5:99], table.whole()[5:99])
    assert len(StaticModel.open(Path("of")).table) == len(table)


def test_a_run_begins_with_a_folder_or_with_vectors(pairs):
    given = formats.load(STATIC)
    Path("p.tsv").write_text(f"anchor\tpositive\n{given.words[-1]}\t{given.words[-2]}\n")
    train("p.tsv", "none", model="pairs", init=STATIC, epochs=0)
    found = formats.load("none")
    assert list(given.words) == list(found.words)
    np.testing.assert_array_equal(given.matrix, found.matrix)
    random = np.random.default_rng(1)
    listed = ["q0a", "d1b", "elsewhere"]
    formats.save("init.vec", formats.Embeddings(listed, random.standard_normal((3, 8)).astype(np.float32)))
    train("train.tsv", "words.vec", model="pairs", init="init.vec", **{**FEW, "epochs": 0})
    found, given = formats.load("words.vec"), formats.load("init.vec")
    assert "elsewhere" not in found
    np.testing.assert_allclose(found["q0a"], given["q0a"], atol=1e-5)
    assert not found["q1a"].any()  # at random, and touched by no step
    with pytest.raises(WvError, match="its vectors have 8 numbers, and dim says 9; give dim 8"):
        train("train.tsv", "other.vec", model="pairs", init="init.vec", **{**FEW, "dim": 9})


@pytest.mark.parametrize("options", [{}, {"validation": "valid.tsv"}, {"optimizer": "adagrad"}], ids=str)
def test_a_run_that_stops_goes_on_to_the_byte(options, pairs):
    how = {"model": "pairs", "symmetric": True, **FEW, **options}
    Path(f".whole.checkpoint.{0:024x}.wv-tmp").touch()  # what a kill leaves at the first save
    train("train.tsv", "whole", **how)
    with pytest.raises(TimedOut):
        train("train.tsv", "part", max_time=1e-9, **how)
    Path("part").mkdir()  # at a later save, and at the end
    for name in (".part.checkpoint.", "part/.config.json.", "part/.model.safetensors."):
        Path(f"{name}{0:024x}.wv-tmp").touch()
    train("train.tsv", "part", resume=True, threads=2, **how)
    assert Path("whole/model.safetensors").read_bytes() == Path("part/model.safetensors").read_bytes()
    assert not Path("part.checkpoint").exists() and not [*Path().rglob(".*")]


def test_batches_of_several_files_are_resumed_with_the_same_files_only(pairs):
    files, how = ["train.tsv", "valid.tsv"], {"model": "pairs", **FEW}
    Path("one.tsv").write_text(Path(files[0]).read_text() + Path(files[1]).read_text().partition("\n")[2])
    train(files, "whole", **how)
    train("one.tsv", "one", **how)
    assert Path("whole/model.safetensors").read_bytes() != Path("one/model.safetensors").read_bytes()
    with pytest.raises(TimedOut):
        train(files, "part", max_time=1e-9, **how)
    with pytest.raises(WvError, match=r"part\.checkpoint"):
        train("one.tsv", "part", resume=True, **how)
    train(files, "part", resume=True, **how)
    assert Path("whole/model.safetensors").read_bytes() == Path("part/model.safetensors").read_bytes()


def test_a_run_goes_on_in_a_folder_that_was_made_meanwhile(pairs):
    """As a kill leaves it that comes after the folder and before its files. Checkpoint and sidecar keep their names."""
    how = {"model": "pairs", **FEW}
    with pytest.raises(TimedOut):
        train("train.tsv", ["part", "part.vec"], max_time=1e-9, **how)
    Path("part").mkdir()
    with pytest.raises(WvError, match=r"part\.checkpoint: .*go on with resume"):
        train("train.tsv", ["part", "part.vec"], **how)
    train("train.tsv", ["part", "part.vec"], resume=True, **how)
    assert {path.name for path in pairs.rglob("*.json")} >= {"part.meta.json", "part.vec.meta.json"}
    assert len([*Path("part").iterdir()]) == 5 and not Path("part.checkpoint").exists()


def test_the_best_epoch_is_kept(pairs):
    scores = train("train.tsv", "out", model="pairs", validation="valid.tsv", **{**FEW, "epochs": 4})["validation"]
    assert scores["scores"][scores["kept_epoch"] - 1] == max(scores["scores"]) > 0.5
    one = train("train.tsv", "one", model="pairs", validation="valid.tsv", patience=1, **{**FEW, "epochs": 4})
    assert len(one["validation"]["scores"]) <= 4
    with pytest.raises(WvError, match="expected several pairs"):
        Path("single.tsv").write_text("anchor\tpositive\nq0a\td0a\n")
        train("train.tsv", "two", model="pairs", validation="single.tsv", **FEW)


@pytest.mark.parametrize("validation", ["valid.tsv", "train.tsv"])
def test_pairs_that_are_learnt_by_heart_are_told_of(pairs, validation):
    told = []
    train("train.tsv", "out", model="pairs", validation=validation, **FEW, log=lambda note, **_: told.append(note))
    assert any("is among INPUT, so the epoch" in note for note in told) == (validation == "train.tsv")


def test_scores_of_people_choose_the_epoch(pairs):
    """Those of the STS benchmark and its kin: the score of an epoch is that of `wv eval sts`."""
    rows = rows_of(24)
    scored = [(rows[i][0], rows[j][1], 5 if i % 12 == j % 12 else 0) for i in range(12) for j in (i, i + 1, i + 12)]
    lines = "".join(f"{a}\t{b}\t{score}\n" for a, b, score in scored)
    Path("bare.tsv").write_text(lines)
    Path("named.tsv").write_text("sentence1\tsentence2\tscore\n" + lines)
    Path("sts.csv").write_text(lines.replace("\t", ","))
    reading = PairReading(inputs=("train.tsv",))
    one, *others = [reading.scored_pairs(name) for name in ("bare.tsv", "named.tsv", "sts.csv")]
    assert all(each.texts == one.texts and each.gold.tolist() == one.gold.tolist() for each in others)
    found = train("train.tsv", "out", validation="bare.tsv", model="pairs", **FEW)["validation"]
    best = TASKS["sts"].run([], ["bare.tsv"], StsConfig(encoder=("out",))).scores[0][1]
    kept = found["scores"][found["kept_epoch"] - 1]
    assert kept == max(found["scores"]) > 50 and found["task"] == "sts"
    assert kept == pytest.approx(best, abs=1e-3)
    for text, problem in (
        (lines + "a\tb\tc\n", "bad.tsv:37: expected"),
        ("a\tb\t1\nc\td\t1\n", "bad.tsv: expected scores that differ"),
    ):
        Path("bad.tsv").write_text(text)
        with pytest.raises(BadFile, match=problem):
            reading.scored_pairs("bad.tsv")
    named = "anchor\tpositive\tpage\n" + "".join(f"{a}\t{b}\t{i}\n" for i, (a, b) in enumerate(rows))
    Path("pages.tsv").write_text(named)
    assert reading.scored_pairs("pages.tsv") is None
    Path("sentence.tsv").write_text("sentence1\tsentence2\tpage\n" + lines)
    assert PairReading(inputs=("a",), fields="sentence1,sentence2").scored_pairs("sentence.tsv") is None


def test_a_word_that_the_folder_cannot_keep_is_refused_early(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_bytes(b"anchor\tpositive\na b\tb a\nb c\tc\n")
    (tmp_path / "v.vocab").write_bytes(b"b 3\n\xff 2\n")
    done = wv("train", "pairs.tsv", "-o", "out/", "--model", "pairs", "--vocab", "v.vocab")
    assert done.returncode == 1 and "is not UTF-8, which a tokenizer.json cannot keep\n" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.tsv", "v.vocab"]
