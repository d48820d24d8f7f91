"""BERT-like folders: both runtimes against float64 vectors made by an independent program, and what can be wrong with a
folder. tests/golden/README.md says where these come from."""

import itertools
import json
import math
import shutil
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.encoders import EncoderConfig, bert, limits, open_encoder
from wv_cli.encoders.base import batches, encode
from wv_cli.encoders.bert import erf
from wv_cli.encoders.pooling import Pooling
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.vectors.formats.safetensors import Tensors, write

TINY, NEWER = GOLDEN / "encoders" / "tiny-bert", GOLDEN / "encoders" / "tiny-bert-st6"
FACTS = json.loads((TINY / "golden.json").read_text())
ARRAYS = dict(np.load(TINY / "golden.npz"))
# What this program calls a pooling -> what the golden file does, whether one layer is enough.
POOLINGS = {"mean": "mean", "cls": "cls", "max": "max", "sqrt-len": "mean_sqrt_len", "first-last": "first_last_avg"}
LIMIT = {"onnx": 2e-6, "numpy": 1e-5}
NEEDS_ONNX = pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs onnxruntime")
RUNTIMES = [pytest.param("onnx", marks=NEEDS_ONNX), "numpy"]


def pooled(folder, names, texts=FACTS["sentences"], normalize=False, **options):
    encoder = open_encoder(folder, EncoderConfig(**options), names)
    chosen = [Pooling.parse(name, encoder.layers, encoder.name) for name in names]
    return encode(encoder, texts, chosen, normalize=normalize)


@pytest.fixture
def folder(tmp_path):
    """A copy to damage."""
    return shutil.copytree(TINY, tmp_path / "bert")


def with_states(folder):
    """The ONNX file that gives all layers in the place of the plain one."""
    shutil.copy(folder / "onnx" / "model_hidden_states.onnx", folder / "onnx" / "model.onnx")
    return folder


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_poolings(runtime, folder):
    found = pooled(with_states(folder), list(POOLINGS), runtime=runtime)
    for result, name in zip(found, POOLINGS.values(), strict=True):
        np.testing.assert_allclose(result.vectors, ARRAYS[name], rtol=0, atol=LIMIT[runtime])
        assert (result.cut, result.empty.any()) == (1, False)
        assert result.tokens == ARRAYS["attention_mask"].sum()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_layer(runtime, folder):
    mask = ARRAYS["attention_mask"].astype(float)
    names = ["layer:0", "layer:1", "layer:2", "last-two"]
    layers = [ARRAYS[f"hidden_states.{number}"] for number in range(3)]
    expected = [np.einsum("ntd,nt->nd", layer, mask) / mask.sum(1)[:, None] for layer in layers]
    expected.append((expected[1] + expected[2]) / 2)
    for result, wanted in zip(pooled(with_states(folder), names, runtime=runtime), expected, strict=True):
        np.testing.assert_allclose(result.vectors, wanted, rtol=0, atol=LIMIT[runtime])


def test_both_layouts_of_a_folder():
    """The newer one has another place for the length, another word for the pooling."""
    older, newer = (open_encoder(path, EncoderConfig(runtime="numpy")) for path in (TINY, NEWER))
    assert (older.pooling, older.normalize, older.max_length) == (newer.pooling, newer.normalize, newer.max_length)
    assert older.max_length == FACTS["max_length"]
    assert np.array_equal(*(pooled(path, ["mean"], runtime="numpy")[0].vectors for path in (TINY, NEWER)))


def test_ids_are_those_of_the_tokenizer_without_what_is_baked_into_it():
    """tokenizer.json says: pad to 40, cut at 40."""
    ids, cut = open_encoder(TINY).tokens(FACTS["sentences"])
    assert [each.tolist() for each in ids] == FACTS["ids"] and cut == 1
    assert "Fixed" in (TINY / "tokenizer.json").read_text()
    long = "the dog " * 5000
    [whole], cut = Tokenizer(TINY / "tokenizer.json", max_length=None, rows=200).ids([long])
    assert len(whole) > 5000 and cut == 0
    ids, cut = open_encoder(TINY, EncoderConfig(max_length=48)).tokens([long, "the"])
    assert [len(each) for each in ids] == [48, 3] and cut == 1


def test_unit_length():
    found = pooled(TINY, ["mean"], normalize=True)[0].vectors
    np.testing.assert_allclose(found, ARRAYS["mean_l2"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_sentence_does_not_depend_on_its_company(runtime):
    """Padding takes no part, neither in attention nor in any pooling; threads change nothing."""
    names = [name for name in POOLINGS if runtime == "numpy" or name != "first-last"]
    texts = FACTS["sentences"] * 20
    many = pooled(TINY, names, texts, runtime=runtime)
    alone = [pooled(TINY, names, [text], runtime=runtime) for text in FACTS["sentences"]]
    for number, result in enumerate(many):
        each = np.concatenate([found[number].vectors for found in alone])
        np.testing.assert_allclose(result.vectors, np.tile(each, (20, 1)), rtol=0, atol=3e-6)


def test_threads_and_progress():
    encoder = open_encoder(TINY, EncoderConfig(runtime="numpy"))
    mean, told = Pooling.parse("mean", 2, "x"), []
    texts = FACTS["sentences"] * 40
    one, four = (
        encode(encoder, texts, [mean], threads=threads, progress=lambda *at: told.append(at))[0].vectors
        for threads in (1, 4)
    )
    assert np.array_equal(one, four)
    assert told[-1] == (360, 360) and [done for done, _ in told].count(360) == 2
    assert encode(encoder, [], [mean])[0].vectors.shape == (0, 16)


def test_batches_hold_every_sentence_once_and_never_too_much():
    lengths = np.random.default_rng(1).integers(0, 600, 3000)
    found = batches(lengths)
    assert sorted(np.concatenate(found).tolist()) == np.flatnonzero(lengths).tolist()
    for rows in found:
        longest = lengths[rows].max()
        assert len(rows) == 1 or (len(rows) <= 64 and len(rows) * longest**2 <= 1 << 21)
    assert [row.tolist() for row in batches(np.array([10**6, 3, 0]))] == [[0], [1]]


def test_the_error_function():
    x = np.linspace(-7, 7, 100_001, dtype=np.float32)
    assert np.abs(erf(x) - [math.erf(each) for each in x.tolist()]).max() < 4.5e-7


@pytest.mark.parametrize("name", ["gelu_new", "relu"])
def test_other_activations(name, folder):
    """config.json chooses; the formula of the other is caught."""
    change(folder / "config.json", hidden_act=name)
    found, plain = pooled(folder, ["mean"], runtime="numpy")[0].vectors, ARRAYS["mean"]
    assert (1e-6 if name == "gelu_new" else 1e-2) < np.abs(found - plain).max() < 2
    x = np.linspace(-3, 3, 50)
    tanh = x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    assert np.allclose(bert.ACTIVATIONS["gelu_new"](x.astype(np.float32)), tanh, atol=1e-6)


def test_names_of_weights(folder):
    """A prefix, and the old names of a layer norm's numbers; arrays that are no part of the network."""
    tensors = Tensors.open(folder / "model.safetensors")
    arrays = {}
    for name in tensors.names:
        new = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        arrays[f"bert.{new}"] = tensors.floats(name, tensors.shape(name))
    arrays["bert.embeddings.position_ids"] = np.zeros((1, 48), np.float32)
    replace(folder, arrays)
    np.testing.assert_allclose(pooled(folder, ["mean"], runtime="numpy")[0].vectors, ARRAYS["mean"], rtol=0, atol=1e-5)


@NEEDS_ONNX
def test_an_export_that_pools_by_itself(folder):
    """Its outputs have other names: token_embeddings and sentence_embedding."""
    shutil.copy(folder / "onnx" / "model_sentence_embedding.onnx", folder / "model.onnx")
    np.testing.assert_allclose(pooled(folder, ["mean"], runtime="onnx")[0].vectors, ARRAYS["mean"], rtol=0, atol=2e-6)


@NEEDS_ONNX
def test_layers_that_an_onnx_file_lacks(folder):
    """Another file has them; without that the error says what is missing."""
    (result,) = pooled(folder, ["first-last"])
    np.testing.assert_allclose(result.vectors, ARRAYS["first_last_avg"], rtol=0, atol=1e-5)
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadFile, match=r"gives the last layer only, not 1: .* export with all hidden states"):
        pooled(folder, ["first-last"])


def replace(folder, arrays):
    """The weights; the old file is mapped by the test itself."""
    (folder / "model.safetensors").unlink()
    with (folder / "model.safetensors").open("wb") as stream:
        write(stream, arrays, {})


def change(path, **facts):
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


def damage(name, what):
    def made(folder):
        path = folder / name
        if what is None:
            path.unlink()
        elif isinstance(what, dict):
            change(path, **what)
        elif isinstance(what, list):
            path.write_text(json.dumps(what))
        else:
            path.write_bytes(what)

    return made


MODULE = {"path": "1_Pooling", "type": "x.Pooling"}


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (damage("config.json", {"hidden_size": 15}), "expected heads that divide 15"),
        (damage("config.json", {"hidden_size": "16"}), "hidden_size: expected a whole number"),
        (damage("config.json", {"hidden_size": 32}), "word_embeddings.weight: expected floats, any x 32, found"),
        (damage("config.json", {"num_hidden_layers": 3}), "encoder.layer.2.attention.self.query.weight"),
        (damage("config.json", {"model_type": "distilbert"}), "model_type: expected 'bert', found 'distilbert'"),
        (damage("config.json", {"position_embedding_type": "relative_key"}), "position_embedding_type"),
        (damage("config.json", {"hidden_act": "silu"}), "found 2 heads and 'silu'"),
        (damage("config.json", {"hidden_act": ["gelu"]}), r"found 2 heads and \['gelu'\]"),
        (damage("config.json", {"layer_norm_eps": "small"}), "layer_norm_eps: expected a number"),
        (damage("config.json", [1]), "expected an object of settings"),
        (damage("config.json", b"\xff{"), "expected JSON"),
        (damage("modules.json", b'{"0": 1}'), "expected a list of modules"),
        (damage("modules.json", [{"path": "../x", "type": "a.Pooling"}]), "path of a module in the folder"),
        (damage("modules.json", [{"path": "2_Dense", "type": "a.b.Dense"}]), "the module Dense is none"),
        (damage("1_Pooling/config.json", {"pooling_mode_max_tokens": True}), "expected one of .*; choose another"),
        (damage("1_Pooling/config.json", {"pooling_mode": "lasttoken"}), "pooling_mode: expected one of mean, cls"),
        (damage("model.safetensors", None), "expected model.safetensors in .* Python pickles .* are not read"),
        (damage("model.safetensors", b"x" * 50), "expected a safetensors file"),
        (damage("tokenizer.json", None), "tokenizer.json: cannot read"),
        (damage("tokenizer.json", b"{}"), "expected the settings of a tokenizer, found: "),
        (damage("tokenizer.json", b"\xff"), "expected JSON in UTF-8"),
    ],
)  # fmt: skip
def test_damaged_folders(made, message, folder):
    made(folder)
    with pytest.raises(WvError, match=message) as caught:
        open_encoder(folder, EncoderConfig(runtime="numpy"))
    assert "\n" not in str(caught.value) and str(folder) in str(caught.value)


@NEEDS_ONNX
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (damage("onnx/model.onnx", b"x" * 50), "expected a network in ONNX, found: "),
        (damage("onnx/model.onnx", b""), "expected a network in ONNX, found: "),
        (damage("onnx/model.onnx", None), "expected model.onnx or onnx/model.onnx in .* for --runtime onnx"),
    ],
)
def test_damaged_networks(made, message, folder):
    made(folder)
    with pytest.raises(BadFile, match=message) as caught:
        open_encoder(folder, EncoderConfig(runtime="onnx"))
    assert "\n" not in str(caught.value)


@NEEDS_ONNX
def test_an_onnx_file_of_another_size(folder):
    change(folder / "config.json", hidden_size=32)
    with pytest.raises(BadFile, match=r"expected states of \(1, 3\) x 32 float32, found \(1, 3, 16\)"):
        pooled(folder, ["mean"], ["the"], runtime="onnx")


def _replaced(times):
    step = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaa"}
    return {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [step] * times}]}


def test_a_tokenizer_that_explodes_is_refused(folder, capfd):
    """Nothing is said beside the error, either: the package prints a panic of its own."""
    path = folder / "tokenizer.json"
    before = json.loads(path.read_text())
    again = [{"Sequence": {"id": "A", "type_id": 0}}] * 1000
    pair = [{"Sequence": {"id": id, "type_id": 0}} for id in "AB"]
    template = {"type": "TemplateProcessing", "single": again, "pair": pair, "special_tokens": {}}
    backtracks = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated", "invert": False}
    for changed, message in [
        ({"normalizer": _replaced(9)}, "expected a normalizer that makes no text 16 times as long"),
        ({"normalizer": {"type": "Prepend", "prepend": "a" * 257}}, "of at most 256 characters, found one of 257"),
        ({"post_processor": template}, "expected a post-processor of at most 16,384 bytes"),
        ({"model": {**before["model"], "max_input_chars_per_word": 10**9}}, "at most 10,000, found 1,000,000,000"),
        (
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}},
            "expected the settings of a tokenizer",
        ),
        ({"pre_tokenizer": backtracks}, "the tokenizer fails, found: .*retry-limit"),
    ]:
        path.write_text(json.dumps({**before, **changed}))
        with pytest.raises(BadFile, match=message):
            Tokenizer(path, max_length=None, rows=200).ids(["a" * 40 + "!"])
    before["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [255]
    path.write_text(json.dumps(before))
    with pytest.raises(BadFile, match="gives the number 255 to a token, the encoder has vectors for 200: they do not"):
        Tokenizer(path, max_length=None, rows=200).ids(["a"])
    before["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [2]
    path.write_text(json.dumps({**before, "normalizer": _replaced(1)}))
    assert Tokenizer(path, max_length=None, rows=200).ids(["a"])[1] == 0
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("texts", [["a" * 20] * 5, ["a" * 100]])
@pytest.mark.parametrize(("each", "is_stopped"), [(10, True), (1, False)])
def test_a_tokenizer_that_takes_too_long_is_stopped(each, is_stopped, texts, folder, monkeypatch):
    """By a clock that says `each` second for every batch. Longer texts are tried by their beginnings."""
    monkeypatch.setattr(limits, "_FIRST", 30)
    seconds = itertools.count(0, each)
    monkeypatch.setattr(limits, "time", SimpleNamespace(process_time=lambda: next(seconds)))
    tokenizer = Tokenizer(folder / "tokenizer.json", max_length=None, rows=200)
    if not is_stopped:
        assert len(tokenizer.ids(texts)[0]) == len(texts)
        return
    with pytest.raises(BadFile, match=r"expected a tokenizer that reads 1,000 characters in a second, found [0-9]+; a"):
        tokenizer.ids(texts)


def test_batches_have_every_text_once(folder):
    path = folder / "tokenizer.json"
    split = {"type": "Split", "pattern": {"Regex": " "}, "behavior": "Removed", "invert": False}
    path.write_text(json.dumps({**json.loads(path.read_text()), "pre_tokenizer": split}))
    texts = ["the", "the and " * 99, "", "the " * 3000, *["and"] * 5000, "the"]
    ids, _ = Tokenizer(path, max_length=None, rows=200).ids(texts)
    alone = [Tokenizer(path, max_length=None, rows=200).ids([text])[0][0] for text in texts[:4]]
    assert len(ids) == len(texts)
    assert all(np.array_equal(found, expected) for found, expected in zip(ids, alone, strict=False))
    assert all(np.array_equal(each, ids[4]) for each in ids[4:-1])
    assert np.array_equal(ids[-1], ids[0])


@NEEDS_ONNX
def test_a_tokenizer_of_another_vocabulary(folder):
    facts = json.loads((folder / "tokenizer.json").read_text())
    facts["model"]["vocab"]["zebra"] = 200
    (folder / "tokenizer.json").write_text(json.dumps(facts))
    for runtime in ("onnx", "numpy"):
        with pytest.raises(BadFile, match="has tokens up to the number 200, the encoder vectors for 200"):
            open_encoder(folder, EncoderConfig(runtime=runtime))


def test_weights_that_overflow(folder):
    tensors = Tensors.open(folder / "model.safetensors")
    arrays = {name: tensors.floats(name, tensors.shape(name)) for name in tensors.names}
    arrays["encoder.layer.1.output.dense.weight"] = np.full((16, 32), 3e38, np.float32)
    replace(folder, arrays)
    with pytest.raises(BadFile, match="gives nan or infinity for a sentence"):
        pooled(folder, ["mean"], runtime="numpy")


@pytest.mark.parametrize(
    ("options", "poolings", "message"),
    [
        ({"max_length": 49}, [], "--max-length 49 is more than the 48 positions"),
        ({"max_length": 2}, [], "--max-length 2 leaves no room"),
        ({}, ["layer:3"], r"--pooling layer:3: .* has the layers 0 \(embeddings\) to 2"),
        ({"runtime": "torch"}, [], "--runtime must be one of auto, onnx, numpy"),
    ],
)
def test_options_that_cannot_be(options, poolings, message):
    with pytest.raises(UsageError, match=message):
        open_encoder(TINY, EncoderConfig(**options), poolings)


def test_what_is_no_folder_of_an_encoder(tmp_path):
    for path, message in [
        (tmp_path / "none", "found nothing"),
        (TINY / "config.json", "found a file"),
        (tmp_path, "expected an ELMo: .*; or a BERT-like encoder: .*; found none of these"),
    ]:
        with pytest.raises(WvError, match=message):
            open_encoder(path)
