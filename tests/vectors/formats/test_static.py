"""Static embeddings: folders that model2vec and sentence-transformers load, read and written."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.folders import Settings
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, load, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.formats.safetensors import Tensors, write
from wv_cli.vectors.formats.static import StaticModel
from wv_cli.vectors.formats.static_folder import as_dtype, save_folder, save_model
from wv_cli.words import WordList

PLAIN, WEIGHTED = (GOLDEN / "encoders" / name for name in ("static-model2vec", "static-model2vec-weights"))
FILES = ("tokenizer.json", "config.json", "modules.json", "model.safetensors")


def encoded(folder, texts, **options):
    encoder = open_encoder(folder, EncoderConfig(**options))
    return encode(encoder, texts, [Pooling.parse("mean", encoder.layers, "x")], normalize=encoder.normalize)[0]


@pytest.mark.parametrize("folder", [PLAIN, WEIGHTED], ids=lambda folder: folder.name)
def test_sentences_as_model2vec_makes_them(folder):
    """But for the one of 701 tokens, of which the golden file has a float32 sum: that is held to a float64 one."""
    golden = json.loads((folder / "golden.json").read_text())
    expected = np.array(golden["embeddings"])
    long = next(row for row, text in enumerate(golden["sentences"]) if len(text.split()) > 700)
    tensors = Tensors.open(folder / "model.safetensors")
    weights = tensors.floats("weights", (401,)) if "weights" in tensors else np.ones(401)
    rows = tensors.floats("embeddings", (401, 50)).astype(float) * weights[:, None]
    ids = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    mean = 700 * rows[ids["the"]] + rows[ids["man"]]
    assert np.abs(expected[long] - mean / np.linalg.norm(mean)).max() < 4e-6
    expected[long] = mean / np.linalg.norm(mean)
    found = encoded(folder, golden["sentences"])
    np.testing.assert_allclose(found.vectors, expected, rtol=0, atol=2e-7)
    assert found.empty.tolist() == [not row.any() for row in expected] and found.cut == 0


def test_vectors_of_a_folder(tmp_path):
    """By the folder's name or the file's; the zero row for unknown words is left out, weights are in the rows."""
    plain, weighted = load(PLAIN), load(WEIGHTED / "model.safetensors")
    assert (len(plain), plain.dim, plain.words[0], plain.words[399]) == (400, 50, "the", "become")
    tensors = Tensors.open(WEIGHTED / "model.safetensors")
    assert np.array_equal(plain.matrix, tensors.floats("embeddings", (401, 50))[1:])
    assert np.array_equal(weighted.matrix, plain.matrix * tensors.floats("weights", (401,))[1:, None])
    assert sniff(PLAIN).name == "safetensors" and not check(PLAIN).is_damaged
    shutil.copy(PLAIN / "model.safetensors", tmp_path / "other.safetensors")
    alone = load(tmp_path / "other.safetensors", limit=5)
    assert list(alone.words) == ["0", "1", "2", "3", "4"] and not alone.matrix[0].any()


def test_a_folder_is_written_as_theirs(tmp_path):
    """The golden folders load in model2vec 0.10.0 and sentence-transformers 6.2.0."""
    save_folder(tmp_path / "made", load(PLAIN))
    made = {name: json.loads((tmp_path / "made" / name).read_text()) for name in FILES[:3]}
    assert len(made["modules.json"][0].pop("folder")) == 16  # no library minds what it does not know
    assert made == {name: json.loads((PLAIN / name).read_text()) for name in FILES[:3]}
    ours, theirs = (Tensors.open(folder / "model.safetensors") for folder in (tmp_path / "made", PLAIN))
    assert ours.names == theirs.names
    assert np.array_equal(*(each.floats("embeddings", (401, 50)) for each in (ours, theirs)))


def test_a_model_card_is_written_once(tmp_path):
    """As hubs read it: settings between two lines `---`. One that is there is the author's."""
    save_folder(tmp_path / "made", load(PLAIN))
    card = tmp_path / "made" / "README.md"
    before, settings, body = card.read_text().split("---\n")
    assert before == "" and settings.startswith("library_name: model2vec\n") and "\n- static-embeddings\n" in settings
    for use in ("StaticModel.from_pretrained", "SentenceTransformer(", "wv vectors --sentences"):
        assert use in body
    card.write_text("mine")
    save_folder(tmp_path / "made", load(PLAIN, limit=5))
    assert card.read_text() == "mine" and len(load(tmp_path / "made")) == 5
    model = StaticModel.open(tmp_path / "made")
    save_model(tmp_path / "other", replace(model, counts_unknown=True))
    card = tmp_path / "other" / "README.md"
    assert "library_name: sentence-transformers" in card.read_text() and "model2vec" not in card.read_text()


def test_what_is_written_is_read(tmp_path):
    words = ["The", "café", "[UNK]", "a b", "The", "x" * 300, '"\\', "\u2028"]
    matrix = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)
    weights = np.linspace(0.1, 1, 8)
    made = save_folder(
        tmp_path / "made", Embeddings(WordList.from_words(words), matrix), weights=weights, split="punctuation"
    )
    assert (made.tokens, made.repeated, made.unreachable, made.lowercase) == (7, 1, 2, False)
    kept = [0, 1, 2, 3, 5, 6, 7]
    found = load(tmp_path / "made")
    assert list(found.words) == [words[row] for row in kept]
    assert np.allclose(found.matrix, matrix[kept] * weights[kept, None], atol=1e-7)
    # A word is itself, an unknown one is nothing, punctuation is cut off.
    got = encoded(tmp_path / "made", ["The", "the", "The,café", "zzz"], normalize=False).vectors
    unit = found.matrix / np.linalg.norm(found.matrix, axis=1, keepdims=True)
    assert np.allclose(got[0], unit[0], atol=1e-6) and not got[1].any() and not got[3].any()
    mean = found.matrix[0] + found.matrix[1]
    assert np.allclose(got[2], mean / np.linalg.norm(mean), atol=1e-6)


def test_words_of_another_run_beside_the_rows_are_noticed(tmp_path):
    """What a kill between two renames leaves of a folder that was there: the new words, the old rows."""
    rows = np.eye(2, dtype=np.float32)
    for name, words in (("old", ["a", "b"]), ("new", ["b", "a"])):
        save_folder(tmp_path / name, Embeddings(WordList.from_words(words), rows))
    shutil.copy(tmp_path / "new/tokenizer.json", tmp_path / "old/tokenizer.json")
    for read in (load, lambda path: encoded(path, ["a"])):
        with pytest.raises(BadFile, match=r"old/tokenizer.json: its tokens are not those .*old/model.safetensors was"):
            read(tmp_path / "old")
    # Other settings of the tokenizer may be changed.
    facts = json.loads((tmp_path / "new/tokenizer.json").read_text())
    (tmp_path / "new/tokenizer.json").write_text(json.dumps({**facts, "normalizer": {"type": "Lowercase"}}))
    assert list(load(tmp_path / "new").words) == ["b", "a"]


def test_no_folder_is_left_half_written(tmp_path):
    words = WordList.from_words([b"ok", b"caf\xe9"])
    with pytest.raises(WvError, match=r"row 2: the word b'caf.*' is not UTF-8"):
        save_folder(tmp_path / "x", Embeddings(words, np.ones((2, 2), np.float32)))
    with pytest.raises(WvError, match="row 1: expected finite numbers"):
        save_folder(tmp_path / "x", Embeddings(WordList.from_words(["a"]), np.full((1, 2), np.nan, np.float32)))
    (tmp_path / "file").write_text("x")
    with pytest.raises(WvError, match="file: cannot make the folder"):
        save_folder(tmp_path / "file", load(PLAIN))
    assert not (tmp_path / "x").exists()


def test_loads_in_model2vec(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    save_folder(tmp_path / "made", load(PLAIN))
    golden = json.loads((PLAIN / "golden.json").read_text())
    made = model2vec.StaticModel.from_pretrained(str(tmp_path / "made")).encode(golden["sentences"])
    assert np.abs(made - np.array(golden["embeddings"])).max() < 2e-7


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(PLAIN, tmp_path / "static")


def tensors_in(folder, **arrays):
    (folder / "model.safetensors").unlink()
    with (folder / "model.safetensors").open("wb") as stream:
        write(stream, arrays, {})


def test_int8_rows_have_the_cosines_of_their_numbers(tmp_path):
    """What model2vec writes with quantize_to="int8"; its safetensors beside the same tokenizer."""
    shutil.copytree(PLAIN, tmp_path / "m")
    rows = Tensors.open(PLAIN / "model.safetensors").floats("embeddings", (401, 50))
    small = np.rint(rows / np.abs(rows).max() * 127).astype(np.int8)
    header = json.dumps({"embeddings": {"dtype": "I8", "shape": [401, 50], "data_offsets": [0, small.size]}}).encode()
    (tmp_path / "m/model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + small.tobytes())
    found = load(tmp_path / "m")
    assert np.array_equal(found.matrix, small[1:].astype(np.float32)) and list(found.words) == list(load(PLAIN).words)


def test_int8_does_not_depend_on_the_size_of_the_numbers():
    """Of a table that float16 cannot hold the rows are those of the same table in a size that it holds."""
    rows = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)
    small = as_dtype(rows, "int8", "out")
    assert np.abs(small).max() == 127 and len(np.unique(small)) > 100
    for power in (-100, -30, -10, 12, 20, 100):
        assert np.array_equal(as_dtype(np.ldexp(rows, power), "int8", "out"), small), power
    assert not as_dtype(np.zeros_like(rows), "int8", "out").any()


def test_other_names(folder):
    """sentence-transformers' own, and the only matrix of any name."""
    matrix = load(folder).matrix
    whole = np.concatenate([np.zeros((1, 50), np.float32), matrix])
    for name in ("embedding.weight", "whatever"):
        tensors_in(folder, **{name: whole})
        assert np.array_equal(load(folder).matrix, matrix)
    tensors_in(folder, a=whole, b=whole)
    with pytest.raises(BadFile, match=r"expected one matrix of vectors, called embeddings or .*, found a, b"):
        load(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected the settings of a tokenizer in JSON"),
        ("[]", "expected a tokenizer with a vocabulary"),
        ('{"model": {"vocab": 5}}', "expected a tokenizer with a vocabulary"),
        ('{"model": {"vocab": {"a": 401}}}', "expected tokens numbered from 0 to 400, as many .*, found 'a': 401"),
        ('{"model": {"vocab": {"a": 0}}}', "expected a token for each of the 401 vectors, found none for row 1"),
        ('{"model": {"vocab": [["a", 1], 5]}}', r"expected \[token, score\] at place 1, found 5"),
        ('{"model": {"vocab": {"a": true}}}', "expected a number of 0 or more for each token, found True"),
    ],
)  # fmt: skip
def test_tokenizers_that_do_not_fit(text, message, folder):
    (folder / "tokenizer.json").write_text(text)
    with pytest.raises(BadFile, match=message):
        load(folder)


def test_weights_that_do_not_fit(folder):
    tensors_in(folder, embeddings=np.ones((401, 50), np.float32), weights=np.ones(400, np.float32))
    with pytest.raises(BadFile, match="weights: expected floats, 401, found F32, 400"):
        load(folder)


def test_options_that_mean_nothing_to_it():
    for options in ({"stateful": True}, {"runtime": "onnx"}):
        with pytest.raises(UsageError, match="is a static embedding, which has neither states nor a network"):
            open_encoder(PLAIN, EncoderConfig(**options))


def test_convert(wv, tmp_path):
    done = wv("convert", PLAIN, "v.vec", "--precision", "exact")
    assert done.returncode == 0 and "400 rows of 50 numbers" in done.stderr, done.stderr
    (tmp_path / "counts").write_text("the 900\nman 100\n")
    done = wv("convert", "v.vec", "made", "--to", "static", "--counts", "counts", "--limit", "90")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "made: 90 words of 50 numbers, static; text is cut at blanks and made lower case\n"
    ratios = load(tmp_path / "made").matrix / load(PLAIN, limit=90).matrix
    assert np.allclose(ratios[0], 1e-3 / 0.901, rtol=1e-6) and (ratios[1:] == 1).all(axis=1).sum() == 89
    assert wv("nn", "made", "the", "-k", "1").returncode == 0
    done = wv("convert", "v.vec", "made", "--to", "static", "--no-lowercase", "--split", "punctuation")
    assert "text is cut at blanks and punctuation, upper and lower case differ" in done.stderr
    for arguments, code, message in [
        (("v.vec", "made", "--to", "static", "--escape"), 2, "--escape and --to static cannot be used together"),
        (("v.vec", "made", "--to", "static", "--precision", "3"), 2, "--precision and --to static cannot"),
        (("v.vec", "w.vec", "--split", "blanks"), 2, "--split needs --to static"),
        (("v.vec", "no/made", "--to", "static"), 1, "no does not exist"),
        (("v.vec", "w", "--to", "safetensors"), 2, "safetensors is read but not written"),
    ]:
        done = wv("convert", *arguments)
        assert done.returncode == code and message in done.stderr, done.stderr


@pytest.mark.filterwarnings("ignore", category=FormatWarning)
def test_a_transformer_is_no_static_embedding():
    with pytest.raises(BadFile, match="expected one matrix of vectors"):
        load(GOLDEN / "encoders" / "tiny-bert")


def test_weights_that_make_rows_infinite(tmp_path):
    matrix, weights = np.full((2, 3), 1e30, np.float32), np.array([1, 1e30], np.float32)
    with (tmp_path / "model.safetensors").open("wb") as stream:
        write(stream, {"embeddings": matrix, "weights": weights}, {})
    with pytest.raises(BadFile, match="makes its row infinite"):
        load(tmp_path / "model.safetensors")


def test_settings_of_a_name_longer_than_files_have(tmp_path):
    assert Settings(tmp_path / ("w" * 300) / "config.json", required=False).facts == {}


def test_a_folder_of_ours_without_its_tokens_is_refused(tmp_path):
    """As numbers 0, 1, ... they would answer nothing. A matrix of others has no tokens to miss."""
    save_folder(tmp_path / "made", load(PLAIN))
    (tmp_path / "made/tokenizer.json").unlink()
    for read in (load, lambda path: load(path / "model.safetensors")):
        with pytest.raises(
            BadFile, match=r"tokenizer.json: expected this file beside .*model.safetensors.*; copy it, too"
        ):
            read(tmp_path / "made")


def test_an_edited_config_is_followed(tmp_path):
    """model2vec reads nothing else; modules.json, which says the same when it is written, is sentence-transformers'."""
    save_folder(tmp_path / "made", load(PLAIN))
    config = tmp_path / "made/config.json"
    assert StaticModel.open(tmp_path / "made").normalize
    config.write_text(json.dumps({**json.loads(config.read_text()), "normalize": False}))
    assert not StaticModel.open(tmp_path / "made").normalize
    facts = json.loads(config.read_text())
    del facts["normalize"]
    config.write_text(json.dumps(facts))
    assert StaticModel.open(tmp_path / "made").normalize
