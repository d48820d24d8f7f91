"""`wv filter --explain`: what a record that is rejected has in common with the text it is like."""

import json

import pytest

from wv_cli.__main__ import run
from wv_cli.filtering.explanation import common_part

OVEN = "Bake the bread in a hot oven for an hour, and let it cool on a rack before you"
WATER = "What is the boiling point of water at sea level?"


@pytest.mark.parametrize(
    ("text", "other", "width", "common"),
    [
        ("a b c d e f", "x a b c d", 3, "a b c d [...]"),
        ("A, b - C x y d e f", "a b c d e f", 3, "A, b C [...] d e f"),
        ("x y", "a b c", 3, "[...]"),
        ("a b", "A b.", 5, "a b"),
        ("", "a", 5, ""),
        ("on 3 may", "on 4 may", 3, "on 3 may"),
        ("天气很好 我们", "天气 很好", 3, "天气很好 [...]"),
    ],
)
def test_a_common_part_has_the_words_as_they_are_written(text, other, width, common):
    assert common_part(text.encode(), other.encode(), width) == common


def test_numbers_and_long_parts():
    assert common_part(b"on 3 may", b"on 4 may", 3, keep_numbers=True) == "[...]"
    long = " ".join(f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(300)).encode()
    shown = common_part(long, long, 5)
    assert len(shown) < 410 and shown.endswith(" [...]")


@pytest.fixture
def inputs(tmp_path):
    texts = {
        "a": ["other words", f"{OVEN} cut it."],
        "b": ["few", f"{OVEN} eat it.", WATER.upper(), f"{OVEN} cut it."],
    }
    for name, each in texts.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in each))
    (tmp_path / "bench.txt").write_text(f"no question of these words at all\n{WATER} Tell us.\n")
    return [f"{tmp_path}/a.jsonl", f"{tmp_path}/b.jsonl"]


def explained(inputs, number, capsys, *more):
    assert run(["filter", *inputs, "--explain", str(number), *more]) == 0
    return capsys.readouterr().out.splitlines()[1:]


def test_a_near_duplicate_is_shown_with_what_both_have(inputs, tmp_path, capsys):
    rules = ("--near-duplicates", "0.72", "--words", "2..")
    both = f"  both have: {OVEN} [...]"
    assert explained(inputs, 4, capsys, *rules)[1:] == [
        f"near-duplicates\t0.789474\trejects\t(like {tmp_path}/a.jsonl:2)",
        both,
    ]
    assert explained(inputs, 2, capsys, *rules)[1:] == ["near-duplicates\t-\tkeeps\t(no earlier record is like it)"]
    assert explained(inputs, 3, capsys, *rules) == [
        "words\t1\trejects\t(>= 2)",
        "near-duplicates\t-\t-\t(not asked: another rule rejects the record)",
    ]
    assert explained(inputs, 6, capsys, *rules, "--exact-duplicates", "document")[1:] == [
        "exact-duplicates\t-\trejects\t(an earlier record is equal)",
        "near-duplicates\t-\t-\t(not asked: another rule rejects the record)",
    ]
    assert explained(inputs, 6, capsys, *rules, "--no-verify")[1:] == ["near-duplicates\t-\trejects\t(equal keys)"]


def test_one_of_an_older_corpus_is_named(inputs, tmp_path, capsys):
    """Its text is not at hand."""
    call = ["filter", inputs[0], "-o", f"{tmp_path}/kept", "--near-duplicates", "0.72", "-q"]
    assert run([*call, "--save-index", f"{tmp_path}/index"]) == 0
    found = explained(inputs[1:], 2, capsys, "--near-duplicates", "0.72", "--against", f"{tmp_path}/index")
    assert found == [f"near-duplicates\t0.789474\trejects\t(like {tmp_path}/a.jsonl:2)"]


def test_a_contaminated_record_is_shown_with_its_item(inputs, tmp_path, capsys):
    rule = ("--contamination", f"{tmp_path}/bench.txt<=0.2", "--decontaminate", "paragraph")
    assert explained(inputs, 5, capsys, *rule) == [
        f"contamination\t0.6\trejects\t(<= 0.2; like {tmp_path}/bench.txt:2)",
        f"  both have: {WATER.upper()}",
    ]
    assert run(["filter", *inputs, "--explain", "5", *rule, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["explained"]["rules"]
    assert row["of"] == f"{tmp_path}/bench.txt:2" and row["in_both"] == WATER.upper() and not row["keeps"]


def test_lines_that_came_before_are_told_of(tmp_path, capsys):
    """What --explain says is what the run does: a record without some lines stays, one without any goes."""
    texts = ["one\ntwo", "One\nthree\nTWO.\nfour", "two\n\none", "five"]
    path, rules = tmp_path / "texts.jsonl", ("--exact-duplicates", "paragraph", "--words", "1..")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    said = [explained([str(path)], number, capsys, *rules)[-1] for number in range(1, 5)]
    assert said == [
        "exact-duplicates\t-\tkeeps\t(no earlier record is like it)",
        "exact-duplicates\t-\tkeeps\t(without one of its lines, which came before)",
        "exact-duplicates\t-\trejects\t(all its lines came before)",
        "exact-duplicates\t-\tkeeps\t(no earlier record is like it)",
    ]
    assert explained([str(path)], 3, capsys, "--exact-duplicates", "paragraph", "--words", "3..")[-1] == (
        "exact-duplicates\t-\t-\t(not asked: another rule rejects the record)"
    )
    assert run(["filter", str(path), "-o", f"{tmp_path}/kept", *rules, "-q"]) == 0
    kept = [json.loads(line)["text"] for line in (tmp_path / "kept" / "texts.jsonl").read_text().splitlines()]
    assert kept == ["one\ntwo", "three\nTWO.\nfour", "five"]


def test_a_record_that_stays_without_contaminated_lines_is_kept(inputs, tmp_path, capsys):
    path = tmp_path / "long.jsonl"
    path.write_text(json.dumps({"text": f"{OVEN} cut it.\n{WATER}\nBoil the rice."}) + "\n")
    rule = ("--contamination", f"{tmp_path}/bench.txt<=0.2", "--decontaminate")
    like = f"(<= 0.2; like {tmp_path}/bench.txt:2"
    kept = f"contamination\t0.6\tkeeps\t{like}; without one of its lines)"
    assert explained([str(path)], 1, capsys, *rule, "paragraph")[-2] == kept
    assert explained([str(path)], 1, capsys, *rule, "record")[-2] == f"contamination\t0.6\trejects\t{like})"
    assert run(["filter", str(path), "-o", f"{tmp_path}/kept", *rule, "paragraph", "-q"]) == 0
    text = json.loads((tmp_path / "kept" / "long.jsonl").read_text())["text"]
    assert text == f"{OVEN} cut it.\nBoil the rice."
