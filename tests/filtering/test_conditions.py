"""--where: conditions on fields of every type, what is no condition, and the same of every kind of records."""

import datetime
import decimal
import json
import uuid

import pyarrow
import pyarrow.parquet
import pytest

import wv_cli
from wv_cli.__main__ import run
from wv_cli.errors import UsageError
from wv_cli.filtering.conditions import parse_condition
from wv_cli.filtering.parsing import merge_rules, parse_rules

RECORDS = [
    {
        "id": 0,
        "text": "a, b",
        "score": 3.5,
        "lang": "de",
        "meta": {"score": 9, "day": "2024-03-01"},
        "tags": ["x", "y"],
    },
    {"id": 1, "text": "c\nd", "score": 2.0, "lang": "fr", "meta": {"score": None}, "tags": []},
    {"id": 2, "text": 'e "f"', "score": None, "lang": "en", "meta": None},
    {"id": 3, "text": "g", "score": 3.0, "lang": "de", "meta": {"day": "2023-12-31"}, "tags": ["and"]},
]
# What each keeps of the records, by their numbers.
KEPT = {
    "score>=3": [0, 3],
    "score > 3": [0],
    "score=2": [1],
    "score == 2.0 or score > 3.4e0": [0, 1],
    "score != 2": [0, 3],
    "score <> 2": [0, 3],
    "not score >= 3": [1],
    "score is null": [2],
    "score is not null": [0, 1, 3],
    "not score is null and not lang = de": [1],
    "lang in (de, fr)": [0, 1, 3],
    "lang not in (de, 'fr')": [2],
    "score>=3 and lang in (de, fr)": [0, 3],
    "lang=fr or lang=de and score>3": [0, 1],
    "(lang=fr or lang=de) and score>3": [0],
    "NOT (score<3 OR lang=fr)": [0, 3],
    '"lang" = "de" and id <= 2': [0],
    "lang < 'e'": [0, 3],
    "lang = 3": [],
    "id in (1, 3)": [1, 3],
}
NESTED = {
    "meta.score >= 5": [0],
    "meta.score is null": [1, 2, 3],
    "meta is null": [2],
    "meta.day >= 2024-01-01": [0],
    "meta.day < 2024-01-01": [3],
    "tags = x": [0],
    "tags in (z, 'and')": [3],
    "not tags = x": [1, 3],
    "tags is null": [2],
}


def write_records(path):
    """The records as a file of this kind; those with a header have no nested fields."""
    flat = [[each[name] for name in ("id", "text", "score", "lang")] for each in RECORDS]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(each) + "\n" for each in RECORDS))
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(RECORDS), path)
    elif path.suffix == ".csv":
        quoted = [['"' + text.replace('"', '""') + '"', row] for row in flat for text in [row[1]]]
        lines = [f"{row[0]},{text},{row[2] or ''},{row[3]}\r\n" for text, row in quoted]
        path.write_text("id,text,score,lang\r\n" + "".join(lines), newline="")
    else:
        lines = ["\t".join(str("" if value is None else value).replace("\n", " ") for value in row) for row in flat]
        path.write_text("id\ttext\tscore\tlang\n" + "\n".join(lines))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_records_of_every_kind(tmp_path, ending, capsys):
    path = tmp_path / f"in.{ending}"
    write_records(path)
    conditions = KEPT | (NESTED if ending in ("jsonl", "parquet") else {})
    for condition, kept in conditions.items():
        run(["filter", str(path), "--where", condition, "--dry-run", "--json"])
        assert json.loads(capsys.readouterr().out)["kept"] == len(kept), condition
    run(["filter", str(path), "-o", str(tmp_path / "kept"), "--where", "lang=fr or id=3", "-q"])
    if ending == "jsonl":
        assert [json.loads(line)["id"] for line in (tmp_path / "kept" / "in.jsonl").read_text().splitlines()] == [1, 3]
    elif ending == "parquet":
        assert pyarrow.parquet.read_table(tmp_path / "kept" / "in.parquet")["id"].to_pylist() == [1, 3]


def test_tables_of_arrow_are_filtered_by_their_columns():
    table = pyarrow.Table.from_pylist(RECORDS)
    for condition, kept in (KEPT | NESTED).items():
        assert wv_cli.Filter(where=condition).table(table)["id"].to_pylist() == kept, condition
    both = wv_cli.Filter({"where": ["lang=de", "score>3"], "words": "1.."})
    assert both.table(table)["id"].to_pylist() == [0]
    missing = table.set_column(1, "text", pyarrow.array([None, "c", "e", "g"]))
    assert wv_cli.Filter(where="score is null or lang=de").table(missing)["id"].to_pylist() == [2, 3]
    with pytest.raises(UsageError, match="table: expected the column scor, found id, text, score, lang, meta, tags"):
        wv_cli.Filter(where="scor>3").table(table)
    with pytest.raises(TypeError, match=r"the rules ask for fields of records \(score\); call table"):
        wv_cli.Filter(where="score>3")(["a text"])


@pytest.mark.parametrize("single", [pyarrow.float32(), pyarrow.float16()])
def test_single_precision_compares_as_it_is_printed(single):
    """0.7 as float32 is below 0.7, but JSON lines of the same table have 0.7."""
    table = pyarrow.table(
        {
            "text": ["a", "b", "c"],
            "score": pyarrow.array([0.7, None, 0.1], single),
            "many": pyarrow.array([[0.1], [0.7, 2], None], pyarrow.list_(single)),
            "inner": pyarrow.array([{"score": 0.1}, {"score": 0.7}, None], pyarrow.struct([("score", single)])),
        }
    )
    cases = (("score>=0.7", ["a"]), ("many=0.7", ["b"]), ("inner.score=0.7", ["b"]), ("score=0.1", ["c"]))
    for condition, kept in cases:
        assert wv_cli.Filter(where=condition).table(table)["text"].to_pylist() == kept, condition


def test_nanoseconds_compare_as_other_times():
    for unit, digits in (("us", ""), ("ns", ".000000001")):
        day = pyarrow.array([f"2024-05-0{n} 12:00:00{digits}" for n in (1, 2, 3)]).cast(pyarrow.timestamp(unit))
        table = pyarrow.table({"text": ["a", "b", "c"], "day": day})
        for condition, kept in (("day<2024-05-02T11", ["a"]), ("day<'2024-05-02 13:00'", ["a", "b"])):
            assert wv_cli.Filter(where=condition).table(table)["text"].to_pylist() == kept, (unit, condition)


def test_identifiers_compare_as_texts():
    """A UUID of Parquet is no text of Arrow."""
    ids = [uuid.UUID(int=n) for n in (1, 2)]
    column = pyarrow.array([id.bytes for id in ids], pyarrow.uuid())
    table = pyarrow.table({"text": ["a", "b"], "id": column, "many": [[1], [2]]})
    assert wv_cli.Filter(where=f"id = '{ids[1]}' and many = 2").table(table)["text"].to_pylist() == ["b"]


def test_many_rows_of_a_table(monkeypatch):
    from wv_cli.filtering import verdicts

    monkeypatch.setattr(verdicts, "_ROWS", 3)
    table = pyarrow.table({"text": ["a", None, "b", "c", "d", None, "e"], "n": [0, 1, 2, 3, 4, 5, 6]})
    assert wv_cli.Filter(where="n in (1, 2, 5, 6)").table(table)["n"].to_pylist() == [2, 6]


@pytest.mark.parametrize(
    ("value", "condition", "truth"),
    [
        (True, "x = true", True),
        (False, "x = true", False),
        (True, "x = 1", None),
        (1, "x = true", None),
        ("TRUE", "x=true", True),
        ("no", "x=true", None),
        ("7", "x >= 6", True),
        (" 7 ", "x >= 6", True),
        ("1_000", "x >= 6", None),
        ("nan", "x >= 6", None),
        (float("nan"), "x >= 6", None),
        (float("nan"), "x is null", True),
        (2**70 + 1, f"x = {2**70 + 1}", True),
        (2**70, f"x = {2**70 + 1}", False),
        (decimal.Decimal("3.5"), "x > 3", True),
        (decimal.Decimal("1.10"), "x >= 1.1", True),
        (decimal.Decimal("1.10"), "x = 1.1", True),
        (decimal.Decimal(2**60) + 1, f"x > {2**60}", True),
        (datetime.date(2024, 5, 1), "x >= 2024-01-01", True),
        (datetime.datetime(2024, 5, 1, 12), "x < '2024-05-01 13:00:00'", True),
        (datetime.datetime(2024, 5, 1, 12), "x = '2024-05-01T12:00:00'", True),
        ("2024-05-01T12:00:00Z", "x < '2024-05-01 13:00'", True),
        ("2024-05-01 12:00:00", "x > 2024-05-01T11", True),
        ("on 2024-05-01 12", "x = 'on 2024-05-01 12'", True),
        (datetime.datetime(2023, 5, 1), "x >= 2024-01-01", False),
        (b"de", "x = de", True),
        ({"a": 1}, "x = 1", None),
        ("it's", r"x = 'it\'s'", True),
        ("a and b", "x = 'a and b'", True),
        ([None, 3], "x = 3", True),
        ([None, 4], "x = 3", None),
        ([4], "x = 3", False),
        ("9" * 5000, "x > 3", True),
    ],
)
def test_values_of_every_type(value, condition, truth):
    """A comparison and its opposite: neither holds where it is unknown."""
    holds = bool(parse_condition(condition).score({"x": [value]})[0])
    opposite = bool(parse_condition(f"not ({condition})").score({"x": [value]})[0])
    assert (holds, opposite) == (truth is True, truth is False)


@pytest.mark.parametrize(
    ("condition", "problem", "column"),
    [
        ("", "expected a field, not or (, found the end", 0),
        ("score", "expected a comparison (= == != <> < <= > >=, in, is) behind a field, found the end", 5),
        ("score>>3", "expected a number or a text, found >", 6),
        ("score >= null", "(write FIELD is null), found null", 9),
        ("score = and", "expected a number or a text (in quotes if it is this word), found and", 8),
        ("score >= 3 lang", "expected and, or, or the end, found lang", 11),
        ("(score>3", "expected ), and, or or, found the end", 8),
        ("in = 3", "expected a field (in double quotes if it is called so), not or (, found in", 0),
        ("lang in de", "expected ( and values, found de", 8),
        ("lang in (de fr)", "expected , or ), found fr", 12),
        ("lang not 3", "expected in, found 3", 9),
        ("lang is de", "expected null or not null, found de", 8),
        ("lang is not de", "expected null, found de", 12),
        ("lang='de", "found a quote that is never closed", 5),
        ("lang ! 3", "behind a field, found !", 5),
        ("a=1 and", "expected a field, not or (, found the end", 7),
        ("(" * 150 + "a=1", "expected up to 100 parts in each other, found (", 60),
        ("not " * 150 + "a=1", "expected up to 100 parts in each other, found not", 60),
    ],
)
def test_what_is_no_condition(condition, problem, column):
    with pytest.raises(UsageError) as error:
        parse_rules("where", condition)
    message, _, pointer = str(error.value).split("\n")
    assert message.startswith("--where: ") and problem in message and pointer == " " * (column + 2) + "^"


def test_conditions_are_one_rule_that_runs_first():
    rules = [rule for text in ("a=1 or b=2", "c=3") for rule in parse_rules("where", text)]
    merged = merge_rules([*parse_rules("words", "1.."), *rules])
    assert [rule.name for rule in merged] == ["where", "words"] and merged[0].subject == "(a=1 or b=2) and (c=3)"


def test_fields_that_no_record_has(tmp_path, capsys):
    """JSON lines may lack a field, and a note says so; a file with a header may not, and nothing is written."""
    for name in ("in.jsonl", "in.csv", "in.parquet"):
        write_records(tmp_path / name)
    assert run(["filter", str(tmp_path / "in.jsonl"), "--where", "scor>3", "--dry-run"]) == 0
    assert "none of the first 4 records has the field scor" in capsys.readouterr().err
    for name in ("in.csv", "in.parquet"):
        assert run(["filter", str(tmp_path / name), "-o", str(tmp_path / "out"), "--where", "scor>3"]) == 2
        assert f"{name}: expected the column scor, found id, text, score, lang" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_value_that_is_the_name_of_a_field(tmp_path, capsys):
    """The condition would hold for all records, or for none, without a word."""
    for name in ("in.jsonl", "in.csv", "in.parquet"):
        write_records(tmp_path / name)
        call = ["filter", str(tmp_path / name), "--dry-run", "--where"]
        assert run([*call, "id != lang or score in (3, text)"]) == 0
        said = capsys.readouterr().err
        for word in ("lang", "text"):
            note = f"{name}: --where compares with the word {word}, not with the field of this name; put it in quotes"
            assert said.count(note) == 1
        assert run([*call, "id != 'lang' or score in (3, \"text\", other)"]) == 0
        assert "the field of this name" not in capsys.readouterr().err
    twice = pyarrow.table([["a text"], ["b"], [1], [2]], names=["text", "lang", "x", "x"])
    pyarrow.parquet.write_table(twice, tmp_path / "in.parquet")
    assert run([*call, "lang != x"]) == 0


def test_objects_that_python_does_not_read(tmp_path, capsys):
    """Too deep ones have no fields, and long numbers are rounded."""
    deep = '{"a": ' * 1000 + "1" + "}" * 1000
    path = tmp_path / "in.jsonl"
    path.write_text(f'{{"text": "a", "n": {"9" * 5000}, "b": 1}}\n{{"text": "b", "n": {deep}}}\n')
    assert run(["filter", str(path), "--where", "n > 3 or n is null", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"] == 2


def test_the_text_is_a_field_too_and_scores_are_not_added(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    write_records(path)
    run(
        [
            "filter",
            str(path),
            "-o",
            str(out),
            "--where",
            "text=g or text='a, b'",
            "--words",
            "1..1",
            "--add-scores",
            "-q",
        ]
    )
    assert [json.loads(line) for line in (out / "in.jsonl").read_text().splitlines()] == [RECORDS[3] | {"words": 1}]


def test_csv_without_a_header_has_numbers_as_names(tmp_path, capsys):
    path = tmp_path / "in.csv"
    path.write_text("a b,3\nc d,5\n")
    call = ["filter", str(path), "--no-header", "--field", "1", "--where", '"2" > 4', "--dry-run", "--json"]
    assert run(call) == 0 and json.loads(capsys.readouterr().out)["kept"] == 1
