"""wv_cli.Index: the file of `wv search index`, the answers of `wv search`."""

import copy
import json
import pickle
import shutil

import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import BadFile, UsageError, WvError

MODEL = str(GOLDEN / "own" / "vectors.vec")
TEXTS = {
    "faq": "How do I mend a tap?\n\nWith the one tool of the house.",
    "rules": "No dogs in the house.",
    "empty": "",
}


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def found(index, query, **options):
    return [(answer["file"], answer["match"]) for answer in index.search(query, **options)]


def test_a_lone_surrogate_is_read_as_in_records(tmp_path):
    """A service has such texts from JSON."""
    index = wv_cli.Index()
    index.add({"a": "one house \ud800", "\ud800": "two houses"})
    assert [answer["text"] for answer in index.search("house \ud800")] == ["one house \ufffd", "two houses"]
    assert "\ud800" in index and list(index) == ["a", "\ufffd"]


def test_a_model_that_lies_elsewhere_now(tmp_path):
    shutil.copy(MODEL, tmp_path / "before.vec")
    index = wv_cli.Index(tmp_path / "i.index", model=tmp_path / "before.vec")
    index.add({"a": "the one tool"})
    index.save()
    (tmp_path / "before.vec").rename(tmp_path / "after.vec")
    with pytest.raises(WvError, match=r"before\.vec: cannot read .*; name its new place with model, or search without"):
        wv_cli.Index(tmp_path / "i.index").search("one")
    assert wv_cli.Index(tmp_path / "i.index", model=tmp_path / "after.vec").search("one")


def test_an_index_is_not_pickled():
    for send in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="an Index cannot be pickled or copied; save it, and open its file"):
            send(wv_cli.Index())


def test_add_ask_remove(tmp_path):
    index = wv_cli.Index()
    assert len(index) == 0 and index.search("house") == []
    index.add(TEXTS)
    assert list(index) == list(TEXTS) and "faq" in index and "nosuch" not in index and len(index) == 3
    assert found(index, "houses") == [("rules", TEXTS["rules"]), ("faq", "With the one tool of the house.")]
    assert found(index, "houses", k=1) == [("rules", TEXTS["rules"])]
    index.add({"rules": "Dogs are welcome."})
    assert found(index, "dogs") == [("rules", "Dogs are welcome.")] and len(found(index, "house")) == 1
    index.remove("rules")
    assert list(index) == ["faq", "empty"] and found(index, "dogs") == []
    with pytest.raises(KeyError, match="nosuch"):
        index.remove(["faq", "nosuch"])
    assert "faq" in index
    index.remove(["faq", "faq", "empty"])
    assert len(index) == 0 and index.search("house") == []
    with pytest.raises(UsageError, match="path: the index has no file yet"):
        index.save()
    index.save(tmp_path / "e.index")
    assert len(wv_cli.Index(tmp_path / "e.index")) == 0 and wv_cli.search(tmp_path / "e.index", "a")["answers"] == []


def test_files_that_are_gone_stay_until_remove(notes):
    index = wv_cli.Index()
    index.add_files(notes)
    (notes / "rules.txt").unlink()
    index.add_files(notes)
    assert found(index, "dogs") == [(str(notes / "rules.txt"), TEXTS["rules"])]
    index.remove(str(notes / "rules.txt"))
    assert found(index, "dogs") == []


@pytest.mark.parametrize("model", [None, MODEL])
def test_the_file_is_the_commands(notes, tmp_path, model):
    """Whatever way it was made: byte by byte."""
    wv_cli.search_index([notes], tmp_path / "command.index", model=model)
    expected = (tmp_path / "command.index").read_bytes()
    index = wv_cli.Index(tmp_path / "object.index", model=model)
    index.add_files(notes)
    index.save()
    assert (tmp_path / "object.index").read_bytes() == expected
    by_texts = wv_cli.Index(model=model)
    by_texts.add({"gone": "the one of it"})
    by_texts.search("one")
    by_texts.remove("gone")
    by_texts.add({str(notes / f"{name}.txt"): TEXTS[name] for name in sorted(TEXTS)})
    by_texts.save(tmp_path / "texts.index")
    assert (tmp_path / "texts.index").read_bytes() == expected
    # A stored one goes on: what has changed is read, the rest stays.
    again = wv_cli.Index(tmp_path / "command.index")
    again.add({"new": "the one tool"})
    again.save()
    (notes / "zoo.txt").write_text("a zoo")
    again.add_files([notes / "zoo.txt"])
    again.save()
    assert list(wv_cli.Index(tmp_path / "command.index"))[3:] == ["new", str(notes / "zoo.txt")]
    assert [each["file"] for each in wv_cli.search(tmp_path / "command.index", "tool", k=1)["answers"]] == ["new"]


@pytest.mark.parametrize("weight", [None, 0, 0.3, 1])
def test_answers_are_the_commands(notes, tmp_path, weight):
    wv_cli.search_index([notes], tmp_path / "i.index", model=MODEL)
    index = wv_cli.Index(tmp_path / "i.index")
    expected = wv_cli.search(tmp_path / "i.index", "the house", vector_weight=weight)["answers"]
    assert index.search("the house", vector_weight=weight) == expected and expected
    json.dumps(expected)


def test_vectors_are_made_of_new_texts_alone(monkeypatch, tmp_path):
    from wv_cli.retrieval.model import Model

    asked, encode = [], Model.encode
    monkeypatch.setattr(Model, "encode", lambda self, texts: (asked.append(list(texts)), encode(self, texts))[1])
    index = wv_cli.Index(model=MODEL)
    index.add({"a": "the one", "b": "of two"})
    assert asked == []
    index.save(tmp_path / "i.index")
    index.add({"c": "in the"})
    index.add({"a": "the one"})  # as it is there
    index.save()
    assert asked == [["the one", "of two"], ["in the"]]
    assert found(index, "two", vector_weight=0) == [("b", "of two")] and len(asked) == 2


def test_settings(tmp_path):
    index = wv_cli.Index(tmp_path / "i.index", chunks="line", stem="none")
    index.add({"a": "one house\ntwo houses"})
    assert found(index, "house") == [("a", "one house")]
    index.save()
    assert found(wv_cli.Index(tmp_path / "i.index", chunks="line"), "house") == [("a", "one house")]
    with pytest.raises(UsageError, match=r"chunks: .*i.index was made with line; leave it out"):
        wv_cli.Index(tmp_path / "i.index", chunks="paragraph")


def test_records(tmp_path):
    (tmp_path / "f.jsonl").write_text('{"id": 1, "text": "red apples"}\n{"id": 2, "text": "green pears"}\n')
    index = wv_cli.Index(field="text")
    index.add_files(tmp_path / "f.jsonl")
    assert [(each["record"], each["line"]) for each in index.search("pear")] == [({"id": 2}, 2)]


def test_a_failure_changes_nothing(tmp_path):
    index = wv_cli.Index()
    index.add({"a": "one"})
    with pytest.raises(WvError, match=r"none.txt: cannot read"):
        index.add_files([tmp_path / "none.txt"])
    assert found(index, "one") == [("a", "one")]
    with pytest.raises(TypeError):
        index.add({"b": "two", "c": 3})
    assert list(index) == ["a"]


def test_damage_does_not_spread(tmp_path):
    index = wv_cli.Index()
    index.add(TEXTS)
    index.save(tmp_path / "i.index")
    data = (tmp_path / "i.index").read_bytes()
    (tmp_path / "i.index").write_bytes(data.replace(b"No dogs", b"No cats"))
    for change in (lambda index: index.add({"b": "new"}), lambda index: None):
        damaged = wv_cli.Index(tmp_path / "i.index")
        change(damaged)
        with pytest.raises(BadFile, match="check sum"):
            damaged.save(tmp_path / "o.index")
    assert not (tmp_path / "o.index").exists()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda index: index.add(["a text"]), TypeError, "texts: expected a dict of names and texts"),
        (lambda index: index.add({1: "a"}), TypeError, "texts: expected each name as str"),
        (lambda index: index.add({"": "a"}), UsageError, "texts: a name is empty; name each text"),
        (lambda index: index.remove(5), TypeError, "names: expected a name as str"),
        (lambda index: index.search("a", k=0), UsageError, "k must be at least 1, not 0"),
        (lambda index: index.search(["a"]), TypeError, "query: expected a query as str"),
        (lambda index: index.search("a", vector_weight=1), UsageError, "vector_weight needs a model"),
        (lambda index: index.save("-"), UsageError, "path: -: an index is a file that can be mapped; name a file"),
        (lambda index: index.add_files(None), TypeError, "inputs: expected a path as str, or several, found None"),
        (lambda index: wv_cli.Index(chunks="page"), UsageError, "chunks must be one of paragraph, line, words"),
        (lambda index: wv_cli.Index(chunks="line", words=5), UsageError, "words"),
        (lambda index: wv_cli.Index(MODEL), BadFile, "expected a search index, found another file; name a new one"),
        (lambda index: wv_cli.Index(GOLDEN), UsageError, "is a folder; .* give the folder to add_files"),
        (lambda index: wv_cli.Index(model="none.bin"), WvError, "none.bin"),
    ],
)
def test_what_is_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call(wv_cli.Index())


def test_another_model_is_refused(tmp_path):
    index = wv_cli.Index(model=MODEL)
    index.add(TEXTS)
    index.save(tmp_path / "i.index")
    with pytest.raises(WvError, match="was made with another model than"):
        wv_cli.Index(tmp_path / "i.index", model=GOLDEN / "gensim.vec")
    plain = wv_cli.Index()
    plain.add(TEXTS)
    plain.save(tmp_path / "p.index")
    with pytest.raises(WvError, match="has no vectors"):
        wv_cli.Index(tmp_path / "p.index", model=MODEL)
