"""wv_cli.encode gives the vectors that `wv vectors --sentences` prints."""

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import UsageError, WvError

TEXTS = ["the one two", "of in", "zzz", "a king"]
VECTORS, MODEL, ENCODER = GOLDEN / "gensim.vec", GOLDEN / "ft-words.bin", GOLDEN / "encoders" / "tiny-bert-st6"


def printed(wv, *arguments):
    done = wv(
        "vectors", *arguments, "--sentences", "--precision", "exact", input="".join(f"{text}\n" for text in TEXTS)
    )
    assert done.returncode == 0, done.stderr
    return np.array([[float(number) for number in line.split()] for line in done.stdout.splitlines()], np.float32)


@pytest.mark.parametrize("model", [VECTORS, MODEL])
def test_the_rule_of_the_model(wv, model):
    found = wv_cli.encode(model, TEXTS)
    assert found.dtype == np.float32 and np.array_equal(found, printed(wv, model))


@pytest.mark.parametrize("pooling", ["mean", "sif", "idf"])
def test_pooling_of_words(wv, pooling, tmp_path):
    counts = tmp_path / "counts"
    counts.write_text("</s> 9\nthe 9\nof 5\none 2\nin 2\n")
    more = {} if pooling == "mean" else {"counts": counts}
    flags = [] if pooling == "mean" else ["--counts", counts]
    found = wv_cli.encode(VECTORS, TEXTS, pooling=pooling, **more)
    assert np.array_equal(found, printed(wv, VECTORS, "--pooling", pooling, *flags))


def test_the_folder_of_an_encoder(wv):
    found = wv_cli.encode(ENCODER, TEXTS, pooling="mean", normalize=True, threads=1)
    assert np.array_equal(found, printed(wv, "--encoder", ENCODER, "--pooling", "mean", "--normalize", "-"))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)


def test_booleans_of_numpy():
    assert np.array_equal(
        wv_cli.encode(ENCODER, TEXTS, normalize=np.bool_(True)), wv_cli.encode(ENCODER, TEXTS, normalize=True)
    )


def test_one_text_and_none():
    assert wv_cli.encode(VECTORS, TEXTS[0]).shape[0] == 1 and wv_cli.encode(VECTORS, []).shape[0] == 0


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"pooling": "cls"}, UsageError, "pooling must be one of mean, sif, idf for word vectors, not cls"),
        ({"counts": "c"}, UsageError, "counts needs pooling sif or idf"),
        ({"pooling": "sif"}, UsageError, "sif needs the words' frequencies: give counts=VOCAB"),
        ({"pooling": "mean", "counts": "c"}, UsageError, "counts has no effect with pooling mean"),
        ({"normalize": True}, UsageError, "normalize needs the folder of an encoder"),
        ({"case": "nosuch"}, UsageError, "case must be one of fold-first, lower, none"),
        ({"case": 5}, TypeError, "case: expected a name as str, found int 5"),
        ({"threads": -5}, UsageError, r"threads must be between 0 \(all processors\) and 1024, not -5"),
        ({"model": ENCODER, "case": "nosuch"}, UsageError, "case must be one of"),
        ({"model": None}, TypeError, "model: expected a path as str or os.PathLike, found None"),
        ({"model": ["v.bin"]}, TypeError, "model: expected a path"),
        ({"texts": [b"the"]}, TypeError, "texts: expected each text as str, found bytes"),
        ({"model": "none.vec"}, WvError, "none.vec: cannot read"),
    ],
)
def test_what_is_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        wv_cli.encode(**{"model": VECTORS, "texts": TEXTS, **options})
