"""Rules of `wv filter` about labels: the most certain records, labels with odd names, and rules in files."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Run
from wv_cli import train

WORDS = {"river": "river ferry flow boat water", "oven": "yeast crust oven bake flour"}
SIGNED = ("a:b", "p,q", "p", "x=1", "spam..ham", "c<d")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """One text of each label, the first as certain as can be."""
    path = tmp_path / "r.jsonl"
    path.write_text('{"text": "river boat water flow ferry"}\n{"text": "oven bake flour yeast"}\n')
    return path


@pytest.fixture
def certain(tmp_path: Path, records: Path) -> Path:
    random = np.random.default_rng(1)
    lines = [
        f"__label__{label} {' '.join(random.choice(WORDS[label].split(), 6))}\n" for label in WORDS for _ in range(60)
    ]
    (tmp_path / "text").write_text("".join(lines))
    model = tmp_path / "m.bin"
    train(tmp_path / "text", model, model="supervised", dim=10, epochs=500, lr=2.0, min_count=1)
    return model


@pytest.mark.parametrize(
    ("bounds", "kept"),
    [("=0.9..1", 1), ("<=1", 2), ("=..1", 2), (">=1", 1), ("=1..1", 1), ("<1", 1), ("=0.6..0.9", 0), ("=0..0.5", 1)],
)
@pytest.mark.parametrize("option", ["--classifier", "--language"])
def test_a_probability_is_at_most_one(
    wv: Run, certain: Path, records: Path, option: str, bounds: str, kept: int
) -> None:
    (records.parent / "q.txt").write_text("river boat water flow ferry\n")
    printed = wv("predict", certain, "q.txt", "--prob").stdout
    assert printed == "__label__river 1.00001\n", "fastText's arithmetic, which the test is about"
    done = wv("filter", records, "-o", "kept", option, f"m.bin:river{bounds}", "-q", "--add-scores")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (records.parent / "kept" / records.name).read_text().splitlines()]
    assert len(found) == kept
    rule = option.removeprefix("--")
    if kept and bounds == ">=1":
        assert found[0][rule] > 1, "what is added stays fastText's"


@pytest.mark.parametrize("option", ["--classifier", "--language"])
def test_the_bound_changes_no_score(wv: Run, certain: Path, records: Path, option: str) -> None:
    """A label that is not the best one has its probability, too: in the table, in --explain, and in the records."""
    records.write_text("".join(f'{{"text": "{text}"}}\n' for text in ("river oven", "river yeast oven", "boat river")))
    found = []
    for bound in ("..", ">=0.1", ">=0.5", ">=0.99"):
        rule = (option, f"m.bin:river{'=..' if bound == '..' else bound}", "--add-scores", "--overwrite")
        done = wv("filter", records, "-o", "kept", "--rejected", "gone", *rule, "--json", "-q")
        assert done.returncode == 0, done.stderr
        written = [(records.parent / folder / records.name).read_text() for folder in ("kept", "gone")]
        lines = [json.loads(line) for text in written for line in text.splitlines()]
        percentiles = json.loads(done.stdout)["rules"][option[2:]]["percentiles"]
        found.append(({each["text"]: each[option[2:]] for each in lines}, percentiles))
    assert all(each == found[0] for each in found)
    assert 0 < min(found[0][0].values()) < 0.5


def test_two_labels_may_have_half_each(wv: Run, certain: Path, records: Path) -> None:
    """Of a model that has learned nothing."""
    train(records.parent / "text", records.parent / "n.bin", model="supervised", dim=2, epochs=0, min_count=1)
    for label in WORDS:
        done = wv("filter", records, "-o", "-", "--classifier", f"n.bin:{label}>=0.5", "-q")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == 2


def test_no_threshold_beyond_one_is_proposed(wv: Run, certain: Path) -> None:
    done = wv("eval", "labels", certain, "-d", "text", "--best", "f1", "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert wv("eval", "labels", certain, "-d", "text", "--threshold", "1", "-q").returncode == 0


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    """A model whose labels hold what rules are made of, in a file with a colon in its name."""
    lines = [f"__label__{label} {label[0]}{number}\n" for number, label in enumerate(SIGNED) for _ in range(9)]
    (tmp_path / "signed").write_text("".join(lines))
    train(tmp_path / "signed", tmp_path / "m:1.bin", model="supervised", dim=10, epochs=200, lr=1.0, min_count=1)
    texts = (f'{{"text": "{label[0]}{number}"}}\n' for number, label in enumerate(SIGNED))
    (tmp_path / "s.jsonl").write_text("".join(texts))
    return tmp_path / "s.jsonl"


@pytest.mark.parametrize("option", ["--classifier", "--language"])
@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        *((f"{label}>=0.5", {label}) for label in SIGNED),
        ("a:b=0.5..1", {"a:b"}),
        ("p,q=0.5..", {"p,q"}),
        ("p>=0.5", {"p"}),
        ("p,q,a:b>=0.5", {"p,q", "a:b"}),
        ("a:b,p>=0.5", {"a:b", "p"}),
        ("__label__p,q,p>=0.5", {"p,q", "p"}),
    ],
)
def test_labels_are_any_text(wv: Run, signed: Path, option: str, rule: str, wanted: set[str]) -> None:
    done = wv("filter", signed, "-o", "kept", option, f"m:1.bin:{rule}", "-q", "--overwrite")
    assert done.returncode == 0, done.stderr
    found = (signed.parent / "kept" / signed.name).read_text().splitlines()
    assert {SIGNED[int(json.loads(line)["text"][1:])] for line in found} == wanted


def test_a_label_that_is_not_there_is_named_with_others(wv: Run, signed: Path) -> None:
    done = wv("filter", signed, "--dry-run", "--classifier", "m:1.bin:p,r>=0.5")
    assert done.returncode == 2
    assert done.stderr.startswith("wv filter: m:1.bin: has no label 'r'; labels like it: ")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'\xef\xbb\xbfwords = "5.."\r\n', ""),
        ('words = "5.."'.encode("utf-16"), "expected rules in UTF-8, found UTF-16; convert it: iconv -f UTF-16"),
        (b"words = " + b"9" * 5000, "expected TOML in UTF-8, found a number of too many digits"),
        (b"words = " + b"[" * 90_000, "expected TOML in UTF-8, found"),
        (b"\nwords = '\xff'", "toml:2: expected TOML in UTF-8, found the byte 0xff; convert it with iconv"),
        (b"words = ", "expected TOML in UTF-8, found: Invalid value"),
    ],
    ids=["mark", "utf-16", "digits", "deep", "bytes", "cut"],
)
def test_rules_in_a_file_of_any_editor(wv: Run, records: Path, data: bytes, told: str) -> None:
    (records.parent / "rules.toml").write_bytes(data)
    done = wv("filter", records, "-o", "kept", "--rules", "rules.toml", "-q")
    assert done.returncode == (1 if told else 0), done.stderr
    if told:
        assert done.stderr.startswith("wv filter: rules.toml:") and told in done.stderr
        assert done.stderr.count("\n") == 1
    else:
        assert len((records.parent / "kept" / records.name).read_text().splitlines()) == 1


def test_a_reason_and_a_score_of_one_name(wv: Run, records: Path) -> None:
    arguments = ("filter", records, "-o", "kept", "--rejected", "others", "--words", "5..", "--reason", "words")
    done = wv(*arguments, "--add-scores")
    assert done.returncode == 2
    assert "--reason words is the name of a score of --add-scores, too; choose another name" in done.stderr
    assert not (records.parent / "kept").exists()
    assert wv(*arguments).returncode == 0


def test_percentiles_of_words_are_shown_whole(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_text(f'{{"text": "{"w " * 1003}"}}\n')
    done = wv("filter", "long.jsonl", "--dry-run", "--words", "5..")
    assert "1,003" in done.stdout + done.stderr
