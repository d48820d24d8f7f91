"""One pooled classifier of several questions: from fields of records to predictions, added fields, rules and scores."""

import json

import numpy as np
import pytest

from tests.conftest import start_wv
from wv_cli import Filter, load_classifier, predict, quantize, train
from wv_cli import eval as evaluate
from wv_cli.__main__ import run
from wv_cli.errors import BadFile, MissingFile, UsageError, WvError
from wv_cli.filtering import model_scorers
from wv_cli.io.input import open_input
from wv_cli.models.pooled_files import load_pooled, question_names, save_pooled
from wv_cli.models.text_classifier import ALL

QUESTIONS = ("stars", "meta.kind", "a=b")
SMALL = {"model": "pooled", "dim": 8, "ngram_dim": 8, "epochs": 10, "seed": 1, "threads": 1, "label_field": QUESTIONS}
SAID = {1: "awful dull poor", 3: "plain fair usual", 5: "fine lovely superb"}
KINDS = {"short film": "film scene actor", "book": "page novel chapter"}


def records(count, seed=1):
    random, found = np.random.default_rng(seed), []
    for number in range(count):
        stars, kind = int(random.choice([1, 3, 5])), str(random.choice([*KINDS]))
        said = [*random.choice(SAID[stars].split(), 2), *random.choice(KINDS[kind].split(), 2), "the", "a"]
        record = {"text": " ".join(random.permutation(said)), "stars": stars, "meta": {"kind": kind}, "a=b": stars > 1}
        if number % 4 == 0:
            record["stars"] = None
        found.append(record)
    return found


def write(path, found):
    path.write_text("".join(json.dumps(each) + "\n" for each in found))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    write(folder / "train.jsonl", records(300))
    write(folder / "test.jsonl", records(80, seed=2))
    train(folder / "train.jsonl", folder / "judge", **SMALL)
    return folder


@pytest.fixture(scope="module")
def judge(files):
    return load_classifier(files / "judge")


def texts_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_learns_each_question(files, judge):
    assert [each.name for each in judge.questions] == [*QUESTIONS]
    assert judge.question("meta.kind").prefix == "__label__meta.kind="
    told = texts_of(files / "test.jsonl")
    answers = judge.predict([each["text"] for each in told])
    kinds = ["__label__meta.kind=" + each["meta"]["kind"].replace(" ", "%20") for each in told]
    signs = [f"__label__a%3db={str(each['a=b']).lower()}" for each in told]
    assert np.mean([found[1][0] == kind for found, kind in zip(answers, kinds, strict=True)]) > 0.95
    assert np.mean([found[2][0] == sign for found, sign in zip(answers, signs, strict=True)]) > 0.9


def test_answers_are_a_distribution_of_each_question(judge):
    (every,) = judge.predict("a superb film", k=ALL)
    for question in judge.questions:
        own = [p for label, p in every if label.startswith(question.prefix)]
        assert sum(own) == pytest.approx(1, abs=1e-4)
        assert own == sorted(own, reverse=True)
    best = [label.partition("=")[0] for label, _ in judge.predict("a superb film")[0]]
    assert best == ["__label__stars", "__label__meta.kind", "__label__a%3db"]
    (probable,) = judge.predict("a superb film", k=ALL, threshold=0.5)
    assert probable == [each for each in every if each[1] >= 0.5]


def test_numbers_of_a_question(judge):
    low, high = judge.predict_number(["awful dull", "lovely superb"], "stars")
    assert 1 <= low < 2.5 < 3.5 < high <= 5
    with pytest.raises(UsageError, match=r"answers several questions; name one of stars, meta\.kind, a=b"):
        judge.predict_number("superb")
    with pytest.raises(UsageError, match="has no question 'star'"):
        judge.predict_number("superb", "star")
    with pytest.raises(UsageError, match=r"labels that are numbers, such as __label__meta\.kind=3"):
        judge.predict_number("superb", "meta.kind")


def test_a_text_of_unknown_words_has_no_answer(files, judge, tmp_path, capsys):
    path = write(tmp_path / "x.jsonl", [{"text": "zzz qqq", "stars": 1}, *texts_of(files / "test.jsonl")[1:9]])
    assert judge.predict("zzz qqq") == [[]]
    assert np.isnan(judge.predict_number("zzz qqq", "stars")).all()
    report = evaluate.labels(files / "judge", data=path, number=True, label_field=("stars",), threads=1)
    assert report["results"][0]["lines"] == sum(bool(each["stars"]) for each in texts_of(path)) - 1
    assert run(["predict", f"{files}/judge", str(path), "--add", "judge", "--number"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["judge_stars"] is None
    assert Filter(classifier=f"{files}/judge:stars>=0")(["zzz qqq", "superb"]).keep.tolist() == [False, True]


def test_file_keeps_questions(files, judge, tmp_path):
    made = load_pooled(files / "judge")
    save_pooled(tmp_path / "again", made)
    assert (tmp_path / "again").read_bytes() == (files / "judge").read_bytes()
    with open_input(files / "judge") as source:
        assert question_names(source) == QUESTIONS
    report = quantize(files / "judge", tmp_path / "small", meta=False)
    assert report["bytes"] < report["bytes_before"]
    small = load_classifier(tmp_path / "small")
    assert [each.name for each in small.questions] == [*QUESTIONS]
    assert small.predict_number("superb", "stars") == pytest.approx(judge.predict_number("superb", "stars"), abs=0.2)


def test_refuses_questions_that_labels_do_not_name(files, tmp_path):
    made = load_pooled(files / "judge")
    for questions in ((0, 3), (0, 2, 5), (0, 1, 5), (1, 3, 5)):
        vars(made.reading)["questions"] = questions
        vars(made)["temperatures"] = (1.0,) * len(questions)
        save_pooled(tmp_path / "wrong", made)
        with pytest.raises(BadFile, match=r"the labels do not name their questions|do not divide the labels"):
            load_pooled(tmp_path / "wrong")
    vars(made.reading)["questions"] = (0, 3, 5)
    vars(made)["temperatures"] = (1.0, 0.0, 1.0)
    save_pooled(tmp_path / "wrong", made)
    with pytest.raises(BadFile, match="temperatures from"):
        load_pooled(tmp_path / "wrong")


def test_calibration_has_a_temperature_for_each(files, tmp_path, capsys):
    told = records(80, seed=3)
    for each in told:  # what is surely said of kinds is wrong in places
        each["meta"]["kind"] = each["meta"]["kind"] if len(each["text"]) % 3 else "book"
    report = train(files / "train.jsonl", tmp_path / "cool", **SMALL, calibration=write(tmp_path / "held.jsonl", told))
    assert load_pooled(tmp_path / "cool").temperatures == pytest.approx(report["temperature"])
    stars, kind, _ = report["temperature"]
    assert kind > 1.5 * stars
    for each in told:
        each["stars"] = 5 if each is told[0] else None
        each["a=b"] = None
    told[1]["a=b"] = True
    told[0]["stars"] = 7
    with pytest.raises(BadFile, match="labeled lines to calibrate on, found none whose label such as __label__stars="):
        train(files / "train.jsonl", tmp_path / "x", **SMALL, calibration=write(tmp_path / "held.jsonl", told))


def test_lines_may_name_their_questions(files, tmp_path):
    lines = tmp_path / "lines.txt"
    with lines.open("w") as written:
        for each in texts_of(files / "train.jsonl"):
            stars = f"__label__stars={each['stars']} " if each["stars"] else ""
            kind = each["meta"]["kind"].replace(" ", "%20")
            written.write(
                f"{stars}__label__meta.kind={kind} __label__a%3db={str(each['a=b']).lower()} {each['text']}\n"
            )
    train(lines, tmp_path / "judge", **SMALL)
    assert (tmp_path / "judge").read_bytes() == (files / "judge").read_bytes()
    report = evaluate.labels(tmp_path / "judge", data=lines, threads=1)["results"]
    assert [row["model"].rpartition(":")[2] for row in report if row["label"] == "micro"] == [*QUESTIONS]
    lines.write_text("__label__other x\n__label__stars=1 y\n")
    with pytest.raises(WvError, match="expected labels such as __label__stars=VALUE, found __label__other"):
        train(lines, tmp_path / "x", **SMALL)


def test_a_question_needs_two_labels(files, tmp_path):
    told = [{**each, "stars": 5} for each in texts_of(files / "train.jsonl")]
    with pytest.raises(WvError, match="the field stars: expected two labels or more to choose from, found 1"):
        train(write(tmp_path / "x.jsonl", told), tmp_path / "x", **SMALL)


def test_scores_of_each_question(files):
    model, data = files / "judge", files / "test.jsonl"
    rows = evaluate.labels(model, data=data, label_field=QUESTIONS, threads=1)["results"]
    micro = {row["model"].rpartition(":")[2]: row for row in rows if row["label"] == "micro"}
    assert [*micro] == [*QUESTIONS]
    assert micro["stars"]["gold"] == 60 and micro["meta.kind"]["gold"] == 80
    assert all(row["f1"] > 0.9 for row in micro.values())
    (stars,) = evaluate.labels(model, data=data, label_field=("stars",), number=True, threads=1)["results"]
    assert stars["model"] == f"{model}:stars" and stars["spearman"] > 0.8
    rows = evaluate.labels(model, data=data, label_field=("meta.kind",), reliability=True, threads=1)["results"]
    assert sum(row["predicted"] for row in rows if "mean p" in row["label"]) == 80
    with pytest.raises(UsageError, match="has no question 'kind'"):
        evaluate.labels(model, data=data, label_field=("kind",))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"label_field": ("stars", "meta.kind"), "number": True}, "labels that are numbers.*meta.kind="),
        ({"label_field": ("stars", "stars")}, "label_field names a field twice"),
        ({"label_field": ("stars", "text")}, "label_field text is the field of the texts"),
        ({}, "such as __label__stars=[135], or label_field names the fields of records"),
    ],
)
def test_what_cannot_be_scored(files, options, told):
    with pytest.raises(WvError, match=told):
        evaluate.labels(files / "judge", data=files / "test.jsonl", **options)


def test_other_values_than_the_model_has_are_named(files, tmp_path):
    told = [{**each, "stars": 9} for each in texts_of(files / "test.jsonl")]
    for number in (False, True):
        with pytest.raises(WvError, match=r"the values of the fields of label_field, and the model has '[135]'"):
            evaluate.labels(
                files / "judge", data=write(tmp_path / "x.jsonl", told), label_field=("stars",), number=number
            )


def test_one_question_has_one_field(files, tmp_path):
    train(files / "train.jsonl", tmp_path / "one", **{**SMALL, "label_field": ("stars",)})
    assert [each.name for each in load_classifier(tmp_path / "one").questions] == [""]
    with pytest.raises(UsageError, match="answers one question; give one label_field"):
        evaluate.labels(tmp_path / "one", data=files / "test.jsonl", label_field=QUESTIONS)


def predicted(files, capsys, *options):
    assert run(["predict", f"{files}/judge", f"{files}/test.jsonl", "--threads", "1", *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_predict(files, judge, capsys):
    texts = [each["text"] for each in texts_of(files / "test.jsonl")]
    best = [" ".join(label for label, _ in found) for found in judge.predict(texts)]
    assert predicted(files, capsys) == best
    numbers = judge.predict_number(texts, "stars")
    shown = [line.removeprefix("stars=") for line in predicted(files, capsys, "--number")]
    assert [*map(float, shown)] == pytest.approx(numbers, abs=1e-5)
    first = json.loads(predicted(files, capsys, "--number", "--json")[0])
    assert first == {"numbers": {"stars": pytest.approx(numbers[0], abs=1e-6)}}


LEFT_OUT = "--number leaves out meta.kind, a=b, whose labels are not all numbers"


@pytest.mark.parametrize("options", [[], ["--json"], ["--add", "judge", "-o", "out.jsonl"], ["--dask", "local"]])
def test_questions_without_numbers_are_told_of(files, tmp_path, options):
    if "--dask" in options:
        pytest.importorskip("distributed")
    call = ["predict", files / "judge", files / "test.jsonl", *options]
    numbers, labels = (start_wv(*call, *more, cwd=tmp_path) for more in (["--number"], []))
    assert (numbers.returncode, labels.returncode) == (0, 0)
    assert numbers.stderr.count(LEFT_OUT) == 1 and "leaves out" not in labels.stderr


def test_functions_tell_of_questions_without_numbers(files, tmp_path):
    told = []
    predict(
        files / "judge",
        files / "test.jsonl",
        output=tmp_path / "out.txt",
        number=True,
        log=lambda note, **_: told.append(note),
    )
    lines = [f"__label__stars={each['stars']} {each['text']}\n" for each in texts_of(files / "test.jsonl")]
    (tmp_path / "test.txt").write_text("".join(lines))
    report = evaluate.labels(files / "judge", data=tmp_path / "test.txt", number=True)
    for notes in (told, report["notes"]):
        assert [note for note in notes if "leaves out" in note] == [f"{files}/judge: {LEFT_OUT}"]
    report = evaluate.labels(files / "judge", data=files / "test.jsonl", label_field=("stars",), number=True)
    assert not any("leaves out" in note for note in report["notes"])


@pytest.mark.parametrize("unit", ["document", "line"])
def test_add_gives_fields_for_each_question(files, judge, capsys, unit):
    told = [json.loads(line) for line in predicted(files, capsys, "--add", "judge", "--unit", unit)]
    answers = judge.predict([each["text"] for each in told])
    fields = [f"judge_{name}{end}" for name in QUESTIONS for end in ("", "_score")]
    for each, found in zip(told, answers, strict=True):
        assert [*each][4:] == [*fields, "judge_known"]
        assert each["judge_meta.kind"] in KINDS
        assert [each[f"judge_{name}"] for name in QUESTIONS[::2]] == [found[i][0].partition("=")[2] for i in (0, 2)]
        assert [each[field] for field in fields[1::2]] == pytest.approx([p for _, p in found], abs=1e-4)
    several = json.loads(predicted(files, capsys, "--add", "judge", "-k", "2", "--unit", unit)[0])
    assert len(several["judge_stars"]) == len(several["judge_meta.kind_score"]) == 2
    number = json.loads(predicted(files, capsys, "--add", "judge", "--number", "--unit", unit)[0])
    assert [*number][4:] == ["judge_stars", "judge_known"]


def test_fields_that_would_clash_are_refused(tmp_path, capsys):
    told = [{"text": f"word{i % 4}", "x": i % 2, "x_score": i % 2} for i in range(20)]
    options = {**SMALL, "label_field": ("x", "x_score")}
    train(write(tmp_path / "x.jsonl", told), tmp_path / "judge", **options)
    assert (
        run(["predict", f"{tmp_path}/judge", f"{tmp_path}/x.jsonl", "--add", "judge", "-o", f"{tmp_path}/out.jsonl"])
        == 2
    )
    assert "its questions would add judge_x_score twice" in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_rules_about_questions_read_a_text_once(files, judge, monkeypatch):
    path, texts = files / "judge", [each["text"] for each in texts_of(files / "test.jsonl")]
    asked, answer = [], model_scorers.answer_units
    monkeypatch.setattr(
        model_scorers,
        "answer_units",
        lambda model, documents, *rest: asked.append(len(documents)) or answer(model, documents, *rest),
    )
    rules = [f"stars={path}:stars>=2", f"{path}:meta.kind=book>=0.5"]
    kept = Filter(classifier=rules)(texts).keep
    numbers, best = judge.predict_number(texts, "stars"), [found[1][0] for found in judge.predict(texts)]
    assert kept.tolist() == [n >= 2 and label.endswith("=book") for n, label in zip(numbers, best, strict=True)]
    assert 0 < sum(kept) < sum(n >= 2 for n in numbers) < len(texts)
    assert asked == [80]


def test_a_rule_takes_a_value_with_blanks(files):
    texts = [each["text"] for each in texts_of(files / "test.jsonl")]
    kept = [
        Filter(classifier=f"{files}/judge:meta.kind={value}>=0.5")(texts).keep.tolist()
        for value in ("short film", "short%20film")
    ]
    assert kept[0] == kept[1]
    assert 0 < sum(kept[0]) < len(texts)


def test_a_rule_takes_all_labels_of_a_question(files, judge, tmp_path):
    texts = [each["text"] for each in texts_of(files / "test.jsonl")]
    best = [found[1] for found in judge.predict(texts)]
    kept = Filter(classifier=f"{files}/judge:meta.kind=*>=0.9")(texts).keep.tolist()
    assert kept == [probability >= 0.9 for _, probability in best]
    assert 0 < sum(kept) < len(texts)
    rule = f"kind={files}/judge:meta.kind=*>=0.5"
    out = f"{tmp_path}/out"
    assert run(["filter", f"{files}/test.jsonl", "-o", out, "--classifier", rule, "--split", "kind", "-q"]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {*KINDS}
    for label in KINDS:
        split = [each["text"] for each in texts_of(tmp_path / "out" / label / "test.jsonl")]
        asked = f"__label__meta.kind={label.replace(' ', '%20')}"
        assert split == [text for text, (name, _) in zip(texts, best, strict=True) if name == asked]


def test_rules_that_no_question_fits(files, tmp_path):
    path = files / "judge"
    for rule, message in (
        (f"{path}>=2", "answers several questions; name one of stars"),
        (f"{path}:*>=0.5", "answers several questions; name one, such as .*:stars=[*]"),
        (f"{path}:stars=1,meta.kind=book>=0.5", "one question, found those of stars and meta.kind; give each a rule"),
        (f"{path}:meta.kind>=2", "labels that are numbers"),
        (f"{path}:nothing>=0.5", "has no label 'nothing'.*its questions: stars, meta.kind, a=b"),
        (f"{path}:nothing>=2", "has no label 'nothing'.*its questions: stars, meta.kind, a=b"),
        (f"{path}:stars=7>=0.5", "has no label 'stars=7'; labels like it: stars=[135], stars=[135], stars=[135]$"),
        (f"{path}:meta.kind=book>=2", "keeps no record; scores are 0 to 1"),
        (f"{path}:stars>=nan", "expected a number from 0 to 1 behind >=, such as 0.5; found 'nan'"),
        (f"{path}:stars==3", "write '.*:stars>=3'"),
        (f"{path}:stars>=6", "keeps no record; numbers of its labels are 1 to 5"),
    ):
        with pytest.raises(UsageError, match=message):
            Filter(classifier=rule)
    with pytest.raises(MissingFile, match="cannot read"):
        Filter(classifier=f"{tmp_path}/absent:stars>=2")


@pytest.mark.parametrize("fields", [QUESTIONS, ("stars",), ("meta.kind", "a=b")])
def test_quantize_scores_the_fields_of_records(files, tmp_path, fields):
    told = texts_of(files / "test.jsonl")
    for number, each in enumerate(told):  # each question has a share of right answers of its own
        each["stars"] = each["stars"] and (5 if number % 3 else each["stars"])
        each["meta"]["kind"], each["a=b"] = each["meta"]["kind"] if number % 4 else "book", number % 2 > 0
    data = write(tmp_path / "test.jsonl", told)
    report = quantize(files / "judge", tmp_path / "small", validation=data, label_field=fields, meta=False)
    results = evaluate.labels(files / "judge", data=data, label_field=fields, threads=1)["results"]
    rows = [row for row in results if row["label"] == "micro"]
    assert len(rows) == len(fields)
    right, asked = (sum(row[name] for row in rows) for name in ("right", "gold"))
    assert report["score_before"] == right / asked < 0.95
    assert report["score_after"] == pytest.approx(right / asked, abs=0.05)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"label_field": ("kind",)}, "has no question 'kind'"),
        ({"label_field": ("stars", "text")}, "label_field text is the field of the texts"),
        ({}, "such as __label__stars=[135], or label_field names the fields of records"),
        ({"label_field": ("stars",), "validation": None}, "label_field needs validation or retrain"),
    ],
)
def test_quantize_refuses_what_cannot_be_scored(files, tmp_path, options, told):
    with pytest.raises(WvError, match=told):
        quantize(files / "judge", tmp_path / "small", **{"validation": files / "test.jsonl", **options})
    assert not [*tmp_path.iterdir()]


def test_quantize_may_be_quiet_or_print_an_object(files, tmp_path, capsys):
    for option in ("--quiet", "--json"):
        assert run(["quantize", f"{files}/judge", "-o", f"{tmp_path}/small", option]) == 0
        told = capsys.readouterr()
        assert (option == "--json") == bool(told.out) and (option == "--json") == bool(told.err)
