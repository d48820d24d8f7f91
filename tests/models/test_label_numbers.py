"""Labels that are numbers: the expected number in the library, the programs that print it, and rules of `wv filter`."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN, Run
from tests.reference import statistics as reference
from wv_cli import UsageError, WvError, load_classifier, quantize, train
from wv_cli.models.label_numbers import expected_numbers, read_numbers
from wv_cli.models.text_classifier import ALL

WORDS = {"-1": "awful dull poor boring", "0.5": "fair middling usual plain", "3": "fine lovely great superb"}
MODELS = {
    "softmax.bin": {"model": "supervised", "dim": 8, "epochs": 20, "lr": 0.5},
    "tree.bin": {"model": "supervised", "dim": 8, "epochs": 20, "lr": 0.5, "loss": "hs"},
    "single.bin": {"model": "supervised", "dim": 8, "epochs": 20, "lr": 0.5, "loss": "ova"},
    "judge": {"model": "pooled", "dim": 8, "ngram_dim": 8, "epochs": 8},
}
TEXTS = ["a superb film", "dull and plain", "the usual film", "awful", "zzz", "", "lovely but poor\n\na great one"]


def lines(count: int, seed: int = 1) -> list[str]:
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        label = [*WORDS][random.integers(3)]
        said = [*random.choice(WORDS[label].split(), 2), *random.choice(["the", "film", "was", "a"], 3)]
        found.append(f"__label__{label} {' '.join(random.permutation(said))}\n")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of each kind, lines, and records."""
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "lines.txt").write_text("".join(lines(300)))
    for name, options in MODELS.items():
        train(folder / "lines.txt", folder / name, min_count=1, seed=1, threads=1, **options)
    quantize(folder / "softmax.bin", folder / "small.ftz")
    (folder / "texts.txt").write_text("".join(text.replace("\n", " ") + "\n" for text in TEXTS))
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    return folder


@pytest.fixture(params=[*MODELS, "small.ftz"])
def model(request: pytest.FixtureRequest, folder: Path) -> Path:
    return folder / request.param


def mean_of(answer: list[tuple[str, float]]) -> float:
    """Of all labels of a line, in Python's own numbers; fastText adds 0.00001 to each probability."""
    weights = [max(p - 1e-5, 0) for _, p in answer]
    numbers = [float(label.removeprefix("__label__")) for label, _ in answer]
    return sum(map(float.__mul__, weights, numbers)) / sum(weights) if answer else math.nan


def expected(model: Path) -> list[float]:
    return [mean_of(answer) for answer in load_classifier(model).predict([t.replace("\n", " ") for t in TEXTS], k=ALL)]


def test_the_expected_number_is_a_weighted_mean() -> None:
    labels = np.array([[1, 0, 2], [0, 2, 1], [0, 1, 2]], np.int32)
    probabilities = np.array([[0.5, 0.25, 0.25], [0.9, 0.3, 7], [1, 0, 0]], np.float32) + np.float32(1e-5)
    found = expected_numbers(np.array([-1, 2, 4.0]), labels, probabilities, np.array([3, 2, 0], np.int32))
    assert found[:2] == pytest.approx([2 * 0.5 - 0.25 + 1, (-0.9 + 4 * 0.3) / 1.2], abs=1e-6)
    assert np.isnan(found[2])


@pytest.mark.parametrize(
    ("label", "number"),
    [
        *[("3", 3), ("-1.5", -1.5), ("+.5", 0.5), ("2.", 2), ("1e3", 1000)],
        *((word, None) for word in ("nan", "inf", "1_0", "", "1e999", "\u0663", "3 ", "x3", "-")),
    ],
)
def test_labels_that_are_numbers(label: str, number: float | None) -> None:
    labels = ["__label__1", f"__label__{label}"]
    if number is not None:
        assert read_numbers(labels, "__label__", "m").tolist() == [1, number]
        return
    with pytest.raises(UsageError, match=r"^m: expected labels that are numbers, such as __label__3, found __label__"):
        read_numbers(labels, "__label__", "m")


def test_python_gives_the_expected_number(model: Path) -> None:
    classifier = load_classifier(model)
    wanted = expected(model)
    found = classifier.predict_number([text.replace("\n", " ") for text in TEXTS])
    assert found == pytest.approx(wanted, abs=1e-5, nan_ok=True)
    assert found[3] < 0 < found[2] < found[0] <= 3
    assert classifier.predict_number(TEXTS[0]) == pytest.approx(found[:1])
    assert classifier.predict_number([]) == []
    assert pickle.loads(pickle.dumps(classifier)).predict_number(TEXTS[0]) == found[:1]
    with pytest.raises(ValueError, match="expected lines without line ends"):
        classifier.predict_number("a\nb")


def test_a_pooled_model_has_a_prefix_of_its_own(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("".join(lines(60)).replace("__label__", "#"))
    train(tmp_path / "t", tmp_path / "judge", label_prefix="#", threads=1, **MODELS["judge"])
    assert -1 < load_classifier(tmp_path / "judge").predict_number("a superb film")[0] < 3


@pytest.mark.parametrize("threads", [1, 2])
def test_predict_prints_a_number_a_line(wv: Run, folder: Path, model: Path, threads: int) -> None:
    wanted = expected(model)
    shown = wv("predict", model, folder / "texts.txt", "--number", "--threads", threads)
    assert shown.returncode == 0, shown.stderr
    found = [float(line) if line else math.nan for line in shown.stdout.split("\n")[:-1]]
    assert found == pytest.approx(wanted, abs=2e-5, nan_ok=True)
    shown = wv("predict", model, folder / "texts.txt", "--number", "--json")
    objects = [json.loads(line) for line in shown.stdout.splitlines()]
    assert {*objects[0]} == {"number"}
    assert [each["number"] for each in objects] == [
        None if math.isnan(number) else pytest.approx(number, abs=1e-5) for number in wanted
    ]


def test_add_gives_records_a_number(wv: Run, folder: Path, model: Path) -> None:
    wanted = expected(model)
    shown = wv("predict", model, folder / "texts.jsonl", "--number", "--add", "quality")
    assert shown.returncode == 0, shown.stderr
    records = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [{*record} for record in records] == [{"text", "quality", "quality_known"}] * len(TEXTS)
    for text, record, number in zip(TEXTS, records, wanted, strict=True):
        known = text not in ("zzz", "")
        assert record["quality"] == (pytest.approx(number, abs=1e-5) if known else None)
        assert (record["quality_known"] > 0) == known
    shown = wv("predict", model, folder / "texts.jsonl", "--number", "--add", "q", "--unit", "paragraph")
    halves = load_classifier(model).predict(TEXTS[-1].split("\n\n"), k=ALL)
    by_label = {label: np.mean([dict(half)[label] for half in halves]) for label, _ in halves[0]}
    mean = mean_of([(label, float(p)) for label, p in by_label.items()])
    assert json.loads(shown.stdout.splitlines()[-1])["q"] == pytest.approx(mean, abs=1e-4)


@pytest.mark.parametrize("bounds", [">=1.25", "<=0.5", "=-0.5..2", "<-0.25", "=..9"])
def test_filter_keeps_numbers_in_a_range(wv: Run, folder: Path, model: Path, tmp_path: Path, bounds: str) -> None:
    low, high = {">": (1.25, 9), "<": (-9, 0.5 if "0.5" in bounds else -0.25), "=": (-0.5, 2)}[bounds[0]]
    low, high = (-9, 9) if bounds == "=..9" else (low, high)
    wanted = expected(model)
    kept = [text for text, number in zip(TEXTS, wanted, strict=True) if low <= number <= high]
    rule = f"quality={model}{bounds}"
    done = wv("filter", folder / "texts.jsonl", "-o", "kept", "--classifier", rule, "--add-scores", "-q")
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in (tmp_path / "kept" / "texts.jsonl").read_text().splitlines()]
    assert [record["text"] for record in records] == kept
    shown = [number for number in wanted if low <= number <= high]
    assert [record["quality"] for record in records] == pytest.approx(shown, abs=1e-5)
    for rules in (wv_cli.Filter(classifier=rule), pickle.loads(pickle.dumps(wv_cli.Filter({"classifier": rule})))):
        verdict = rules(TEXTS)
        assert [text for text, keep in zip(TEXTS, verdict.keep, strict=True) if keep] == kept
        assert verdict.scores["quality"] == pytest.approx(np.array(wanted), abs=1e-5, nan_ok=True)


def test_a_label_keeps_its_probability(folder: Path) -> None:
    assert wv_cli.Filter(classifier=f"{folder / 'judge'}:3>=0.9")(["a superb great film"]).keep.tolist() == [True]
    with pytest.raises(WvError, match="scores are 0 to 1, and the rule keeps >= 2"):
        wv_cli.Filter(classifier=f"{folder / 'judge'}:3>=2")


def test_eval_labels_scores_numbers(wv: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    some = [*lines(80, seed=2), "__label__-1 __label__3 a film was great\n"]
    (tmp_path / "data.txt").write_text("".join([*some, "no label\n", "__label__7 a film\n"]))
    gold = [float(line.split()[0].removeprefix("__label__")) for line in some[:-1]] + [1.0]
    words = [" ".join(w for w in line.split() if not w.startswith("__label__")) for line in some]
    found = load_classifier(model).predict_number(words)
    report = wv_cli.eval.labels(model, data=str(tmp_path / "data.txt"), number=True)
    assert report["measure"] == "spearman"
    assert report["results"] == [
        {
            "data": str(tmp_path / "data.txt"),
            "model": str(model),
            "spearman": pytest.approx(reference.spearman(gold, found), abs=1e-6),
            "mean_absolute_error": pytest.approx(np.abs(np.array(gold) - found).mean(), abs=1e-5),
            "lines": 81,
        }
    ]
    assert report["notes"] == [
        f"{model} on {tmp_path / 'data.txt'}: 2 lines without a known label or a known word left out"
    ]
    missed = wv("eval", "labels", model, "-d", "data.txt", "--number", "--min-score", "0.999", "--table")
    assert missed.returncode == 3 and "spearman is 0." in missed.stderr and "mean absolute error" in missed.stdout
    (tmp_path / "none.txt").write_text("no label\n")
    assert "no line has both a label and a word" in wv("eval", "labels", model, "-d", "none.txt", "--number").stderr


def test_labels_that_are_no_numbers_are_refused_before_the_work(wv: Run, folder: Path, tmp_path: Path) -> None:
    names, texts = GOLDEN / "ft-labels.bin", folder / "texts.jsonl"
    problem = f"{names}: expected labels that are numbers, such as __label__3, found __label__baking"
    for call in (
        ("predict", names, folder / "texts.txt", "--number", "-o", "out"),
        ("predict", names, texts, "--number", "--add", "q", "-o", "out.jsonl"),
        ("filter", texts, "-o", "out", "--classifier", f"{names}>=2"),
        ("eval", "labels", names, "-d", folder / "lines.txt", "--number"),
    ):
        done = wv(*call)
        assert done.returncode == 2 and problem in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not [*tmp_path.iterdir()]
    with pytest.raises(UsageError, match="expected labels that are numbers"):
        load_classifier(names).predict_number("bread")
    with pytest.raises(UsageError, match=r"name a label, such as .*:baking"):
        wv_cli.Filter(classifier=f"{names}>=2")


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (">=3.5", "keeps no record; numbers of its labels are -1 to 3, and the rule keeps >= 3.5"),
        ("<=-2", "keeps no record; numbers of its labels are -1 to 3, and the rule keeps <= -2"),
        (":>=0.5", "expected MODEL:LABEL"),
    ],
)
def test_a_rule_that_cannot_be_meant(wv: Run, folder: Path, tmp_path: Path, rule: str, told: str) -> None:
    done = wv("filter", folder / "texts.jsonl", "-o", "kept", "--classifier", f"{folder / 'judge'}{rule}")
    assert done.returncode == 2 and told in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_language_has_no_number(wv: Run, folder: Path) -> None:
    done = wv("filter", folder / "texts.jsonl", "--dry-run", "--language", f"{folder / 'judge'}>=0.5")
    assert done.returncode == 2 and "expected MODEL:LABEL" in done.stderr


@pytest.mark.parametrize(
    "options", [("-k", "2"), ("--threshold", "0.5"), ("--prob",), ("--add", "q", "--unknown", "none")]
)
def test_options_of_labels_have_no_effect_on_numbers(wv: Run, folder: Path, options: tuple[str, ...]) -> None:
    done = wv("predict", folder / "judge", folder / "texts.jsonl", "--number", *options)
    assert done.returncode == 2 and "has no effect with" in done.stderr, done.stderr


@pytest.mark.parametrize("option", ["--per-label", "--reliability", "--best=f1", "--confusions=3", "-k2"])
def test_options_of_scores_by_label_have_no_effect_on_numbers(wv: Run, folder: Path, option: str) -> None:
    done = wv("eval", "labels", folder / "judge", "-d", folder / "lines.txt", "--number", option)
    assert done.returncode == 2 and "has no effect with" in done.stderr, done.stderr
