"""wv_cli.load_encoder: the vectors of wv_cli.encode, by the argument names of sentence-transformers. What that library
answers needs the extra `engines`, and is skipped without it."""

import copy
import inspect
import json
import pickle
import shutil

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.encoders.base import SENTENCES
from wv_cli.errors import BadFile, UsageError, WvError

TEXTS = ["the one two", "of in", "", "a king of the one two three four"]
VECTORS, MODEL = GOLDEN / "gensim.vec", GOLDEN / "ft-words.bin"
BERT, STATIC = GOLDEN / "encoders" / "tiny-bert-st6", GOLDEN / "encoders" / "static-model2vec"

MODELS = [
    (VECTORS, {}),
    (VECTORS, {"pooling": "idf", "counts": "counts"}),
    (MODEL, {}),
    (STATIC, {"normalize": False}),
    (BERT, {"pooling": "cls", "dim": 4, "max_length": 5}),
]


@pytest.fixture(scope="module")
def static():
    return wv_cli.load_encoder(STATIC)


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_the_vectors_of_encode(model, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts").write_text("</s> 9\nthe 9\nof 5\none 2\nin 2\n")
    encoder = wv_cli.load_encoder(model, **options)
    for texts in (TEXTS, iter(TEXTS)):
        found = encoder.encode(texts)
        assert found.dtype == np.float32 and found.shape == (len(TEXTS), encoder.dim)
        assert found.tobytes() == wv_cli.encode(model, TEXTS, **options).tobytes()
    assert encoder.encode([]).shape == (0, encoder.dim)
    np.testing.assert_allclose(encoder.encode(TEXTS[0]), found[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", [VECTORS, MODEL, STATIC, BERT])
def test_a_lone_surrogate_is_read_as_in_records(model):
    encoder = wv_cli.load_encoder(model)
    assert encoder.encode("the \ud800 one").tobytes() == encoder.encode("the \ufffd one").tobytes()


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_an_encoder_is_pickled_as_the_call_that_opened_it(model, options, tmp_path, monkeypatch):
    shutil.copy(VECTORS, tmp_path / VECTORS.name)
    (tmp_path / "counts").write_text("</s> 9\nthe 9\nof 5\none 2\nin 2\n")
    monkeypatch.chdir(tmp_path)
    encoder = wv_cli.load_encoder(VECTORS.name if model == VECTORS else model, truncate_dim=3, **options)
    kept = pickle.dumps(encoder)
    monkeypatch.chdir("/")
    other = pickle.loads(kept)
    assert len(kept) < 1000 and other.encode(TEXTS).tobytes() == encoder.encode(TEXTS).tobytes()
    assert pickle.dumps(other) == kept and copy.copy(encoder) is copy.deepcopy(encoder) is encoder


def test_whitened_means(tmp_path):
    """As wv vectors and wv whiten make them of files."""
    wv_cli.whiten(VECTORS, method="pca", dim=5, save_transform=tmp_path / "w.map")
    found = wv_cli.load_encoder(VECTORS, pooling="mean", transform=tmp_path / "w.map").encode(TEXTS)
    np.save(tmp_path / "lines.npy", wv_cli.encode(VECTORS, TEXTS, pooling="mean"))
    wv_cli.whiten(tmp_path / "lines.npy", tmp_path / "white.npy", transform=tmp_path / "w.map")
    assert found.shape[1] == 5 and found.tobytes() == np.load(tmp_path / "white.npy").tobytes()
    with pytest.raises(WvError, match="the transform is for vectors of"):
        wv_cli.load_encoder(BERT, transform=tmp_path / "w.map")
    with pytest.raises(BadFile, match="expected a transform"):
        wv_cli.load_encoder(BERT, transform=VECTORS)


@pytest.mark.parametrize("model", [VECTORS, STATIC, BERT])
def test_unit_length(model):
    encoder = wv_cli.load_encoder(model)
    plain, unit = encoder.encode(TEXTS), encoder.encode(TEXTS, normalize_embeddings=True)
    lengths = np.linalg.norm(plain, axis=1, keepdims=True)
    np.testing.assert_allclose(unit, plain / np.where(lengths == 0, 1, lengths), rtol=1e-6)
    short = encoder.encode(TEXTS, normalize_embeddings=True, truncate_dim=3)
    np.testing.assert_allclose(np.linalg.norm(short, axis=1), lengths[:, 0] > 0, rtol=1e-6)
    assert (encoder.encode(TEXTS, truncate_dim=3) == plain[:, :3]).all()


def test_batch_size_reaches_the_network(monkeypatch):
    """`batch_size` bounds the texts of a pass; the default is that of the command."""
    from wv_cli.encoders.transformer import Transformer

    asked, states = [], Transformer.states
    monkeypatch.setattr(Transformer, "states", lambda self, tokens, layers: (
        asked.append(len(tokens)), states(self, tokens, layers))[1])  # fmt: skip
    encoder = wv_cli.load_encoder(BERT, threads=1)
    whole = encoder.encode(TEXTS * 3)
    assert asked == [12]
    np.testing.assert_allclose(encoder.encode(TEXTS * 3, batch_size=5), whole, atol=2e-6)
    assert asked == [12, 5, 5, 2]
    assert inspect.signature(encoder.encode).parameters["batch_size"].default == SENTENCES


def test_similarity(static):
    one, other = static.encode(["the king"]), static.encode(["the one", "the king", ""])
    found = static.similarity(one, other)
    assert found.shape == (1, 3) and found.dtype == np.float32
    np.testing.assert_allclose(found[0], [(one * other[0]).sum(), 1, 0], atol=1e-6)
    assert static.similarity(one[0], other[1].tolist()).shape == (1, 1)
    with pytest.raises(ValueError, match=r"vectors of the same length, found the shapes \(1, 50\), \(3, 4\)"):
        static.similarity(one, other[:, :4])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"inputs": [b"the"]}, TypeError, "inputs: expected each text as str, found bytes"),
        ({"inputs": None}, TypeError, "inputs: expected a text as str, or several"),
        ({"batch_size": 0}, UsageError, "batch_size must be 1 or more, not 0"),
        ({"batch_size": 1.5}, TypeError, "batch_size: expected a whole number"),
        ({"precision": "float64"}, UsageError, "precision must be one of float32, binary, ubinary, not float64$"),
        ({"precision": "int8"}, UsageError, "int8 and uint8 would depend on the other texts of the call"),
        ({"precision": 8}, TypeError, "precision: expected a name"),
        ({"convert_to_tensor": True}, UsageError, "torch.from_numpy"),
        ({"convert_to_numpy": False}, UsageError, "torch.from_numpy"),
        ({"show_progress_bar": 1}, TypeError, "show_progress_bar: expected True or False"),
        ({"output_value": "token_embeddings"}, UsageError, "output_value must be sentence_embedding, not 'token_emb"),
        ({"device": "cuda"}, UsageError, "device='cuda' is not supported: texts are encoded on the CPU; leave it out"),
        ({"prompt_name": "find"}, UsageError, "prompt_name must be one of query, document, not 'find'; or .* prompt="),
        ({"prompt_name": 64}, TypeError, "prompt_name: expected a name as str"),
        ({"prompt": 64}, TypeError, "prompt: expected a text as str"),
        ({"prompt": "a ", "prompt_name": "query"}, UsageError, "prompt and prompt_name say both .*; give one"),
        ({"normalize_embeddings": 1}, TypeError, "normalize_embeddings: expected True or False"),
        ({"truncate_dim": 51}, UsageError, "truncate_dim must be between 1 and the 50 of the model, not 51"),
        ({"truncate_dim": 0}, UsageError, "truncate_dim must be between 1 and"),
    ],
)
def test_what_encode_refuses(static, options, kind, message):
    with pytest.raises(kind, match=message):
        static.encode(**{"inputs": TEXTS, **options})


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"pooling": "sif", "counts": "c"}, UsageError, "sif removes what the texts of a call share, so that calls"),
        ({"pooling": "idf"}, UsageError, "idf without counts weighs words by the texts of a call, .*; give counts"),
        ({"transform": 5}, TypeError, "transform: expected a path"),
        ({"transform": "none.map"}, WvError, "none.map: cannot read"),
        ({"max_length": 4}, UsageError, "max_length needs the folder of an encoder"),
        ({"model": "none.vec"}, WvError, "none.vec: cannot read"),
        ({"device": "cuda"}, UsageError, "device='cuda' is not supported: texts are encoded on the CPU; leave it out"),
        ({"truncate_dim": 500}, UsageError, "truncate_dim must be between 1 and the .* of the model, not 500"),
        ({"truncate_dim": "3"}, TypeError, "truncate_dim: expected a whole number"),
    ],
)
def test_what_is_refused_before_a_text(options, kind, message):
    with pytest.raises(kind, match=message):
        wv_cli.load_encoder(**{"model": VECTORS, **options})


def test_queries_documents_and_pairs(static, tmp_path):
    vectors = static.encode(TEXTS)
    assert (static.encode_query(TEXTS) == vectors).all() and static.get_sentence_embedding_dimension() == static.dim
    assert (static.encode_document(TEXTS, truncate_dim=3) == vectors[:, :3]).all()
    short = wv_cli.load_encoder(STATIC, truncate_dim=3, device="cpu")
    assert short.get_embedding_dimension() == 3 and (short.encode(TEXTS) == vectors[:, :3]).all()
    assert short.encode(TEXTS, truncate_dim=5).shape == (len(TEXTS), 5)
    pairs = static.similarity_pairwise(vectors[:2], vectors[2:])
    assert pairs.dtype == np.float32 and pairs == pytest.approx(np.diag(static.similarity(vectors[:2], vectors[2:])))
    with pytest.raises(ValueError, match="same shape"):
        static.similarity_pairwise(vectors[:2], vectors[:1])


def with_usage(model, folder, **settings):
    shutil.copytree(model, folder)
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize("model", [VECTORS, MODEL, STATIC, BERT])
def test_a_prompt_stands_before_every_text(model):
    encoder = wv_cli.load_encoder(model, threads=1)
    expected = encoder.encode([f"king {text}" for text in TEXTS])
    assert (encoder.encode(TEXTS, prompt="king ") == expected).all()
    assert (encoder.encode(TEXTS, None, "king ", 64) == expected).all()  # places as sentence-transformers has them
    assert (encoder.encode_query(TEXTS, None, "king ", 64) == expected).all()
    assert (encoder.encode_document(TEXTS, prompt="king ") == expected).all()
    assert encoder.prompts == {"query": "", "document": ""}


def test_prompts_by_name(tmp_path):
    """The default stands before texts without another; an empty one takes its place, too."""
    prompts = {"q": "one ", "query": "two ", "passage": "three ", "other": ""}
    folder = with_usage(BERT, tmp_path / "m", prompts=prompts, default_prompt_name="q")
    encoder, plain = wv_cli.load_encoder(folder, threads=1), wv_cli.load_encoder(BERT, threads=1)
    assert encoder.prompts == {**prompts, "document": ""}

    def with_prompt(prompt):
        return plain.encode([prompt + text for text in TEXTS])

    assert (encoder.encode(TEXTS) == with_prompt("one ")).all()
    assert (encoder.encode(TEXTS, "passage") == with_prompt("three ")).all()
    assert (encoder.encode(TEXTS, prompt_name="other") == with_prompt("")).all()
    assert (encoder.encode(TEXTS, prompt="") == with_prompt("")).all()
    assert (encoder.encode_query(TEXTS) == with_prompt("two ")).all()
    with pytest.raises(UsageError, match="no prompt for documents but one of the name passage; give prompt_name='pass"):
        encoder.encode_document(TEXTS)
    assert (encoder.encode_document(TEXTS, "passage") == with_prompt("three ")).all()
    assert (encoder.encode_document(TEXTS, prompt="") == with_prompt("")).all()


def test_a_prompt_that_is_not_pooled_is_refused(tmp_path):
    folder = with_usage(BERT, tmp_path / "m")
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true, "include_prompt": false}')
    encoder = wv_cli.load_encoder(folder)
    assert (encoder.encode_query(TEXTS) == encoder.encode(TEXTS)).all()
    with pytest.raises(BadFile, match="include_prompt: expected true for a prompt, found false"):
        encoder.encode(TEXTS, prompt="one ")


@pytest.mark.parametrize("model", [VECTORS, BERT])
def test_a_bar_is_drawn_only_when_it_is_asked_for(model, capsys):
    encoder = wv_cli.load_encoder(model, threads=1)
    plain = encoder.encode(TEXTS, show_progress_bar=False)
    assert capsys.readouterr() == ("", "")
    assert (encoder.encode(TEXTS, show_progress_bar=True) == plain).all()
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("measure", "pair"),
    [
        ("cosine", lambda a, b: a @ b / np.sqrt((a @ a) * (b @ b))),
        ("dot", lambda a, b: a @ b),
        ("euclidean", lambda a, b: -(((a - b) ** 2).sum() ** 0.5)),
        ("manhattan", lambda a, b: -np.abs(a - b).sum()),
    ],
)
def test_similarity_is_the_folders(measure, pair, tmp_path):
    encoder = wv_cli.load_encoder(with_usage(BERT, tmp_path / "m", similarity_fn_name=measure))
    vectors = encoder.encode(["the king", "in", "a king of the one"]).astype(np.float64)
    expected = np.array([[pair(a, b) for b in vectors] for a in vectors])
    np.testing.assert_allclose(encoder.similarity(vectors, vectors), expected, atol=1e-6)
    assert encoder.similarity(vectors[:0], vectors).shape == (0, 3)
    pairs = encoder.similarity_pairwise(vectors, vectors[::-1])
    np.testing.assert_allclose(pairs, np.diag(expected[:, ::-1]), atol=1e-6)


def test_an_unknown_similarity(tmp_path):
    encoder = wv_cli.load_encoder(with_usage(BERT, tmp_path / "m", similarity_fn_name="maxsim"))
    rows = encoder.encode(TEXTS)
    for call in (encoder.similarity, encoder.similarity_pairwise):
        with pytest.raises(UsageError, match="must be one of cosine, dot, euclidean, manhattan, not 'maxsim'"):
            call(rows, rows)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("model", [STATIC, BERT])
def test_sentence_transformers(model, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("sentence_transformers")
    theirs, ours = library.SentenceTransformer(str(model), device="cpu"), wv_cli.load_encoder(model)
    texts = ["the king", "in", "", "a king of the one two three four"]
    for options in (
        {},
        {"normalize_embeddings": True},
        {"truncate_dim": 3},
        {"truncate_dim": 3, "normalize_embeddings": True},
        {"batch_size": 2},
        {"precision": "binary"},
        {"precision": "ubinary"},
        {"prompt": "one "},
        {"prompt_name": "query"},
        {"device": "cpu", "output_value": "sentence_embedding"},
    ):
        for inputs in (texts, texts[0], "", texts[:1]):
            one, other = theirs.encode(inputs, **options), ours.encode(inputs, **options)
            assert one.shape == other.shape and one.dtype == other.dtype
            np.testing.assert_allclose(other, one, atol=3e-6)
    a, b = theirs.encode(texts[:2]), theirs.encode(texts)
    np.testing.assert_allclose(ours.similarity(a, b), theirs.similarity(a, b).numpy(), atol=1e-6)
    assert ours.similarity(a[0], b[0]).shape == tuple(theirs.similarity(a[0], b[0]).shape)
    pairs = theirs.similarity_pairwise(a, b[2:]).numpy()
    np.testing.assert_allclose(ours.similarity_pairwise(a, b[2:]), pairs, atol=1e-6)
    np.testing.assert_allclose(ours.encode_query(texts), theirs.encode_query(texts), atol=3e-6)
    np.testing.assert_allclose(ours.encode_document(texts[0]), theirs.encode_document(texts[0]), atol=3e-6)
    assert ours.get_embedding_dimension() == theirs.get_embedding_dimension() == ours.dim
    assert theirs.encode([]).shape == (0,)  # ours is (0, dim)
    assert [*inspect.signature(theirs.encode).parameters][:12] == [*inspect.signature(ours.encode).parameters]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("measure", ["cosine", "dot", "euclidean", "manhattan"])
@pytest.mark.parametrize("model", [STATIC, BERT])
def test_sentence_transformers_with_settings(model, measure, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    library = pytest.importorskip("sentence_transformers")
    prompts = {"query": "one ", "document": "two ", "of": "of "}
    folder = with_usage(model, tmp_path / "m", prompts=prompts, similarity_fn_name=measure)
    theirs, ours = library.SentenceTransformer(str(folder), device="cpu"), wv_cli.load_encoder(folder)
    assert ours.prompts == theirs.prompts and ours.similarity_fn_name == theirs.similarity_fn_name
    texts = ["the king", "in", "a king of the one two three four"]
    for name in ("encode", "encode_query", "encode_document"):
        for arguments in ((), ("of",), (None, "the "), (None, "the ", 2)):
            one, other = getattr(theirs, name)(texts, *arguments), getattr(ours, name)(texts, *arguments)
            np.testing.assert_allclose(other, one, atol=3e-6)
    rows = theirs.encode(texts)
    np.testing.assert_allclose(ours.similarity(rows[:2], rows), theirs.similarity(rows[:2], rows).numpy(), atol=2e-5)
    pairs = theirs.similarity_pairwise(rows, rows[::-1].copy()).numpy()
    np.testing.assert_allclose(ours.similarity_pairwise(rows, rows[::-1]), pairs, atol=2e-5)
