"""Weights of classes and of lines: what an update of the classifier counts."""

import numpy as np
import pytest

import wv_cli
from wv_cli.errors import WvError

RANDOM = np.random.default_rng(3)
WORDS = [f"w{i}" for i in range(12)]
LABELS = [f"__label__{'aab'[i % 3]}" for i in range(60)]
LINES = [f"{label} {' '.join(RANDOM.choice(WORDS, 5))}" for label in LABELS]


def trained(tmp_path, lines, name="m.bin", **options):
    """(input rows, output rows) of the model."""
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines))
    given = {"dim": 8, "epochs": 3, "seed": 5, **options}
    wv_cli.train(str(tmp_path / "text"), str(tmp_path / name), model="supervised", **given)
    model = wv_cli.load_classifier(tmp_path / name)._model
    return model.input.take(np.arange(len(model.words))), model.output.take(np.arange(len(model.labels))), model


def assert_same(one, other):
    for a, b in zip(one[:2], other[:2], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("loss", ["softmax", "hs", "ns", "ova"])
def test_a_weight_multiplies_the_rate(loss, tmp_path):
    """Twice the weight of every class, or of every line, is twice the learning rate, to the bit."""
    (tmp_path / "two").write_text("__label__a 2\n\n__label__b\t2.0\n")
    weighted = trained(tmp_path, LINES, loss=loss, lr=0.05, class_weights=str(tmp_path / "two"))
    assert_same(weighted, trained(tmp_path, LINES, loss=loss, lr=0.1))
    once, twice = ([f"{line} __weight__{n}" for line in LINES] for n in (1, 2))
    lines = trained(tmp_path, twice, loss=loss, lr=0.05, line_weights=True)
    assert_same(lines, trained(tmp_path, once, loss=loss, lr=0.1, line_weights=True))
    assert not [word for word in lines[2].words if "weight" in word] and len(lines[2].labels) == 2


@pytest.mark.parametrize("options", [{}, {"word_ngrams": 2, "buckets": 50}, {"loss": "ova", "dropout": 0.2}])
def test_a_line_of_weight_0_moves_nothing(options, tmp_path):
    """Its words keep their first vectors; products of several weights count."""
    lines = [*LINES, *["__weight__0 __label__b only here", "__weight__3 __label__a only __weight__0.0 here"] * 5]
    moved = trained(tmp_path, lines, line_weights=True, **options)
    still = trained(tmp_path, lines, line_weights=True, epochs=0, **options)
    for word in moved[2].words:
        row = moved[2].words.find(word)
        assert np.array_equal(moved[0][row], still[0][row]) == (word in ("only", "here"))
    zero = trained(tmp_path, LINES, class_weights=_file(tmp_path, "__label__a 0\n__label__b 0\n"), **options)
    assert not zero[1].any()


def _file(tmp_path, text):
    (tmp_path / "weights").write_text(text)
    return str(tmp_path / "weights")


def test_balanced_weights_are_those_of_scikit_learn(tmp_path):
    """n / (classes * count): 60 lines, 40 and 20 of a class."""
    balanced = trained(tmp_path, LINES, class_weights="balanced")
    file = _file(tmp_path, "__label__a 0.75\n__label__b 1.5\n")
    assert_same(balanced, trained(tmp_path, LINES, class_weights=file))
    plain = trained(tmp_path, LINES)
    assert not np.array_equal(balanced[1], plain[1])
    one = trained(tmp_path, LINES, class_weights=_file(tmp_path, "__label__b 1\n"))
    assert_same(one, plain)


def test_continued_training_keeps_the_weights_of_lines(tmp_path):
    trained(tmp_path, LINES, save_state=str(tmp_path / "state"))
    options = {"continue_": str(tmp_path / "state"), "line_weights": True}
    lines = [*LINES, "__weight__0 __label__c only here"]
    moved, still = (trained(tmp_path, lines, epochs=epochs, **options) for epochs in (3, 0))
    assert list(moved[2].labels) == ["__label__a", "__label__b", "__label__c"]
    same = (moved[0] == still[0]).all(axis=1)
    assert {word for word, kept in zip(moved[2].words, same, strict=True) if kept} == {"here", "only"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected lines `label weight`, found none"),
        ("__label__a\n", "weights:1: expected `label weight` with a weight from 0 to 1,000, found '__label__a'"),
        ("__label__a 1\n__label__b -1\n", "weights:2: expected `label weight` with a weight from 0 to 1,000"),
        ("__label__a nan\n", "weights:1: expected `label weight`"),
        ("__label__a 1\n__label__a 2\n", "weights:2: the label '__label__a' has two weights; leave one out"),
        ("__label__z 1\n", "weights:1: expected a label of the text, such as '__label__a', found '__label__z'"),
    ],
)
def test_files_that_hold_no_weights(text, message, tmp_path):
    with pytest.raises(WvError, match=None) as found:
        trained(tmp_path, LINES, class_weights=_file(tmp_path, text))
    assert message in str(found.value)


def test_what_cannot_be_weighted(tmp_path):
    for line in ("__weight__", "__weight__x", "__weight__-1", "__weight__inf", "__weight__1e9"):
        with pytest.raises(WvError, match="expected the weight of a line as __weight__N with N from 0 to 1,000"):
            trained(tmp_path, [*LINES, f"__label__a {line} w1"], line_weights=True)
    (tmp_path / "records.jsonl").write_text('{"text": "a", "label": "b"}\n{"text": "__WEIGHT__", "label": "c"}\n')
    inputs = [str(tmp_path / name) for name in ("good", "text", "records.jsonl")]
    (tmp_path / "good").write_text("__label__a __weight__1 word\n" * 3)
    for given, options, place in (
        (inputs[:2], {}, "text:61"),
        (inputs[2:], {"label_field": "label", "lowercase": True, "tokenize": "unicode"}, "records.jsonl: record 2"),
    ):
        with pytest.raises(WvError, match=f"{place}: expected the weight of a line"):
            wv_cli.train(given, str(tmp_path / "m.bin"), model="supervised", line_weights=True, **options)
    with pytest.raises(WvError, match="line_weights has no effect with learn_phrases"):
        trained(tmp_path, LINES, line_weights=True, learn_phrases=1)
    with pytest.raises(WvError, match="cannot read"):
        trained(tmp_path, LINES, class_weights=str(tmp_path / "missing"))
    for name, value in (("class_weights", "balanced"), ("line_weights", True)):
        with pytest.raises((WvError, TypeError)):
            wv_cli.train(str(tmp_path / "text"), str(tmp_path / "v.vec"), **{name: value})
