"""gensim's classes: what they refuse and why, their files, and what happens around a training."""

import copy
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from tests.walk import for_each
from wv_cli import gensim
from wv_cli.errors import Interrupted, UsageError, WvError
from wv_cli.gensim import Doc2Vec, FastText, FrozenPhrases, KeyedVectors, Phrases, TaggedDocument, Word2Vec
from wv_cli.gensim.models.sentences import divided_file
from wv_cli.gensim.refusals import ARGUMENTS, METHODS
from wv_cli.models.training.run import Outcome

TEXT = [line.split() for line in ["the cat sat on the mat", "a dog sat on a log", "the dog and the cat"]] * 10
SMALL = {"vector_size": 8, "min_count": 1, "epochs": 2, "workers": 1}
DOCUMENTS = [TaggedDocument(words, [number]) for number, words in enumerate(TEXT)]
SHARED = [TaggedDocument(words, [number % 3, f"text {number}"]) for number, words in enumerate(TEXT)]
CLASSES = [Word2Vec, FastText, Doc2Vec, KeyedVectors, Phrases]


def arguments(kind):
    return inspect.signature(kind).parameters


@for_each("name", ARGUMENTS)
def test_an_argument_without_effect_is_refused_with_its_reason(name):
    default, reason = ARGUMENTS[name]
    takers = [kind for kind in CLASSES if name in arguments(kind)]
    methods = [getattr(kind, each) for kind in CLASSES for each in dir(kind) if not each.startswith("_")]
    assert takers or any(name in arguments(each) for each in methods if callable(each)), name
    for kind in takers:
        given = {"vector_size": 4} if kind is KeyedVectors else {}
        with pytest.raises(UsageError, match=f"^{name}=.* has no effect here: ") as refused:
            kind(**given, **{name: "another"})
        assert reason in str(refused.value)
        kind(**given, **({name: default} if (kind, name) != (Phrases, "max_vocab_size") else {}))


@for_each("name", METHODS)
def test_a_missing_method_says_why(name):
    for thing in (Word2Vec(), KeyedVectors(3), Phrases()):
        if not hasattr(type(thing), name):
            with pytest.raises(AttributeError, match=f"{type(thing).__name__} has no {name}: "):
                getattr(thing, name)
    with pytest.raises(AttributeError, match=r"Word2Vec has no anything$"):
        _ = Word2Vec().anything


@for_each(
    "make, error, message",
    [
        (lambda: Word2Vec(vector_size=0), UsageError, "^vector_size must be between 1 and 100000, not 0"),
        (lambda: Word2Vec(ns_exponent=-0.5), UsageError, "^ns_exponent must be between 0 and 2, not -0.5"),
        (lambda: Word2Vec(negative=0), UsageError, "negative=0 needs hs=1"),
        (lambda: Word2Vec(min_alpha=0.5), UsageError, r"min_alpha must be at most alpha \(0.025\), not 0.5"),
        (lambda: Word2Vec(size=100), TypeError, "size"),
        (lambda: FastText(hs=1), UsageError, "loss hs_ns has no subwords"),
        (lambda: FastText(min_n=0), UsageError, "min_n"),
        (lambda: Word2Vec(TEXT, corpus_file="text.txt"), TypeError, "sentences or corpus_file, found both"),
        (lambda: Word2Vec().train(), TypeError, "sentences or corpus_file, found neither"),
        (lambda: Word2Vec().train(TEXT), WvError, "no vocabulary; call build_vocab"),
        (lambda: Word2Vec().wv, WvError, "no vocabulary"),
        (lambda: Word2Vec(TEXT, min_count=99), WvError, "no word occurs 99 times"),
        (lambda: Word2Vec([["new", "york"], ["new york"]]), ValueError, "join its words with _"),
        (lambda: Word2Vec("a text"), TypeError, "expected several sentences"),
        (lambda: Word2Vec(corpus_file="nowhere.txt"), WvError, "nowhere.txt: cannot read"),
        (lambda: Word2Vec.load(GOLDEN / "w2v-sg-ns.bin"), WvError, "expected a state file of wv"),
        (lambda: Doc2Vec(hs=1), UsageError, "hs=1 needs negative=0"),
        (lambda: Doc2Vec(dm_mean=0), UsageError, "dm_mean=0 is not supported"),
        (lambda: Doc2Vec(TEXT), TypeError, "expected TaggedDocument.* found list as number 0"),
        (lambda: Doc2Vec([TaggedDocument(["a"], [])]), UsageError, "expected a list of tags"),
        (lambda: Doc2Vec([TaggedDocument(["a"], [0.5])]), UsageError, "expected a list of tags"),
        (lambda: Doc2Vec([TaggedDocument(["a"], [True])]), UsageError, "expected a list of tags"),
        (lambda: Doc2Vec([TaggedDocument(["a"], "doc1")]), TypeError, r"found 'doc1' in number 0; write \['doc1'\]"),
        (lambda: Doc2Vec([*DOCUMENTS, TaggedDocument(["a"], 7)]), TypeError, r"found 7 in number \d+; write \[7\]"),
        (lambda: Doc2Vec([TaggedDocument(["a"], None)]), TypeError, "found None in number 0$"),
        (lambda: Doc2Vec([TaggedDocument(["a"], b"ab")]), TypeError, "found b'ab' in number 0$"),
        (lambda: Doc2Vec([TaggedDocument(["a"], {"a": 1})]), TypeError, "expected a list of tags"),
        (lambda: Doc2Vec([TaggedDocument([], [0])]), WvError, "^documents: no words; .*, found 1 document, empty$"),
        (lambda: Word2Vec([[], []]), WvError, "^sentences: no words; expected lists .*, found 2 sentences, all empty$"),
        (lambda: Word2Vec([" ", "\t"]), WvError, "^sentences: no words; .*, found 2 sentences, all empty$"),
        (lambda: Word2Vec([]), WvError, "^sentences: no words; expected lists of words, found none$"),
        (lambda: Word2Vec([["a", "b"]]), WvError, r"^no word occurs 5 times \(min_count 5\); .*: lower min_count or"),
        (lambda: Word2Vec([["a"]] * 9), WvError, "give more text or lower min_count$"),
        (lambda: Word2Vec(TEXT, **SMALL).train([["none"]]), WvError, "same lowercase"),
        (lambda: Word2Vec(TEXT, **SMALL).train([[]]), WvError, "^sentences: no words"),
        (lambda: Word2Vec(TEXT, **SMALL).predict_output_word("cat"), TypeError, "context_words_list: .* split it"),
        (lambda: Phrases(TEXT, connector_words="of the"), TypeError, "connector_words: expected a list .* split it"),
        (lambda: Doc2Vec(SHARED, dm_concat=1, **SMALL), UsageError, "dm_concat=1 takes one tag for a document"),
        (lambda: Doc2Vec(DOCUMENTS, **SMALL).train([TaggedDocument(["a"], ["x"])]), UsageError, "the tag 'x' is not"),
        (lambda: Doc2Vec().dv, WvError, "the model has no vocabulary"),
        (lambda: Doc2Vec(DOCUMENTS, **SMALL).infer_vector("a text"), TypeError, "split it"),
        (lambda: Doc2Vec(DOCUMENTS, **SMALL).build_vocab(DOCUMENTS, update=True), UsageError, "update=True is not"),
        (lambda: Phrases(min_count=0), ValueError, "min_count: expected at least 1"),
        (lambda: Phrases(threshold=0), ValueError, "threshold: expected a number above 0"),
        (lambda: Phrases(threshold=2, scoring="npmi"), ValueError, "between -1 and 1 for npmi"),
        (lambda: Phrases(scoring="mine"), ValueError, "scoring: expected default or npmi or a function"),
        (lambda: Phrases(TEXT)["a text"], TypeError, "split it"),
        (lambda: KeyedVectors(3)[5], KeyError, "row 5 does not exist; there are 0 rows"),
        (lambda: KeyedVectors(3).add_vectors(["a"], [[1, 2]]), ValueError, "expected vectors of 3 numbers, found 2"),
        (lambda: KeyedVectors(3).get_vecattr("a", "count"), KeyError, "'a' is not in the vectors"),
        (lambda: gensim.load_facebook_vectors(GOLDEN / "ft-words.bin", "latin-1"), UsageError, "files are UTF-8"),
        (
            lambda: gensim.load_facebook_model(GOLDEN / "ft-labels.bin").train(TEXT),
            UsageError,
            "a classifier is not",
        ),
        (lambda: KeyedVectors(3).vectors_ngrams, AttributeError, "vectors_ngrams: the vectors have no n-grams"),
        (lambda: setattr(KeyedVectors(3), "vectors_lockf", [1]), UsageError, "vectors_lockf cannot be set: every"),
        (
            lambda: KeyedVectors(3).evaluate_word_analogies("q", similarity_function="mine"),
            ValueError,
            "expected most_similar or most_similar_cosmul, found 'mine'",
        ),
        (lambda: list(gensim.PathLineSentences(GOLDEN / "nowhere")), WvError, "cannot read"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@for_each(
    "text, problem",
    [
        (b"ab\nc\xe9 d\n", "bad.txt:2: expected UTF-8 text, found the byte 0xe9"),
        (b"a b\n" * 400_000 + b"c\xc3", "bad.txt:400001: expected UTF-8 text, found the byte 0xc3"),
        (b"a\0b c\n", "bad.txt:1: expected words without NUL, found one in a word"),
    ],
)
def test_a_file_that_gensim_reads_otherwise_is_refused(text, problem, tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "bad.txt"
    path.write_bytes(text)
    with pytest.raises(WvError, match=problem):
        Word2Vec(corpus_file=path, **SMALL)
    if b"\0" not in text:
        with pytest.raises(WvError, match=problem):
            list(gensim.LineSentence(path))
        with path.open("rb") as stream, pytest.raises(WvError, match=problem):
            list(gensim.LineSentence(stream))


def test_characters_that_chunks_cut_are_whole(tmp_path):
    """A file whose words C divides as gensim does is read as it is, wherever its chunks end."""
    path = tmp_path / "text.txt"
    for shift in range(3):
        path.write_bytes(b"x" * shift + " \u3042".encode() * 600_000)
        with divided_file(path) as found:
            assert found == str(path)
        path.write_bytes(b"x" * shift + "\u3042".encode() * 349_524 + "\u3000\u3042 \u3042".encode())
        with divided_file(path) as found:
            assert found != str(path) and len(Path(found).read_text().split(" ")) == 3


def test_a_generator_is_read_once_and_one_thread_repeats_itself():
    model = Word2Vec((words for words in TEXT), **SMALL)
    assert model.corpus_count == len(TEXT) and model.corpus_total_words == sum(map(len, TEXT))
    by_steps = Word2Vec(**SMALL)
    by_steps.build_vocab(iter(TEXT))
    start = by_steps.wv.vectors.copy()
    assert by_steps.train(iter(TEXT), total_examples=30, epochs=2) == (2 * 170, 2 * 170)
    assert np.array_equal(model.wv.vectors, by_steps.wv.vectors) and not np.array_equal(model.wv.vectors, start)


@for_each("kind, options", [(Word2Vec, {"sg": 1, "hs": 1}), (FastText, {"bucket": 50}), (Doc2Vec, {})])
def test_a_trained_model_is_copied_and_pickled(kind, options):
    model = kind(DOCUMENTS if kind is Doc2Vec else TEXT, **SMALL, **options)
    for each in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.copy(pickle.loads(pickle.dumps(model)))):
        assert np.array_equal(each.wv.vectors, model.wv.vectors) and each.corpus_count == 30
        if kind is Doc2Vec:
            assert np.array_equal(each.infer_vector(["cat"]), model.infer_vector(["cat"]))
            assert np.array_equal(each.dv[2], model.dv[2])
        else:
            each.train(TEXT, epochs=1)
            assert np.array_equal(each.syn1neg.shape, model.syn1neg.shape)
            assert not np.array_equal(each.wv.vectors, model.wv.vectors)
    assert kind(**SMALL).__getstate__() and len(pickle.loads(pickle.dumps(kind(**SMALL))).callbacks) == 0


def test_all_processors_and_a_seed_of_chance():
    model = Word2Vec(TEXT, **{**SMALL, "workers": 0, "seed": None})
    assert len(model.wv) == 9 and model.seed != Word2Vec(seed=None).seed


def test_words_that_are_new_are_learnt_and_the_others_kept(tmp_path):
    for options in ({}, {"hs": 1, "negative": 0}, {"hs": 1, "sg": 1}):
        model = Word2Vec(TEXT, sample=0, **SMALL, **options)
        before = model.wv["cat"]
        model.build_vocab([["zebra", "cat"]], update=True)
        assert np.array_equal(model.wv["cat"], before) and model.wv.get_vecattr("zebra", "count") == 1
        assert model.train([["zebra", "unknown", "cat"]], epochs=1)[0] == 2 and "unknown" not in model.wv
        assert not np.array_equal(model.wv["cat"], before)


@for_each("kind, options", [(Word2Vec, {"sg": 1}), (Word2Vec, {"hs": 1, "negative": 0}), (FastText, {"bucket": 50})])
def test_a_state_is_that_of_wv_train(kind, options, tmp_path_factory):
    folder = tmp_path_factory.mktemp("states")
    model = kind(TEXT, **SMALL, **options, window=3, alpha=0.04, min_alpha=0.01)
    model.save(folder / "m.state")
    again = kind.load(folder / "m.state")
    for name in ("vector_size", "window", "sg", "hs", "negative", "alpha", "min_count", "seed", "epochs", "bucket"):
        assert getattr(again, name) == getattr(model, name), name
    assert again.min_alpha == pytest.approx(0.01) and again.corpus_count == len(TEXT)
    again.train(TEXT, epochs=1)
    wv_cli.train(TEXT, folder / "v.vec", continue_=folder / "m.state", save_state=folder / "n.state")
    assert len(kind.load(folder / "n.state").wv) == len(model.wv)
    other = Word2Vec if kind is FastText else FastText
    with pytest.raises(UsageError, match=f"found one of (skipgram|cbow); use {kind.__name__}"):
        other.load(folder / "m.state")


def test_subwords_travel_by_facebook_files(tmp_path):
    model = FastText(TEXT, bucket=50, **SMALL)
    gensim.save_facebook_model(model, tmp_path / "f.bin")
    for found in (gensim.load_facebook_model(tmp_path / "f.bin").wv, gensim.load_facebook_vectors(tmp_path / "f.bin")):
        assert np.allclose(found["cats"], model.wv["cats"], atol=1e-6)
    model.wv.save(tmp_path / "kv.bin")
    assert np.allclose(KeyedVectors.load(tmp_path / "kv.bin")["cats"], model.wv["cats"], atol=1e-6)
    loaded = FastText.load(tmp_path / "f.bin")
    loaded.save(tmp_path / "g.bin")
    assert (tmp_path / "g.bin").read_bytes() == (tmp_path / "f.bin").read_bytes()
    assert FastText(TEXT, max_n=0, **SMALL).wv.subwords is None


def test_a_model_of_fasttext_is_trained_on(tmp_path):
    theirs = gensim.load_facebook_model(GOLDEN / "ft-words.bin")
    theirs.min_count = 1
    words, before = theirs.wv.index_to_key, theirs.wv["unseenword"]
    vectors, outputs = theirs.wv.vectors.copy(), theirs.syn1neg.copy()
    assert theirs.wv.vectors_vocab.shape == vectors.shape and theirs.wv.vectors_ngrams.shape == (500, 50)
    theirs.build_vocab([["brandnew", *words[2:8]]] * 40, update=True)
    assert np.allclose(theirs.wv[words], vectors, atol=1e-6) and np.allclose(theirs.syn1neg[:1], outputs[:1])
    assert np.allclose(theirs.wv["unseenword"], before, atol=1e-6) and len(theirs.wv) == len(words) + 1
    theirs.train([["brandnew", *words[2:8]]] * 40, epochs=1)
    assert not np.allclose(theirs.wv[words[2]], vectors[2], atol=1e-3)
    model = FastText(TEXT, hs=1, negative=0, bucket=50, **SMALL)
    gensim.save_facebook_model(model, tmp_path / "f.bin")
    again = FastText.load(tmp_path / "f.bin")
    assert {*again.syn1[:, 0]} - {0} == {*model.syn1[:, 0]} - {0} and len(again.syn1) == len(again.wv)
    again.train(TEXT, epochs=1)
    assert not np.allclose(again.wv["cat"], model.wv["cat"])


def test_vectors_that_are_added_are_found_and_saved(tmp_path):
    kv = KeyedVectors(2)
    kv.add_vectors(["new york", "b", "b"], [[1, 0], [0, 1], [5, 5]])
    assert kv.add_vector("c", [1, 1]) == 2 and kv.most_similar("c", topn=1)[0][0] == "new york"
    kv["b"] = [3.0, 4.0]
    kv.add_vectors(["b"], [[9, 9]])
    assert kv.index_to_key == ["new york", "b", "c"] and kv["b"].tolist() == [3, 4] and 2 in kv and 3 not in kv
    for save in (kv.save, kv.save_word2vec_format):
        with pytest.raises(WvError, match="the word 'new york' holds a space"):
            save(tmp_path / "any.kv")
    kept = kv.vectors_for_all(["b", "c"])
    kept.save(tmp_path / "any.kv")
    assert KeyedVectors.load(tmp_path / "any.kv", mmap="r")["b"].tolist() == [3, 4]
    kv.unit_normalize_all()
    assert kv["b"].tolist() == pytest.approx([0.6, 0.8])
    for each in (pickle.loads(pickle.dumps(kv)), copy.deepcopy(kv)):
        assert isinstance(each, KeyedVectors) and each.most_similar("c") == kv.most_similar("c")


def test_words_of_other_encodings_and_words_twice(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"4 1\ncaf\xe9 1\nb 2\nb 3\nc 4\n")
    assert KeyedVectors.load_word2vec_format(path).index_to_key == ["caf\udce9", "b", "c"]
    assert KeyedVectors.load_word2vec_format(path, unicode_errors="ignore").index_to_key == ["caf", "b", "c"]
    assert KeyedVectors.load_word2vec_format(path, encoding="latin-1")["café"].tolist() == [1]


def test_documents_are_asked_by_tag(tmp_path):
    model = Doc2Vec(DOCUMENTS, dm=0, **SMALL)
    assert model.dv.most_similar(0, topn=1)[0][0] in range(1, len(TEXT)) and model.dv.doesnt_match([0, 3, 4]) in (
        0,
        3,
        4,
    )
    assert model.dbow and model.similarity_unseen_docs(["the"], ["the"]) == pytest.approx(1)
    assert not model.infer_vector(["unknown"]).any()
    model.save(tmp_path / "d")
    again = Doc2Vec.load(tmp_path / "d")
    assert np.array_equal(again.dv.vectors, model.dv.vectors) and again.wv.index_to_key == model.wv.index_to_key
    assert np.array_equal(again.infer_vector(["the", "cat"]), model.infer_vector(["the", "cat"]))
    named = Doc2Vec([TaggedDocument(words, [f"n % {i}"]) for i, words in enumerate(TEXT)], **SMALL)
    assert named.dv["n % 3"].shape == (8,) and named.dv.most_similar("n % 3")[0][0].startswith("n % ")
    named.save(tmp_path / "named")
    assert Doc2Vec.load(tmp_path / "named").dv.index_to_key == named.dv.index_to_key


@for_each("dm", [0, 1])
def test_documents_share_tags_and_are_trained_on(dm, tmp_path_factory):
    options = {**SMALL, "dm": dm, "sample": 0}
    model = Doc2Vec(SHARED, **options)
    assert model.dv.index_to_key[:4] == ["0", "text 0", "1", "text 1"] and len(model.dv) == 3 + len(TEXT)
    by_steps = Doc2Vec(**options)
    by_steps.build_vocab(iter(SHARED))
    start = by_steps.dv.vectors.copy()
    by_steps.train(iter(SHARED))
    assert np.array_equal(by_steps.dv.vectors, model.dv.vectors) and not (start == model.dv.vectors).any()
    before = model.dv[1].copy()
    model.train([document for document in SHARED if 1 not in document.tags], epochs=3)
    assert np.array_equal(model.dv[1], before) and not np.array_equal(model.dv["text 0"], by_steps.dv["text 0"])
    path = tmp_path_factory.mktemp("tags") / "m"
    by_steps.save(path)
    loaded = Doc2Vec.load(path)
    loaded.min_alpha = by_steps.min_alpha
    for each in (loaded, by_steps):
        each.train(SHARED, epochs=1)
    assert np.allclose(loaded.dv.vectors, by_steps.dv.vectors, atol=1e-6)
    unordered = Doc2Vec([TaggedDocument(words, [len(TEXT) - row]) for row, words in enumerate(TEXT)], **options)
    assert np.array_equal(unordered.dv.vectors[2], unordered.dv[3]) and unordered.dv.index_to_key[0] == 1


def test_phrases_travel(tmp_path):
    phrases = Phrases(TEXT, min_count=1, threshold=0.01)
    phrases.save(tmp_path / "p.txt")
    for found in (phrases.freeze(), FrozenPhrases.load(tmp_path / "p.txt"), pickle.loads(pickle.dumps(phrases))):
        assert found[TEXT[0]] == phrases[TEXT[0]] != TEXT[0]
    wv_cli.train(TEXT, tmp_path / "v.vec", phrases=tmp_path / "p.txt", min_count=1, dim=4)
    assert "_" in "".join(wv_cli.load(tmp_path / "v.vec").words)
    with pytest.raises(AttributeError, match="FrozenPhrases has no add_vocab"):
        Phrases.load(tmp_path / "p.txt").add_vocab(TEXT)
    with pytest.raises(UsageError, match="no place for connector words; pickle"):
        Phrases(TEXT, connector_words=["the"]).save(tmp_path / "q.txt")
    with pytest.raises(UsageError, match=r"no place for '.* .*'; give a delimiter without white space"):
        Phrases(TEXT, min_count=1, threshold=0.01, delimiter=" ").save(tmp_path / "q.txt")
    assert not (tmp_path / "q.txt").exists()


def test_an_interrupted_training_keeps_what_it_has_learnt(monkeypatch):
    model = Word2Vec(**SMALL)
    model.build_vocab(TEXT)
    start = model.wv.vectors.copy()
    real = gensim.models.training.run.train

    def stopped(trainer, **options):
        outcome = real(trainer, **options)
        return Outcome(1, outcome.totals, outcome.seconds, signal=2)

    monkeypatch.setattr(gensim.models.training.run, "train", stopped)
    with pytest.raises(Interrupted, match="the model keeps what it has learnt"):
        model.train(TEXT)
    assert not np.array_equal(model.wv.vectors, start)
