"""Labels from fields of records: the lines that one would write, whatever the format, and values that
come back."""

import json
import pickle

import pyarrow
import pyarrow.parquet
import pytest

from tests.commands.made import end_after_trials
from wv_cli import eval as evaluate
from wv_cli import filter, load_classifier, quantize, train
from wv_cli.__main__ import run
from wv_cli.commands.autotune_metric import Metric
from wv_cli.errors import BadFile, UsageError
from wv_cli.models.classifier import Classifier
from wv_cli.text.reading_config import ReadingConfig, TokenizeConfig, recipe_of
from wv_cli.text.records.labels import LabelFields, encode_value, head_name, value_of
from wv_cli.text.source import Source
from wv_cli.vectors.formats.fasttext_bin import load_model
from wv_cli.vectors.recognize import input_texts

RECORDS = [
    {"text": "a lovely\nfilm", "quality": 3, "topic": "social science"},
    {"text": "so __label__dull it is", "quality": 2.5, "topic": None},
    {"text": "no label at all", "quality": None, "topic": ""},
]
LINES = {
    "quality": ["__label__3 a lovely film", "__label__2.5 so  it is", "no label at all"],
    "topic": ["__label__social%20science a lovely film", "so  it is", "no label at all"],
}
VALUES = {
    "3.0": "3", "-1": "-1", "1e300": "1e+300", "0.1": "0.1", "true": "true", "false": "false", '"x"': "x",
    '"3.0"': "3.0", "NaN": "", "null": "", '""': "", '["b", 1, null, true]': "b 1 true", "[]": "",
    '"a b%20=c"': "a%20b%2520=c",
}  # fmt: skip
SMALL = {"model": "supervised", "dim": 4, "epochs": 5, "min_count": 1, "threads": 1}
WORDS = {"good": "fine lovely great superb", "bad": "awful dull poor boring"}


def write(path, records):
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), path)
    elif path.suffix == ".csv":
        cells = [[record["text"], record["quality"], record["topic"]] for record in records]
        rows = [",".join("" if cell is None else f'"{cell}"' for cell in row) for row in cells]
        path.write_text("text,quality,topic\n" + "".join(f"{row}\n" for row in rows))
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def lines_of(path, *names, prefix="__label__", named=False, **reading):
    labels = LabelFields(names, prefix, named)
    texts = input_texts([str(path)], log=lambda message: None, reading=ReadingConfig(**reading), labels=labels)
    return b"".join(Source(texts)).decode().removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Records, and the same as lines that their labels begin."""
    folder, made = tmp_path_factory.mktemp("labels"), []
    for number in range(120):
        label = "good" if number % 2 else "bad"
        words = WORDS[label].split()
        text = f"{words[number % 4]} {words[number // 4 % 4]} film {number % 3}"
        made.append({"text": text, "sign": label, "stars": 5 - 4 * (number % 2)})
    write(folder / "x.jsonl", made)
    (folder / "x.txt").write_text("".join(f"__label__{each['sign']} {each['text']}\n" for each in made))
    return folder


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("name", LINES)
def test_each_format_gives_the_lines_that_one_would_write(tmp_path, ending, name):
    assert lines_of(write(tmp_path / f"x.{ending}", RECORDS), name) == LINES[name]


def test_several_fields_name_their_labels(tmp_path):
    path = write(tmp_path / "x.jsonl", RECORDS)
    found = lines_of(path, "topic", "quality", named=True, prefix="#")
    assert found[0] == "#topic=social%20science #quality=3 a lovely film"


@pytest.mark.parametrize("value", VALUES)
def test_values(tmp_path, value):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"text": "x", "y": {value}}}\n{{"y": {{"z": 1}}, "text": "x"}}\n'.replace('{"z": 1}', "1"))
    assert lines_of(path, "y")[0] == "".join(f"__label__{each} " for each in VALUES[value].split()) + "x"


@pytest.mark.parametrize(
    "value", ["a b", "50% off", "a%20b", "%2", "%", "%%20", "a\t\n\x0b\x0c\r\0b", "=", "\u00a0é", "%3d"]
)
def test_a_value_is_one_word_that_can_be_read_back(value):
    assert len(encode_value(value).encode().split()) == 1
    assert value_of(encode_value(value)) == value
    assert "=" not in head_name(value)
    assert value_of(head_name(value)) == value


def test_nested_fields_and_columns_read_alone(tmp_path):
    records = [{"text": "x", "meta": {"kind": "a"}, "tags": ["u", "v"]}, {"text": "y", "meta": None, "tags": []}]
    for ending in ("jsonl", "parquet"):
        path = write(tmp_path / f"x.{ending}", records)
        assert lines_of(path, "meta.kind", "tags") == ["__label__a __label__u __label__v x", "y"]


def test_labels_are_not_cut_into_words(tmp_path):
    path = write(tmp_path / "x.jsonl", [{"text": "Good, isn't it?", "y": "A-b C"}])
    recipe = recipe_of(TokenizeConfig(lowercase=True))
    assert lines_of(path, "y", tokenize=recipe) == ["__label__A-b%20C good , isn't it ?"]


def test_refuses_what_is_no_label(tmp_path):
    path = write(tmp_path / "x.jsonl", [{"text": "x", "y": {"z": 1}}])
    with pytest.raises(BadFile, match=r"the field y: expected a text, a number.*name a field inside it as y\.NAME"):
        lines_of(path, "y")
    with pytest.raises(BadFile, match=r"values in the field Y .* the first one has the fields text, y"):
        lines_of(path, "Y")
    path.write_text('{"text": "x", "y": [[1]]}\n')
    with pytest.raises(BadFile, match="the field y: expected a text"):
        lines_of(path, "y")
    for ending in ("csv", "parquet"):  # of Parquet, the columns that are asked for are read alone
        records = write(tmp_path / f"x.{ending}", RECORDS)
        with pytest.raises(
            UsageError, match="expected the column nope, found text, quality, topic; --label-field names it"
        ):
            lines_of(records, "nope")
    (tmp_path / "x.txt").write_text("__label__a text\n")
    with pytest.raises(UsageError, match=r"/x\.txt: --label-field reads records, and no input is called \.jsonl"):
        lines_of(tmp_path / "x.txt", "y")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_refused_label_names_its_record(tmp_path, ending):
    """Several blocks behind one that cannot be read."""
    path, count = tmp_path / f"x.{ending}", 120_000
    values = [None] * (count - 1) + [[[1]]]
    texts = [None, *["some text " * 2] * (count - 1)]
    if ending == "parquet":
        pyarrow.parquet.write_table(pyarrow.table({"text": texts, "y": values}), path, row_group_size=7_000)
    else:
        rows = [json.dumps({"text": text, "y": value}) for text, value in zip(texts, values, strict=True)]
        path.write_text("\n".join(["", *rows, rows[1]]))
    place = f"{path}: row 120,000" if ending == "parquet" else f"{path}:120001"
    with pytest.raises(BadFile, match=f"{place}: the field y: expected a text"):
        lines_of(path, "y")


@pytest.mark.parametrize("model", ["supervised", "pooled"])
def test_training_on_records_is_training_on_lines(files, tmp_path, model):
    options = {"model": model, "dim": 8, "epochs": 3, "threads": 1, "seed": 1}
    train(files / "x.txt", tmp_path / "lines.bin", **options)
    train(files / "x.jsonl", tmp_path / "records.bin", **options, label_field=("sign",))
    assert (tmp_path / "lines.bin").read_bytes() == (tmp_path / "records.bin").read_bytes()
    scores = [
        evaluate.labels(tmp_path / "lines.bin", data=files / name, threads=1, **fields)["results"][0]["right"]
        for name, fields in (("x.txt", {}), ("x.jsonl", {"label_field": ("sign",)}))
    ]
    assert scores[0] == scores[1]


def test_numbers_and_calibration_from_records(files, tmp_path):
    held = tmp_path / "held.jsonl"
    held.write_bytes((files / "x.jsonl").read_bytes())
    call = f"train {files}/x.jsonl -o {tmp_path}/judge --model pooled --label-field stars --dim 8 --ngram-dim 8"
    assert run(f"{call} --epochs 8 --threads 1 --calibration {held} -q".split()) == 0
    assert sorted(load_classifier(tmp_path / "judge").labels) == ["__label__1", "__label__5"]
    report = evaluate.labels(tmp_path / "judge", data=files / "x.jsonl", number=True, label_field=("stars",))
    assert report["results"][0]["spearman"] > 0.8


def test_a_search_is_scored_on_records(files, tmp_path, monkeypatch):
    end_after_trials(monkeypatch, 2)
    call = f"train {files}/x.jsonl -o {tmp_path}/best.bin --model supervised --label-field sign --dim 4 --threads 1 -q"
    assert run(f"{call} --autotune-validation {files}/x.jsonl --autotune-duration 10h".split()) == 0
    assert len(load_classifier(tmp_path / "best.bin").labels) == 2


def test_a_metric_names_the_value_of_a_field(tmp_path):
    """As rules of wv filter do; the word that it is in a line will do, too."""
    for name, unlike in (("train", 0), ("test", 6)):
        told = [("x", "social science" if number < unlike or number % 2 else "0") for number in range(20)]
        write(tmp_path / f"{name}.jsonl", [{"text": text, "quality": topic} for text, topic in told])
    train(tmp_path / "train.jsonl", tmp_path / "m.bin", **{**SMALL, "label_field": ("quality",)})
    classifier, found = Classifier(load_model(tmp_path / "m.bin")), []
    fields = LabelFields(("quality",))
    texts = input_texts([str(tmp_path / "test.jsonl")], log=print, labels=fields)
    for label in ("social science", "__label__social%20science", "0"):
        found.append(Metric.parse(f"precisionAtRecall:50:{label}").score(classifier, texts, 1, 1))
    assert found[0] == found[1] > 0.6 > found[2]
    with pytest.raises(UsageError, match=r"the text has no label social; it has labels such as __label__(0|social)"):
        Metric.parse("f1:social").score(classifier, texts, 1, 1)
    with pytest.raises(UsageError, match="the text has no label 0;"):
        Metric.parse("f1:0").score(classifier, [str(tmp_path / "test.jsonl")], 1, 1)


@pytest.mark.parametrize("model", ["supervised", "pooled"])
def test_labels_keep_their_case_with_lowercase(tmp_path, model):
    rows = [
        {"text": f"{word.title()} FILM", "Said": said} for said in ("Good", "good") for word in WORDS["bad"].split()
    ]
    rows += [{"text": f"{word.upper()} film", "Said": "BAD"} for word in WORDS["good"].split()]
    path = write(tmp_path / "x.jsonl", rows * 20)
    options = {**SMALL, "model": model, "lowercase": True, "label_field": "Said", "epochs": 20}
    options = {name: value for name, value in options.items() if model == "supervised" or name != "min_count"}
    train(path, tmp_path / "m.bin", **options)
    classifier = load_classifier(tmp_path / "m.bin")
    assert sorted(classifier.labels) == ["__label__BAD", "__label__Good", "__label__good"]
    (right,) = classifier.predict("lovely film")
    assert right[0][0] == "__label__BAD"
    cut = {"tokenize": "model"} if model == "supervised" else {}
    found = evaluate.labels(tmp_path / "m.bin", data=path, label_field="Said", **cut)["results"]
    assert found[0]["lines"] == len(rows) * 20 and found[0]["recall"] > 0.6


def test_labels_of_another_prefix(files, tmp_path):
    """A file of fastText does not say what its labels begin with: the sidecar does."""
    rated = [str(files / "x.jsonl")]
    train(rated[0], tmp_path / "m.bin", **{**SMALL, "label_field": ("stars",), "label_prefix": "#"})
    quantize(tmp_path / "m.bin", tmp_path / "m.ftz", validation=rated[0], label_field=("stars",))
    for name in ("m.bin", "m.ftz"):
        model = tmp_path / name
        classifier = load_classifier(model)
        assert sorted(classifier.labels) == ["#1", "#5"] and classifier.label_prefix == "#"
        assert pickle.loads(pickle.dumps(classifier)).label_prefix == "#"
        scores = evaluate.labels(model, data=rated, label_field=("stars",), threads=1)["results"][0]
        assert scores["lines"] == 120 and scores["f1"] > 0.9
        assert evaluate.labels(model, data=rated, label_field=("stars",), number=True)["results"][0]["spearman"] > 0.8
        assert filter(rated, tmp_path / "kept", classifier=f"{model}>=3", overwrite=True)["kept"] == 60
        meta = tmp_path / f"{name}.meta.json"
        meta.unlink()
        found = (
            rf"{name}: expected labels that begin with __label__, found #\d; write the prefix .* to .*{name}.meta.json"
        )
        for options in ({"label_field": ("stars",)}, {"number": True}):
            with pytest.raises(UsageError, match=found):
                evaluate.labels(model, data=rated, **options)
        meta.write_text('{"label_prefix": "#"}')
        assert evaluate.labels(model, data=rated, label_field=("stars",))["results"][0]["lines"] == 120


def test_refused_before_the_work(files, tmp_path, capsys):
    for options, message in (
        ("--model supervised --label-field a --label-field b", "--model supervised answers one question"),
        ("--model pooled --label-field a --label-field a", "--label-field names a field twice"),
        ("--model pooled --label-field text", "--label-field text is the field of the texts"),
        ("--label-field sign", "--label-field has no effect with --model skipgram"),
    ):
        assert run(f"train {files}/x.jsonl -o {tmp_path}/x.bin {options}".split()) == 2
        assert message in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
