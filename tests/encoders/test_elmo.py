"""ELMo against what TensorFlow made of two published fixtures, and against every mistake that its recipe invites."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.tiers import full
from wv_cli.encoders import EncoderConfig, elmo, open_encoder
from wv_cli.encoders.base import encode, encode_tokens
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError, WvError

h5py = pytest.importorskip("h5py")

FOLDER = GOLDEN / "encoders" / "elmo"
# The fixture with skip connections, that without; the names of their sentences.
FIXTURES = {"allennlp": "sentences.json", "bilm-tf": "lm_embeddings_sentences.json"}
LIMIT = 2e-6
BOTH = pytest.mark.parametrize("name", FIXTURES)


def facts(name):
    return json.loads((FOLDER / name / "golden.json").read_text()), dict(np.load(FOLDER / name / "golden.npz"))


def top_error(name, encoder=None, **options):
    """The largest difference from TensorFlow's top layer, 30 sentences; each of the three lists goes on with the states
    of its last sentence."""
    worst = 0.0
    for number, sentences in enumerate(json.loads((FOLDER / name / FIXTURES[name]).read_text())):
        source = encoder() if encoder else open_encoder(FOLDER / name, EncoderConfig(stateful=True, **options))
        tokens, _ = source.tokens(sentences)
        with h5py.File(FOLDER / name / f"lm_embeddings_{number}.hdf5") as golden:
            for place, each in enumerate(tokens):
                expected = np.concatenate(list(golden[str(place)][...]), axis=-1)
                (found,), mask = source.states([each], [2])
                assert mask.all() and found.shape[1:] == expected.shape
                worst = max(worst, float(np.abs(found[0] - expected).max()))
    return worst


@BOTH
def test_tensorflows_top_layer(name):
    assert top_error(name) <= LIMIT


def test_tensorflows_words():
    """Layer 0, of one word at a time: characters, highway and projection."""
    folder = FOLDER / "allennlp"
    words = (folder / "vocab_test.txt").read_text().split()
    with h5py.File(folder / "elmo_token_embeddings.hdf5") as golden:
        expected = golden["embedding"][...]
    (found,) = encode_tokens(open_encoder(folder), [" ".join(words)], Pooling.parse("layer:0", 2, ""))
    np.testing.assert_allclose(found[:, :16], expected, rtol=1e-5, atol=LIMIT)
    assert np.array_equal(found[:, :16], found[:, 16:])


@BOTH
@pytest.mark.parametrize("stateful", [False, True])
def test_every_layer(name, stateful):
    """Among the sentences: an empty one, which moves the states, a word of 60 letters, the marks as words."""
    golden, arrays = facts(name)
    source = open_encoder(FOLDER / name, EncoderConfig(stateful=stateful))
    texts = [" ".join(words) for words in golden["sentences"]]
    for layer in range(3):
        source = open_encoder(FOLDER / name, EncoderConfig(stateful=stateful))
        found = encode_tokens(source, texts, Pooling.parse(f"layer:{layer}", 2, name))
        for number, each in enumerate(found):
            expected = arrays[f"{'stateful' if stateful else 'stateless'}_{number}"][layer, 1:-1]
            np.testing.assert_allclose(each, expected, rtol=0, atol=LIMIT)
    assert [source.names(text, each) for text, each in zip(texts, source.tokens(texts)[0], strict=True)] == golden[
        "sentences"
    ]


@BOTH
def test_sentences_and_mixes(name):
    golden, arrays = facts(name)
    texts = [" ".join(words) for words in golden["sentences"]]
    source = open_encoder(FOLDER / name)
    poolings = [Pooling.parse(f"layer:{layer}", 2, name) for layer in range(3)]
    for layer, result in enumerate(encode(source, texts, poolings)):
        assert result.empty.tolist() == [False, False, False, True, False] and not result.vectors[3].any()
        for number in (0, 1, 2, 4):
            expected = arrays[f"sent_mean_{number}"][layer]
            np.testing.assert_allclose(result.vectors[number], expected, rtol=0, atol=LIMIT)
    raw = "softmax:" + ",".join(map(str, golden["mix_scalars"]))
    made = ",".join(map(repr, golden["mix_softmax"]))
    for mix in (raw, made):
        for norm, key in ((False, "mix"), (True, "mixln")):
            pooling = Pooling.parse("mean", 2, name).with_mix(mix, golden["mix_gamma"], norm, 2, name)
            for number in (0, 1, 2, 4):
                (found,) = encode_tokens(source, texts[number : number + 1], pooling)
                np.testing.assert_allclose(found, arrays[f"{key}_{number}"], rtol=0, atol=2 * LIMIT)
            # In a batch with others, padded.
            for number, found in enumerate(encode_tokens(source, texts, pooling)):
                if number != 3:
                    np.testing.assert_allclose(found, arrays[f"{key}_{number}"], rtol=0, atol=2 * LIMIT)


def test_character_ids():
    for number, words in enumerate(facts("allennlp")[0]["sentences"]):
        expected = facts("allennlp")[1][f"ids_{number}"]
        assert np.array_equal(elmo.character_ids(["<S>", *words, "</S>"], 50), expected)
    assert elmo.character_ids(["\udcff"], 5).tolist() == [[259, 256, 260, 261, 261]]
    assert np.array_equal(elmo.character_ids(["\ud800"], 5), elmo.character_ids(["\ufffd"], 5))


CELL = elmo.Cell  # while a mistaken one stands in its place


class Mistaken(elmo.Cell):
    """A cell with one thing wrong."""

    gates, forget, clip = (0, 1, 2, 3), 1.0, True

    def run(self, x, state):
        cells = self.recurrent.shape[1] // 4
        # The network's own order is i j f o: another one is the same as weights in another order.
        order = np.concatenate([np.arange(cells) + cells * gate for gate in self.gates])
        bias = self.bias[order].copy()
        bias[2 * cells : 3 * cells] += np.float32(self.forget - 1)
        clips = (self.cell_clip, self.project_clip) if self.clip else (np.inf, np.inf)
        plain = CELL(self.inputs[:, order], self.recurrent[:, order], bias, self.project, *clips)
        return plain.run(x, state)


MISTAKES = {
    "gates i f j o": {"gates": (0, 2, 1, 3)},
    "no forget bias": {"forget": 0.0},
    "no clipping": {"clip": False},
}


@pytest.mark.parametrize("name", [*full("allennlp"), "bilm-tf"])
@pytest.mark.parametrize("mistake", [*MISTAKES, "skip flipped", "no marks", "no state", "none"])
def test_mistakes_are_noticed(name, mistake, monkeypatch):
    """What the recipe invites costs at least 4e-4 (clipping, in the fixture without skip connections)."""
    if mistake in MISTAKES:
        monkeypatch.setattr(elmo, "Cell", type("Cell", (Mistaken,), MISTAKES[mistake]))

    def opened():
        source = open_encoder(FOLDER / name, EncoderConfig(stateful=mistake != "no state"))
        if mistake == "skip flipped":
            source._model.skip = not source._model.skip
        if mistake == "no marks":
            source._ends[:] = elmo.character_ids(["."], 50)
        return source

    error = top_error(name, opened)
    assert error <= LIMIT if mistake == "none" else error > 4e-4


def test_company_and_length():
    """A sentence in a batch is what it is alone; the backward direction begins at its own end."""
    source, mean = open_encoder(FOLDER / "allennlp"), Pooling.parse("mean", 2, "")
    words = ["The", "cat", "sat", "on", "the", "mat", "and", "slept"]
    texts = [" ".join(words[:n]) for n in range(1, 9)] * 20
    (many,) = encode(source, texts, [mean], threads=2)
    alone = [encode(source, [text], [mean])[0].vectors[0] for text in texts[:8]]
    np.testing.assert_allclose(many.vectors[:8], alone, rtol=0, atol=LIMIT)
    np.testing.assert_allclose(many.vectors[152:], alone, rtol=0, atol=LIMIT)
    cut = open_encoder(FOLDER / "allennlp", EncoderConfig(max_length=3))
    (short,) = encode(cut, texts[:8], [mean])
    assert short.cut == 5 and short.tokens == 21
    np.testing.assert_allclose(short.vectors[3:], [alone[2]] * 5, rtol=0, atol=LIMIT)


@pytest.fixture
def folder(tmp_path):
    for name in ("options.json", "lm_weights.hdf5"):
        shutil.copy(FOLDER / "bilm-tf" / name, tmp_path / name)
    return tmp_path


def change(path, part, **options):
    whole = json.loads(path.read_text())
    whole[part] = {**whole[part], **options}
    path.write_text(json.dumps(whole))


@pytest.mark.parametrize(
    ("part", "options", "message"),
    [
        ("lstm", {"projection_dim": 15}, "CNN_proj/W_proj: expected floats, 124 x 15, found float32, 124 x 16"),
        ("lstm", {"n_layers": 3}, "expected an array 'RNN_0/.*/Cell2/LSTMCell/W_0'"),
        ("lstm", {"n_layers": "2"}, "n_layers: expected a whole number"),
        ("lstm", {"use_skip_connections": 1}, "use_skip_connections: expected true or false"),
        ("lstm", {"cell_clip": "3"}, "cell_clip: expected a number"),
        ("char_cnn", {"filters": [[1, 4], [51, 8]]}, "filters: expected a list of .width up to 50, count."),
        ("char_cnn", {"filters": []}, "filters: expected a list"),
        ("char_cnn", {"filters": [[1, 4]]}, "CNN_high_0/W_carry: expected floats, 4 x 4"),
        ("char_cnn", {"activation": "gelu"}, "activation: expected relu or tanh"),
        ("char_cnn", {"embedding": 4}, "embedding: expected an object"),
        ("char_cnn", {"embedding": {"dim": 5}}, "char_embed: expected floats, 261 x 5, found float32, 261 x 4"),
        ("char_cnn", {"max_characters_per_token": 2}, "max_characters_per_token: expected a whole number"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(part, options, message, folder):
    change(folder / "options.json", part, **options)
    with pytest.raises(BadFile, match=message) as caught:
        open_encoder(folder)
    assert "\n" not in str(caught.value)


def test_no_clip_and_no_highway(folder):
    """null, and no word at all."""
    change(folder / "options.json", "lstm", cell_clip=None, proj_clip=None)
    source = open_encoder(folder)
    assert source._model.cells[0][0].cell_clip == np.inf
    options = json.loads((folder / "options.json").read_text())
    del options["char_cnn"]["n_highway"]
    (folder / "options.json").write_text(json.dumps(options))
    assert open_encoder(folder)._characters.highways == []


def rewritten(folder, make):
    with h5py.File(folder / "lm_weights.hdf5", "r+") as file:
        make(file)


def not_finite(file):
    file["char_embed"][3, 1] = np.nan


def whole_numbers(file):
    del file["char_embed"]
    file["char_embed"] = np.zeros((261, 4), np.int64)


def elsewhere(file):
    del file["char_embed"]
    file["char_embed"] = h5py.ExternalLink("other.hdf5", "/char_embed")


def outside(file):
    del file["char_embed"]
    Path(file.filename).with_name("raw").write_bytes(bytes(261 * 4 * 4))
    file.create_dataset("char_embed", (261, 4), "f4", external=[("raw", 0, 261 * 4 * 4)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (not_finite, "char_embed: expected finite numbers"),
        (whole_numbers, "char_embed: expected floats, 261 x 4, found int64"),
        (elsewhere, "expected an array 'char_embed' in the file itself"),
        (outside, "expected an array 'char_embed' in the file itself"),
        (lambda file: file.__delitem__("CNN"), "expected an array 'CNN/W_cnn_0' in the file itself"),
    ],
)
def test_damaged_weights(make, message, folder):
    rewritten(folder, make)
    with pytest.raises(BadFile, match=message):
        open_encoder(folder)


def test_no_hdf5(folder):
    (folder / "lm_weights.hdf5").write_bytes(b"x" * 1000)
    with pytest.raises(BadFile, match="expected an HDF5 file, found: ") as caught:
        open_encoder(folder)
    assert "\n" not in str(caught.value)
    (folder / "lm_weights.hdf5").unlink()
    with pytest.raises(BadFile, match=r"expected one file \*weights.hdf5 .*, found none"):
        open_encoder(folder)
    (folder / "more_options.json").write_text("{}")
    with pytest.raises(BadFile, match=r"expected one file \*options.json .*, found more_options.json, options.json"):
        open_encoder(folder)


@pytest.mark.parametrize(
    ("mix", "pooling", "message"),
    [
        ("1,2", "mean", "--mix 1,2: expected 3 numbers with commas between, one for each layer"),
        ("1,x,2", "mean", "expected 3 numbers"),
        ("1,nan,2", "mean", "expected 3 numbers"),
        ("1,1,1", "first-last", "--mix and --pooling first-last cannot be used together"),
    ],
)
def test_mixes_that_cannot_be(mix, pooling, message):
    with pytest.raises(UsageError, match=message):
        Pooling.parse(pooling, 2, "x").with_mix(mix, 1.0, False, 2, "x")


def test_options_of_the_other_kind():
    with pytest.raises(UsageError, match="--stateful is for ELMo"):
        open_encoder(GOLDEN / "encoders" / "tiny-bert", EncoderConfig(stateful=True))
    with pytest.raises(UsageError, match=r"--runtime onnx: .* is an ELMo"):
        open_encoder(FOLDER / "allennlp", EncoderConfig(runtime="onnx"))


def test_on_the_command_line(wv):
    golden, arrays = facts("bilm-tf")
    call = ("vectors", "--encoder", FOLDER / "bilm-tf")
    lines = "".join(f"{' '.join(words)}\n" for words in golden["sentences"])
    done = wv(*call, "--mix", "softmax:0.1,-0.4,0.7", "--gamma", "1.3", "--precision", "9", input=lines)
    assert done.returncode == 0, done.stderr
    rows = [line.split(" ") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [word for words in golden["sentences"] for word in words]
    expected = np.concatenate([arrays[f"mix_{number}"] for number in range(5)])
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), expected, rtol=0, atol=2 * LIMIT)
    done = wv(*call, "--sentences", "--stateful", "--pooling", "layer:2", "--json", input=lines)
    last = json.loads(done.stdout.splitlines()[-1])["vector"]
    np.testing.assert_allclose(last, arrays["stateful_4"][2, 1:-1].mean(axis=0), rtol=0, atol=LIMIT)
    assert done.stderr == "1 of 5 lines have no token with a vector; theirs are zero\n"
    for arguments, message in [
        (("--pooling", "mean"), "--pooling mean joins the tokens of a line"),
        (("-o", "x.npy"), "--output needs --sentences"),
        (("--normalize",), "--normalize needs --sentences"),
        (("--gamma", "2"), "--gamma needs --mix"),
    ]:
        done = wv(*call, "a", *arguments)
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_without_h5py(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(WvError, match=r"ELMo's weights in HDF5 needs the package h5py; pip install h5py"):
        open_encoder(FOLDER / "allennlp")
