"""wv convert --to spacy: spaCy opens the folder, and words have the same vectors there. Needs the extra `engines`."""

import sys

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import UsageError, WvError
from wv_cli.vectors.formats import FormatWarning
from wv_cli.words import WordList

FILES = ["key2row", "strings.json", "vectors", "vectors.cfg"]
# Words that are spaCy's own symbols, one that looks like none, one beyond ASCII, and one with a comma.
SYMBOLS = ["mark", "NOUN", "det", "king", "東京", "a,b"]


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy")


def open_vocabulary(spacy, folder):
    return spacy.blank("en").vocab.from_disk(folder)


def test_every_word_has_its_vector(spacy, tmp_path):
    names = [*SYMBOLS, *wv_cli.load(GOLDEN / "gensim.vec")]
    matrix = np.random.default_rng(1).standard_normal((len(names), 7)).astype(np.float32)
    wv_cli.save(tmp_path / "v.bin", wv_cli.Embeddings(names, matrix))
    assert wv_cli.convert(tmp_path / "v.bin", tmp_path / "voc", to_format="spacy")["rows"] == len(names)
    assert sorted(path.name for path in (tmp_path / "voc").iterdir()) == FILES
    vocabulary = open_vocabulary(spacy, tmp_path / "voc")
    assert vocabulary.vectors.shape == matrix.shape and vocabulary.vectors.n_keys == len(names)
    for name, row in zip(names, matrix, strict=True):
        assert vocabulary[name].has_vector and (vocabulary[name].vector == row).all()
    assert not vocabulary["nosuchword"].has_vector
    tokens = spacy.tokens.Doc(vocabulary, words=["the", "mark"])
    assert (tokens[1].vector == matrix[0]).all()
    # What spaCy writes of it is the same.
    vocabulary.vectors.to_disk(tmp_path / "again", exclude=["strings"])
    for name in ("key2row", "vectors"):
        assert np.array_equal(*((tmp_path / each / name).read_bytes() for each in ("voc", "again")))


def test_a_table_of_floret_keeps_its_mode(spacy, tmp_path):
    table = wv_cli.load(GOLDEN / "hashed.floret")
    wv_cli.convert(GOLDEN / "gensim.vec", tmp_path / "voc", to_format="spacy")  # whose words do not stay
    wv_cli.convert(GOLDEN / "hashed.floret", tmp_path / "voc", to_format="spacy")
    vocabulary = open_vocabulary(spacy, tmp_path / "voc")
    assert vocabulary.vectors.mode == "floret" and vocabulary.vectors.n_keys in (-1, 0)
    for word in ("music", "musics", "東京都", "zzzz"):
        assert np.abs(vocabulary[word].vector - table[word]).max() <= 4e-7


@pytest.mark.parametrize("options", [{"dim": 3}, {"limit": 5}, {"unescape": True}])
def test_a_part_of_a_table_is_refused(spacy, tmp_path, options):
    with pytest.raises(UsageError, match="written whole and as it is; leave out limit, dim and unescape"):
        wv_cli.convert(GOLDEN / "hashed.floret", tmp_path / "voc", to_format="spacy", **options)
    assert not list(tmp_path.iterdir())


def test_words_that_are_not_utf8(spacy, tmp_path):
    words = WordList.from_words([b"a", b"\xff"])
    wv_cli.save(tmp_path / "v.bin", wv_cli.Embeddings(words, np.eye(2, dtype=np.float32)))
    with pytest.raises(WvError, match=r"row 2: the word b'\\xff' is not UTF-8, which spaCy cannot keep"):
        wv_cli.convert(tmp_path / "v.bin", tmp_path / "voc", to_format="spacy")
    assert not (tmp_path / "voc").exists()
    with pytest.warns(FormatWarning, match="is not UTF-8; skipped"):
        done = wv_cli.convert(tmp_path / "v.bin", tmp_path / "voc", to_format="spacy", bad_rows="skip")
    assert done["rows"] == 1


def test_the_package_is_asked_for_before_the_work(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(WvError, match="to_format spacy needs the package spacy; pip install spacy"):
        wv_cli.convert(tmp_path / "none.vec", tmp_path / "voc", to_format="spacy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["voc", "--precision", "3"], "--precision and --to spacy cannot be used together"),
        (["voc", "--escape"], "--escape and --to spacy cannot be used together"),
        (["taken", "--to", "spacy"], "taken: cannot make the folder"),
        (["voc", "--to", "spaci"], "did you mean 'spacy'?"),
    ],
)
def test_what_is_refused(wv, tmp_path, arguments, message):
    (tmp_path / "taken").touch()
    done = wv("convert", GOLDEN / "gensim.vec", "--to", "spacy", *arguments)
    assert done.returncode in (1, 2) and message in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
