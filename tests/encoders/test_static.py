"""Folders of model2vec and sentence-transformers as encoders: their vectors, damage, names of the hub's cache."""

import json
import shutil
import struct

import numpy as np
import pytest

import wv_cli
from tests.encoders.golden import EXPECTED, normalized, sentences_of
from wv_cli.encoders import EncoderConfig, encoder_folder, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.static import StaticModel
from wv_cli.vectors.formats.static_folder import save_model, without_mapping

FOLDERS = (
    "m2v-distil-words", "m2v-distil-vocabq", "m2v-distil-vocabq-int8", "m2v-unigram", "st3-nested-normalize",
    "st6-padded",
)  # fmt: skip


def vectors_of(folder, texts, **options):
    encoder = open_encoder(folder, EncoderConfig(**options))
    return encode(encoder, texts, [Pooling.parse("mean", 0, "x")], normalize=encoder.normalize)[0]


def test_vectors_of_the_libraries(static_folders, tmp_path):
    """A folder's own library decides whether unknown tokens count and what is cut; none has padding. A folder that is
    written again answers alike, and the other library cuts it at the same token."""
    for name in FOLDERS:
        folder = static_folders / name
        of_model2vec = name.startswith("m2v")
        expected = np.load(folder / (EXPECTED if of_model2vec else "expected.st.npy"))
        found = vectors_of(folder, sentences_of(static_folders))
        np.testing.assert_allclose(found.vectors, expected, rtol=0, atol=4e-6, err_msg=name)
        assert (found.cut >= 2) == (name != "st3-nested-normalize") and found.empty[2] and not found.vectors[2].any()
        save_model(tmp_path / name, without_mapping(StaticModel.open(folder)))
        again = vectors_of(tmp_path / name, sentences_of(static_folders))
        np.testing.assert_allclose(again.vectors, found.vectors, rtol=0, atol=2e-7, err_msg=name)
        facts = json.loads((tmp_path / name / "tokenizer.json").read_text())
        limit = (facts["truncation"] or {}).get("max_length")
        assert facts["padding"] is None and limit == StaticModel.open(folder).max_length
        assert (tmp_path / name / "config.json").exists() == of_model2vec


def test_limits_of_length(static_folders, tmp_path):
    """512 tokens unless config.json says otherwise, which null takes away; characters are cut first."""
    folder, long = shutil.copytree(static_folders / "m2v-distil-words", tmp_path / "m"), "c " * 700
    config = json.loads((folder / "config.json").read_text())
    for length, counted in [(None, 700), (8, 8), (512, 512)]:
        (folder / "config.json").write_text(json.dumps({**config, "max_length": length}))
        found = vectors_of(folder, [long])
        assert found.tokens == counted and found.cut == (counted < 700), length
    del config["max_length"]
    (folder / "config.json").write_text(json.dumps(config))
    assert vectors_of(folder, [long]).tokens == 512
    assert vectors_of(folder, ["x" * 5000 + " library"], max_length=8).cut == 1
    # A word beyond max_length times the median length of a token is not seen, however few tokens stand before it.
    median = int(np.median([len(token) for token in StaticModel.open(folder).tokenizer["model"]["vocab"]]))
    assert vectors_of(folder, [" " * (8 * median) + "library"], max_length=8).tokens == 0
    assert vectors_of(folder, [" " * (8 * median - 7) + "library"], max_length=8).tokens == 1
    (folder / "config.json").write_text(json.dumps({**config, "max_length": "8"}))
    with pytest.raises(BadFile, match=r"max_length: expected a whole number from 1 .*, found '8'"):
        open_encoder(folder)


def test_the_first_numbers_are_scaled_anew(static_folders):
    folder = static_folders / "st3-nested-normalize"
    texts = ["a library", "GNU compiler"]
    whole = vectors_of(folder, texts).vectors
    found = vectors_of(folder, texts, dim=5).vectors
    np.testing.assert_allclose(found, normalized(whole[:, :5]), atol=1e-6)
    assert open_encoder(static_folders / "teacher-bert", EncoderConfig(dim=7, runtime="numpy")).dim == 7
    with pytest.raises(UsageError, match=r"--dim 17 is more than the 16 numbers of"):
        open_encoder(folder, EncoderConfig(dim=17))


def test_modules_that_would_change_vectors_are_refused_by_name(static_folders, tmp_path):
    folder = shutil.copytree(static_folders / "st3-nested-normalize", tmp_path / "m")
    rows = json.loads((folder / "modules.json").read_text())
    old = "sentence_transformers.models."
    for added, message in [
        (f"{old}Dense", "the module Dense is none"),
        ("custom.code.Gate", "the module Gate is none"),
        (
            f"{old}Pooling",
            "expected StaticEmbedding and nothing else but Normalize, found StaticEmbedding, Normalize, P",
        ),
    ]:
        (folder / "modules.json").write_text(json.dumps([*rows, {"path": "2_X", "type": added}]))
        for opened in (open_encoder, load):
            with pytest.raises(BadFile, match=message):
                opened(folder)


def test_vectors_of_the_tokens(static_folders):
    """One reader: a nested folder, one with a mapping and weights, and one of Unigram have the rows of their tokens."""
    for name, token in [("st3-nested-normalize", "library"), ("m2v-distil-vocabq", "library"), ("m2v-unigram", "▁the")]:
        vectors = load(static_folders / name)
        row = vectors.matrix[vectors.words.find(token)]
        text = token.lstrip("▁")
        found = vectors_of(static_folders / name, [text], dim=0).vectors[0]
        np.testing.assert_allclose(normalized(row[None])[0], found, atol=1e-6, err_msg=name)


def _safetensors(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_damaged_tables(static_folders, tmp_path):
    """Each is refused in one line, by the encoder and as vectors."""
    folder = shutil.copytree(static_folders / "m2v-distil-vocabq", tmp_path / "m")
    file = folder / "model.safetensors"
    two = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    rows = np.ones((2, 2), "<f4").tobytes()
    mapping = {"dtype": "I32", "shape": [2], "data_offsets": [16, 24]}
    three = {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]}
    half = {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}

    def of(**more):
        return {"embeddings": two, **more}

    for header, data, message in [
        (of(mapping=mapping), rows + struct.pack("<2i", 0, 2), "mapping: expected rows from 0 to 1"),
        (of(mapping=mapping), rows + struct.pack("<2i", 0, -1), "mapping: expected rows from 0 to 1"),
        (of(mapping={**mapping, "shape": [2, 1]}), rows + bytes(8), "mapping: expected a row of whole numbers"),
        (of(mapping={**mapping, "shape": [], "data_offsets": [16, 20]}), rows + bytes(4), "mapping: expected a row"),
        (of(mapping={**mapping, "dtype": "F32"}), rows + bytes(8), "mapping: expected a row of whole numbers"),
        (of(weights={**mapping, "dtype": "I32"}), rows + bytes(8), "weights: expected floats, 2, found I32"),
        (of(mapping=mapping, weights=three), rows + bytes(20), "weights: expected floats, 2, found F32, 3"),
        ({"embeddings": {**two, "dtype": 5}}, rows, "expected type, shape and the two offsets"),
        ({"embeddings": {**two, "dtype": "F4"}}, rows, "expected type, shape and the two offsets"),
        ({"embeddings": {**two, "shape": [2, 3]}}, rows, "expected type, shape and the two offsets"),
        ({"embeddings": {**two, "shape": [4]}}, rows, "expected floats, any x any, found F32, 4"),
        ({"embeddings": {**two, "data_offsets": [0, 1 << 60]}}, rows, "expected type, shape and the two offsets"),
        ({"embeddings": two}, rows[:8], "expected 16 bytes of numbers, found 8"),
        ({"embeddings": two}, rows[:12] + struct.pack("<f", np.nan), "expected finite numbers"),
        ({"embeddings": half}, bytes(6) + b"\xff\x7f", "expected finite numbers"),
        (b'{"a":' + b"[" * 9999, b"", "expected a header in JSON"),
    ]:  # fmt: skip
        _safetensors(file, header, data)
        for opened in (open_encoder, load):
            with pytest.raises(BadFile, match=message) as caught:
                opened(folder)
            assert "\n" not in str(caught.value)
    file.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")
    with pytest.raises(BadFile, match="length of its header"):
        open_encoder(folder)


def test_bfloat16_and_a_large_mapping(static_folders, tmp_path, monkeypatch):
    folder = shutil.copytree(static_folders / "m2v-distil-vocabq", tmp_path / "m")
    tokens = len(StaticModel.open(folder).table)
    half = {"dtype": "BF16", "shape": [1, 2], "data_offsets": [0, 4]}
    mapping = {"dtype": "I16", "shape": [tokens], "data_offsets": [4, 4 + 2 * tokens]}
    data = struct.pack("<2H", 0x3F80, 0xC000) + bytes(2 * tokens)
    _safetensors(folder / "model.safetensors", {"embeddings": half, "mapping": mapping}, data)
    np.testing.assert_allclose(vectors_of(folder, ["library"]).vectors, normalized(np.array([[1.0, -2.0]])), atol=1e-6)
    monkeypatch.setattr("wv_cli.io.memory.available", lambda: 1000)
    assert vectors_of(folder, ["library"]).vectors.any()  # the table is not spread out
    with pytest.raises(WvError, match=r"the table needs .* of memory, but .* available"):
        load(folder)


def test_names_of_the_local_hub_cache(wv, static_folders, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "hub" / "models--mine--tiny"
    for refused in (lambda: open_encoder("mine/tiny"), lambda: load("mine/tiny")):
        with pytest.raises(
            WvError, match=r"mine/tiny: no file or folder .* local hub cache \(.*hub\); wv downloads noth"
        ):
            refused()
    with pytest.raises(WvError, match=r"mine/vectors\.bin: .*no such file"):
        load("mine/vectors.bin")
    shutil.copytree(static_folders / "m2v-distil-vocabq", place / "snapshots" / "1a2b")
    with pytest.raises(WvError, match=r"its folder in the local hub cache is not complete .*refs/main"):
        load("mine/tiny")
    (place / "refs").mkdir()
    for revision in ("9f", "..", "../snapshots/1a2b"):
        (place / "refs" / "main").write_text(revision)
        with pytest.raises(WvError, match="is not complete"):
            load("mine/tiny")
    (place / "refs" / "main").write_text("1a2b\n")
    assert load("mine/tiny").words.find("library") >= 0
    for call in [("nn", "mine/tiny", "library", "-k", "1"), ("check", "mine/tiny")]:
        done = wv(*call)
        assert done.returncode == 0, done.stderr
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert load("mine/tiny").dim == 32
    assert load("mine/tiny").matrix.shape == load(static_folders / "m2v-distil-vocabq").matrix.shape
    with pytest.raises(WvError, match="mine/tiny/x: cannot read"):
        load("mine/tiny/x")


def test_converting_keeps_the_tokenizer(wv, static_folders, tmp_path):
    source = static_folders / "m2v-distil-words"
    done = wv("convert", source, "small", "--to", "static", "--dtype", "int8", "--dim", "8")
    assert done.returncode == 0 and "small: int8 is read by wv and model2vec, not by sentence-tr" in done.stderr
    texts = ["machine learning in New York", "a library for c++"]
    whole, found = (vectors_of(folder, texts).vectors for folder in (source, tmp_path / "small"))
    assert (np.sum(normalized(whole[:, :8]) * found, axis=1) > 0.999).all()
    done = wv("convert", source, "words", "--to", "static", "--split", "punctuation")
    assert json.loads((tmp_path / "words/tokenizer.json").read_text())["model"]["type"] == "WordLevel"
    for call, message in [
        (("convert", source, "x", "--to", "static", "--dim", "33"), "--dim 33 is more than the 32 numbers"),
        (("convert", source, "x.vec", "--dim", "33"), "--dim 33 is more than the 32 numbers"),
        (("convert", source, "x.vec", "--dtype", "int8"), "--dtype needs --to static"),
    ]:
        done = wv(*call)
        assert done.returncode == 2 and message in done.stderr, done.stderr
    assert wv("convert", "small", "x.npy", "--dim", "3", "--escape").returncode == 0
    assert load(tmp_path / "x.npy").dim == 3


def with_usage(folder, **facts):
    (folder / "config_sentence_transformers.json").write_text(json.dumps(facts))
    return folder


def test_a_default_prompt_stands_before_every_text(static_folders, tmp_path):
    """In folders of sentence-transformers; model2vec knows no prompts."""
    for name, options in [("st6-padded", {}), ("st3-nested-normalize", {}), ("teacher-bert", {"runtime": "numpy"})]:
        folder = shutil.copytree(static_folders / name, tmp_path / name)
        texts = ["a library", "", "GNU\ncompiler"]
        expected = vectors_of(static_folders / name, [f"query: {text}" for text in texts], **options).vectors
        plain = vectors_of(static_folders / name, texts, **options).vectors
        with_usage(folder, prompts={"q": "query: ", "other": "x"}, default_prompt_name="q")
        np.testing.assert_array_equal(vectors_of(folder, texts, **options).vectors, expected)
        with_usage(folder, prompts={"q": "query: "}, default_prompt_name=None)
        np.testing.assert_array_equal(vectors_of(folder, texts, **options).vectors, plain)
        for facts in ({"default_prompt_name": "q"}, {"prompts": ["q"], "default_prompt_name": "q"}):
            with_usage(folder, **facts)
            with pytest.raises(BadFile, match="default_prompt_name: expected a name among `prompts`, found 'q'"):
                open_encoder(folder)
        with_usage(folder, prompts={"q": "query: "}, default_prompt_name=["q"])
        with pytest.raises(BadFile, match=r"default_prompt_name: expected a name among `prompts`, found \['q'\]"):
            open_encoder(folder)
    folder = shutil.copytree(static_folders / "m2v-unigram", tmp_path / "m")
    with_usage(folder, prompts={"q": "query: "}, default_prompt_name="q", truncate_dim=3)
    np.testing.assert_array_equal(
        vectors_of(folder, ["a library"]).vectors, vectors_of(static_folders / "m2v-unigram", ["a library"]).vectors
    )


def test_a_converted_folder_keeps_its_usage(static_folders, tmp_path):
    folder = shutil.copytree(static_folders / "st6-padded", tmp_path / "m")
    facts = {"prompts": {"q": "query: ", "document": "text: "}, "default_prompt_name": "q", "similarity_fn_name": "dot"}
    with_usage(folder, **facts)
    wv_cli.convert(folder, tmp_path / "copy", to_format="static")
    one, other = wv_cli.load_encoder(folder), wv_cli.load_encoder(tmp_path / "copy")
    assert other.prompts == one.prompts and other.similarity_fn_name == "dot"
    assert (other.encode(["a library"]) == one.encode(["a library"])).all()


def test_a_prompt_that_is_not_pooled_is_refused(static_folders, tmp_path):
    folder = shutil.copytree(static_folders / "teacher-bert", tmp_path / "m")
    with_usage(folder, prompts={"q": "query: "}, default_prompt_name="q")
    settings = json.loads((folder / "1_Pooling" / "config.json").read_text())
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({**settings, "include_prompt": False}))
    with pytest.raises(BadFile, match="include_prompt: expected true for a prompt, found false"):
        open_encoder(folder)


def test_truncate_dim_is_taken_after_scaling(static_folders, tmp_path):
    folder = shutil.copytree(static_folders / "st3-nested-normalize", tmp_path / "m")
    whole = vectors_of(folder, ["a library", "GNU compiler"]).vectors
    with_usage(folder, truncate_dim=5)
    found = vectors_of(folder, ["a library", "GNU compiler"]).vectors
    np.testing.assert_allclose(found, whole[:, :5], atol=1e-6)
    np.testing.assert_allclose(
        vectors_of(folder, ["a library", "GNU compiler"], dim=7).vectors, normalized(whole[:, :7]), atol=1e-6
    )
    with_usage(folder, truncate_dim=99)
    assert open_encoder(folder).dim == 16
    with_usage(folder, truncate_dim="5")
    with pytest.raises(BadFile, match="truncate_dim: expected a whole number"):
        open_encoder(folder)


def test_an_encoder_is_a_folder_with_a_tokenizer(static_folders, tmp_path):
    for name in (*FOLDERS, "teacher-bert"):
        folder = static_folders / name
        assert encoder_folder(folder) == folder
    m2v = static_folders / "m2v-unigram"
    assert encoder_folder(m2v / "model.safetensors") == m2v
    bare = shutil.copytree(m2v, tmp_path / "m")
    (bare / "tokenizer.json").unlink()
    (tmp_path / "v.vec").write_text("1 1\na 1\n")
    for path in (bare, bare / "model.safetensors", tmp_path, tmp_path / "v.vec", tmp_path / "nothing"):
        assert encoder_folder(path) is None
