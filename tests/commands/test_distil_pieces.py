"""`wv distil` without VOCAB: the folders that model2vec distils from the same encoder."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.commands.distil import PieceOptions
from wv_cli.commands.distil_pieces import distil_pieces
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode, encode_ids
from wv_cli.encoders.config import DistilConfig
from wv_cli.encoders.pieces import Pieces
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.transforms.distillation import cluster_rows, rank_weights, reduce_rows
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.safetensors import Tensors
from wv_cli.vectors.formats.static import StaticModel, Table

WORDS = ["machine learning", "New York", "daemonise", "libfoo", "library", "Über", "c++"]
UNKNOWN = 1


def distilled(folders, options=None, **config):
    options = options or PieceOptions()
    return distil_pieces(str(folders / "teacher-bert"), options, DistilConfig(**config), lambda *_, **__: None)


def table_of(folder):
    return Table.from_tensors(Tensors.open(folder / "model.safetensors"))


def test_the_table_and_the_tokenizer_are_model2vecs(static_folders, tmp_path):
    """But for the row of unknown words, which is zero. Own words are pieces or added tokens."""
    golden = static_folders / "m2v-distil-words"
    (tmp_path / "words").write_text("".join(f"{word}\n" for word in ["", *WORDS, " library "]), encoding="utf-8")
    pieces, model, width, settings = distilled(static_folders, PieceOptions(words=str(tmp_path / "words")), dim=32)
    theirs = json.loads((golden / "tokenizer.json").read_text())
    assert pieces.tokenizer == {**theirs, "padding": None, "truncation": None}
    assert (len(pieces.tokens), width) == (2001, 48)
    expected = table_of(golden).matrix.copy()
    expected[UNKNOWN] = 0
    np.testing.assert_allclose(model.table.matrix, expected, rtol=0, atol=1e-5)
    config = json.loads((golden / "config.json").read_text())
    assert {name: config[name] for name in settings} == settings | {"tokenizer_name": "teacher-bert"}


def test_shared_rows(static_folders):
    """model2vec's centers depend on scikit-learn's random numbers; all that follows from its clusters is the same."""
    golden = table_of(static_folders / "m2v-distil-vocabq")
    source = open_encoder(static_folders / "teacher-bert")
    asked = Pieces.from_folder(source.root).asked
    (vectors,) = encode_ids(source, asked, [Pooling.parse("mean", source.layers, "x")])
    owner, count = golden.mapping, len(golden.matrix)
    centers = np.stack([vectors[owner == each].mean(axis=0, dtype=np.float64) for each in range(count)])
    matrix, note = reduce_rows(centers.astype(np.float32), dim=32)
    np.testing.assert_allclose(matrix, golden.matrix, rtol=0, atol=2e-5)
    np.testing.assert_allclose(rank_weights(len(asked), 1e-4), golden.weights, rtol=1e-6)
    assert not note
    _, model, *_ = distilled(static_folders, PieceOptions(clusters=count), dim=32)
    assert model.table.matrix.shape == golden.matrix.shape and model.table.weights[UNKNOWN] == 0
    np.testing.assert_allclose(np.delete(model.table.weights - golden.weights, UNKNOWN), 0, atol=1e-7)

    def spread(centers, owner):
        return float(((vectors - centers[owner]) ** 2).sum())

    assert spread(*cluster_rows(vectors, count)) < 1.02 * spread(centers, owner)


def test_clusters():
    random = np.random.default_rng(1)
    centers = 9 * random.standard_normal((6, 4))
    rows = (centers[random.integers(0, 6, 300)] + 0.1 * random.standard_normal((300, 4))).astype(np.float32)
    found, owner = cluster_rows(rows, 6)
    assert np.bincount(owner, minlength=6).min() > 0
    for each in range(6):
        np.testing.assert_allclose(found[each], rows[owner == each].mean(axis=0), atol=1e-5)
    same, owner = cluster_rows(np.ones((5, 2), np.float32), 3)
    assert same.shape == (3, 2) and np.isfinite(same).all() and set(owner) <= {0, 1, 2}
    with pytest.raises(UsageError, match="--clusters 301 is more than the 300 pieces"):
        cluster_rows(rows, 301)


def test_reducing():
    random = np.random.default_rng(2)
    rows = (random.standard_normal((60, 5)) * [5, 3, 1, 0.3, 0.1]).astype(np.float32)
    whole, note = reduce_rows(rows, dim=9)
    assert whole.shape == (60, 5) and "--dim 9 is more than the 5 numbers" in note
    assert (whole[np.abs(whole).argmax(axis=0), np.arange(5)] > 0).all()
    values = np.sort(np.linalg.eigvalsh(np.cov(rows.T)))[::-1]
    np.testing.assert_allclose(whole.var(axis=0, ddof=1), values, rtol=1e-5)
    few, _ = reduce_rows(rows, dim=0, variance=0.9)
    assert np.array_equal(few, whole[:, : few.shape[1]])
    shares = np.cumsum(values) / values.sum()
    assert shares[few.shape[1] - 1] >= 0.9 > shares[few.shape[1] - 2]
    white, _ = reduce_rows(rows, dim=3, whiten=True)
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(3), atol=1e-5)
    same, note = reduce_rows(rows[:4], dim=5)
    assert np.array_equal(same, rows[:4]) and "too few" in note


def test_a_folder_on_the_command_line(wv, static_folders, tmp_path):
    teacher = static_folders / "teacher-bert"
    done = wv("distil", "--encoder", teacher, "-o", "made", "--dim", "32")
    assert (done.returncode, done.stderr) == (0, "made: 1,995 pieces, 48 -> 32 numbers, static\n")
    found = StaticModel.open(tmp_path / "made")
    assert not found.table.matrix[UNKNOWN].any() and (found.normalize, found.max_length) == (True, 512)
    assert encode(open_encoder(tmp_path / "made"), ["a library"], [Pooling.parse("mean", 0, "x")])[0].tokens == 2
    (tmp_path / "counts").write_text("library 900\nthe 99\nlibraryless 1\n")
    done = wv(
        "distil", "--encoder", teacher, "-o", "v.npy", "--variance", ".8", "--counts", "counts", "--sif-a", "0.01"
    )
    assert done.returncode == 0 and "v.npy: 1,995 pieces, 48 -> 9 numbers, npy" in done.stderr, done.stderr
    plain = wv("distil", "--encoder", teacher, "-o", "p.npy", "--variance", ".8", "--sif-a", "0", "-q")
    assert plain.returncode == 0
    counted, plain = load(tmp_path / "v.npy"), load(tmp_path / "p.npy")
    row = counted.words.find("library")
    np.testing.assert_allclose(counted.matrix[row], plain.matrix[row] * (0.01 / (0.01 + 901 / 1002)), rtol=0.05)
    assert np.array_equal(counted.matrix[counted.words.find("pascal")], plain.matrix[plain.words.find("pascal")])
    done = wv("distil", "--encoder", teacher, "-o", "small", "--dtype", "int8", "--clusters", "50", "--method", "none")
    assert done.returncode == 0 and "int8 is read by wv and model2vec" in done.stderr
    tensors = Tensors.open(tmp_path / "small" / "model.safetensors")
    assert tensors.shape("embeddings") == (50, 48) and tensors.shape("mapping") == tensors.shape("weights") == (1995,)


def test_refusals(wv, static_folders, tmp_path):
    teacher = static_folders / "teacher-bert"
    (tmp_path / "bad").write_bytes(b"caf\xe9\n")
    (tmp_path / "long").write_text("a " * 80 + "\n")
    (tmp_path / "v").write_text("library 3\n")
    call = ("distil", "--encoder", teacher, "-o", "x")
    elmo = ("distil", "--encoder", GOLDEN / "encoders/elmo/allennlp", "-o", "x")
    for arguments, code, message in [
        ((*call, "--words", "bad"), 1, "bad: expected words in UTF-8"),
        ((*call, "--words", "long"), 1, "long: 'a a a a"),
        ((*call, "--words", "none"), 1, "none: cannot read"),
        ((*call, "--counts", "bad"), 1, "bad:1: expected"),
        ((*call, "--clusters", "2000"), 2, "--clusters 2000 is more than the 1,995 pieces"),
        ((*call, "--variance", ".5", "--dim", "3"), 2, "--variance and --dim cannot be used together"),
        ((*call, "--variance", ".5", "--method", "none"), 2, "--variance has no effect with --method none"),
        ((*call, "--variance", "1"), 2, "--variance"),
        (("distil", "v", *call[1:], "--clusters", "3"), 2, "--clusters has no effect with VOCAB:"),
        ((*call[:-1], "x.vec", "--dtype", "int8"), 2, "--dtype has no effect on a file of vectors"),
        ((*call[:-1], "x.vec", "--clusters", "3"), 2, "--clusters has no effect on a file of vectors"),
        (("distil", "--encoder", static_folders / "m2v-distil-words", "-o", "x"), 2, "expected a BERT-like encoder"),
        *([(elmo, 2, "expected a BERT-like encoder")] if find_spec("h5py") else []),
    ]:
        done = wv(*arguments)
        assert done.returncode == code and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "x").exists()


def test_tokenizers_of_other_kinds(static_folders, tmp_path):
    """Special tokens go, numbers are closed up, and texts keep their pieces."""
    source = StaticModel.open(static_folders / "m2v-unigram").tokenizer
    vocabulary = source["model"]["vocab"]
    special = {"id": 0, "content": vocabulary[0][0], "single_word": False, "lstrip": False, "rstrip": False,
               "normalized": False, "special": True}  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps({**source, "added_tokens": [special]}))
    pieces = Pieces.from_folder(tmp_path, ["New York"])
    model = pieces.tokenizer["model"]
    assert pieces.tokens[0] == vocabulary[1][0] and pieces.tokens[-1] == "New York"
    assert model["vocab"][model["unk_id"]] == vocabulary[source["model"]["unk_id"]]
    byte_level = {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "add_prefix_space": False,
                  "trim_offsets": True, "use_regex": True}]}  # fmt: skip
    bpe = {"type": "BPE", "vocab": {"<s>": 0, "a": 1, "b": 2, "ab": 3, "<s>a": 4}, "merges": [["a", "b"], ["<s>", "a"]],
           "unk_token": None}  # fmt: skip
    settings = {"version": "1.0", "added_tokens": [{**special, "content": "<s>"}], "normalizer": None,
                "pre_tokenizer": byte_level, "post_processor": None, "decoder": None, "model": bpe}  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(settings))
    pieces = Pieces.from_folder(tmp_path, ["ab a"])
    assert pieces.tokens == ["a", "b", "ab", "<s>a", "ab a"] and pieces.tokenizer["model"]["merges"] == [["a", "b"]]
    assert pieces.tokenizer["pre_tokenizer"]["pretokenizers"][0]["add_prefix_space"]
    only = {**bpe, "vocab": {"<s>": 0}, "merges": []}
    (tmp_path / "tokenizer.json").write_text(json.dumps({**settings, "model": only, "pre_tokenizer": None}))
    with pytest.raises(BadFile, match="expected a vocabulary of pieces, found special tokens only"):
        Pieces.from_folder(tmp_path)


def test_numbers_that_are_none_become_zero(static_folders):
    source = open_encoder(static_folders / "teacher-bert")
    network = source._network
    network._words = network._words.copy()
    network._words[1997] = np.nan
    mean = [Pooling.parse("mean", source.layers, "x")]
    (vectors,) = encode_ids(source, [np.array([3, 1997, 4])], mean, nan_to_zero=True)
    assert not vectors.any()
    with pytest.raises(WvError, match="gives nan or infinity"):
        encode_ids(source, [np.array([3, 1997, 4])], mean)


def test_a_table_fitted_to_texts(wv, static_folders, tmp_path):
    """Its vectors are nearer to the encoder's, of texts that it has not seen, too."""
    teacher = static_folders / "teacher-bert"
    words = [token for token in Pieces.from_folder(teacher).tokens if token.isalpha()]
    random = np.random.default_rng(4)
    lines = [" ".join(random.choice(words[:60], 5)) for _ in range(300)]
    (tmp_path / "texts").write_text("\n".join(lines[:200]) + "\n\n")
    call = ("distil", "--encoder", teacher, "--dim", "8")
    assert wv(*call, "-o", "plain", "-q").returncode == 0
    done = wv(*call, "-o", "fit", "--train", "texts", "--epochs", "20")
    assert done.returncode == 0 and "texts: 200 texts, " in done.stderr and "epoch 20 of 20: cosine" in done.stderr
    source = open_encoder(teacher)
    ids, _ = source.tokens(lines)
    (full,) = encode_ids(source, ids, [Pooling("inner", (source.layers,), "inner")])
    by_hand = source.states([ids[0]], [source.layers])[0][0][0, 1:-1].mean(axis=0)
    np.testing.assert_allclose(full[0], by_hand, atol=1e-5)

    def agreement(folder):
        found = encode(open_encoder(tmp_path / folder), lines[200:], [Pooling.parse("mean", 0, "x")])[0].vectors
        pairs = [np.corrcoef(each - each.mean(axis=0))[np.triu_indices(100, 1)] for each in (found, full[200:])]
        return float(np.corrcoef(*pairs)[0, 1])

    assert agreement("fit") > agreement("plain") + 0.05
    (tmp_path / "words").write_text("New York\n")
    done = wv(*call, "-o", "own", "--train", "texts", "--epochs", "1", "--loss", "mse", "--words", "words")
    assert done.returncode == 0 and "epoch 1 of 1: mse" in done.stderr
    for more, code, message in [
        (("--train", "words"), 1, "words: expected more texts than dimensions, found 1 for 8; give more texts"),
        (("--train", "none"), 1, "none: cannot read"),
        (("--train", "texts", "--clusters", "9"), 2, "--train and --clusters cannot be used together"),
        (("--train", "texts", "--method", "none"), 2, "--train and --method none cannot be used together"),
        (("--epochs", "3"), 2, "--epochs needs --train"),
    ]:
        arguments = call[:3] if "none" in more[-1] and len(more) > 2 else call
        done = wv(*arguments, "-o", "x", *more)
        assert done.returncode == code and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
