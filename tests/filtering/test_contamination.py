"""Contamination: the share of an item's runs of words that a text holds."""

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wv_cli
from wv_cli.__main__ import run
from wv_cli.errors import BadFile, UsageError
from wv_cli.filtering.contamination import RUN, SHORTEST, Contamination, read_items
from wv_cli.filtering.near_duplicates import simplify


def words_of(number, count):
    chosen = random.Random(number)
    return [f"{chosen.choice('bcdfgklmnprst')}{chosen.choice('aeiou')}{chosen.randrange(99)}" for _ in range(count)]


def runs(words, width):
    return {tuple(words[at : at + width]) for at in range(len(words) - width + 1)}


def share_of(item, text):
    """By the definition."""
    words = simplify(item, keep_numbers=True).split()
    if len(words) < SHORTEST:
        return 0
    width = min(RUN, len(words))
    own = runs(words, width)
    return len(own & runs(simplify(text, keep_numbers=True).split(), width)) / len(own)


_TEXT = st.lists(st.sampled_from("ab"), max_size=14).map(" ".join)


@given(st.lists(_TEXT, min_size=1, max_size=8), st.lists(_TEXT, max_size=5))
def test_shares_are_those_of_the_definition(items, texts):
    """Of two letters: runs repeat within an item, and are those of many items."""
    items = [*items, "one long enough to be looked for here"]
    found = Contamination("bench", [item.encode() for item in items])
    shares, best = found.shares([text.encode() for text in texts])
    expected = [[share_of(item, text) for item in items] for text in texts]
    assert shares.tolist() == [max(row) for row in expected]
    assert best.tolist() == [row.index(max(row)) for row in expected]
    like = found.like([text.encode() for text in texts])
    assert [each.file for each in like] == ["bench"] * len(texts)
    assert [(each.record - 1, each.similarity) for each in like] == [*zip(best.tolist(), shares.tolist(), strict=True)]


def test_what_is_written_otherwise_is_found_whole():
    item = " ".join(words_of(1, 40))
    rule = Contamination("b", [item.encode()])
    wrapped = "\n".join(" ".join(item.split()[at : at + 8]) for at in range(0, 40, 8))
    punctuated = ", ".join(item.split()) + "!"
    around = f"Before it. {item} After it."
    texts = [item, wrapped, item.upper(), punctuated, around, item.replace("a", "\u00e1")]
    assert rule([text.encode() for text in texts]).tolist() == [1] * 6
    assert rule([" ".join(words_of(2, 400)).encode()]).tolist() == [0]


def test_an_item_with_changed_words_is_found_in_part():
    """One word in twenty: two thirds of the runs on average."""
    chosen, shares = random.Random(3), []
    for number in range(60):
        words = words_of(number, 60)
        rule = Contamination("b", [" ".join(words).encode()])
        changed = [f"other{i}" if chosen.random() < 0.05 else word for i, word in enumerate(words)]
        shares.append(float(rule([" ".join(changed).encode()])[0]))
    assert np.mean(shares) == pytest.approx(0.95**8, abs=0.06)


def test_short_items_are_one_run_and_shorter_ones_none():
    rule = Contamination("b", [b"who wrote moby dick", b"who wrote the novel moby dick", b"is it late now then"])
    texts = [
        b"who wrote moby dick",
        b"Who wrote the novel Moby-Dick?",
        b"who wrote the novel moby",
        b"is it late now then",
    ]
    assert rule(texts).tolist() == [0, 1, 0, 1]
    with pytest.raises(BadFile, match="expected items of 5 words and more, found none among 2"):
        Contamination("b", [b"", b"one two three four"])


def test_letters_are_words_in_scripts_without_blanks():
    rule = Contamination("b", ["天气很好我们去公园散步".encode()])
    texts = ["今天天气很好，我们去公园散步。", "他把烤箱加热到两百度，然后去公园"]
    assert rule([text.encode() for text in texts]).tolist() == [1, 0]


def test_numbers_count():
    rule = Contamination("b", [b"what is 12 plus 30 in the decimal system"])
    texts = [b"what is 12 plus 30 in the decimal system", b"what is 13 plus 31 in the decimal system"]
    assert rule(texts).tolist() == [1, 0]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "txt"])
def test_items_of_any_file(tmp_path, ending):
    texts = ["what is the highest mountain of all", "who was the first to reach it"]
    file = tmp_path / f"items.{ending}"
    written = {
        "jsonl": "".join(json.dumps({"id": 1, "question": text}) + "\n" for text in texts),
        "csv": "id,question\n" + "".join(f"1,{text}\n" for text in texts),
        "txt": "\n".join(texts),
    }
    file.write_text(written[ending])
    assert read_items(str(file), "" if ending == "txt" else "question") == [text.encode() for text in texts]


def test_a_corpus_is_decontaminated(tmp_path, capsys):
    (tmp_path / "bench.jsonl").write_text('{"question": "What is the boiling point of water at sea level?"}\n')
    texts = ["They asked: what is the boiling point\nof water at sea level?", "Nothing of the kind stands here at all."]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    call = ["filter", f"{tmp_path}/r.jsonl", "-o", f"{tmp_path}/kept", "--rejected", f"{tmp_path}/gone", "-q"]
    assert run([*call, "--contamination", f"{tmp_path}/bench.jsonl:question<=0.5"]) == 0
    (gone,) = map(json.loads, (tmp_path / "gone" / "r.jsonl").read_text().splitlines())
    assert gone["filter_of"] == f"{tmp_path}/bench.jsonl:1" and gone["filter_similarity"] == 1
    capsys.readouterr()
    for rule, code, problem in [
        ("bench.jsonl:question<=1", 2, "rejects no record; give other bounds, or --add-scores"),
        ("bench.jsonl<=0.5", 1, "expected the field text with texts, found none; write FILE:FIELD<=SHARE"),
        ("bench.jsonl:question<-1", 2, "keeps no record; scores are 0 to 1"),
        ("none.jsonl:question<=0.5", 1, "no such file"),
        ("bench.jsonl", 2, "expected a rule such as questions.jsonl:question<=0.5"),
    ]:
        assert run([*call, "--overwrite", "--contamination", f"{tmp_path}/{rule}"]) == code, rule
        assert problem in capsys.readouterr().err


_LINES = st.lists(st.lists(st.sampled_from("ab\u00e4"), max_size=9).map(" ".join), max_size=6).map("\n".join)


@given(st.lists(_TEXT, min_size=1, max_size=5), _LINES, st.sampled_from([0, 0.3, 0.6]))
def test_lines_go_that_hold_a_run_of_an_item_above_the_share(items, text, bound):
    """By the definition: runs of words wherever lines end; the rest holds no such item, or nothing is left."""
    items = [*items, "one long enough to be looked for here"]
    rule = Contamination("bench", [item.encode() for item in items])
    lines = text.split("\n")
    words = [(word, number) for number, line in enumerate(lines) for word in simplify(line, keep_numbers=True).split()]
    gone = set()
    for item in items:
        own = simplify(item, keep_numbers=True).split()
        if share_of(item, text) <= bound:
            continue
        width = min(RUN, len(own))
        for at in range(len(words) - width + 1):
            run_of_text = words[at : at + width]
            if tuple(word for word, _ in run_of_text) in runs(own, width):
                gone |= {number for _, number in run_of_text}
    left = "\n".join(line for number, line in enumerate(lines) if number not in gone)
    expected = left if simplify(left).split() and all(share_of(item, left) <= bound for item in items) else None
    found = rule.without_items(text.encode(), lambda shares: shares <= np.float32(bound))
    assert (found and found.decode()) == expected


def lines_kept(tmp_path, *more, name="r.jsonl"):
    call = ["filter", f"{tmp_path}/{name}", "-o", f"{tmp_path}/kept", "--rejected", f"{tmp_path}/gone", "--overwrite"]
    assert run([*call, "-q", "--decontaminate", "paragraph", *more]) == 0
    return [
        [json.loads(line) for line in (tmp_path / folder / name).read_text().splitlines()]
        for folder in ("kept", "gone")
    ]


def test_only_paragraphs_go(tmp_path, capsys):
    water, moby = "What is the boiling point of water at sea level?", "Who wrote the novel Moby Dick?"
    (tmp_path / "bench.jsonl").write_text(json.dumps({"question": water}) + "\n")
    (tmp_path / "more.txt").write_text(moby + "\n")
    wrapped = "Before it.\nQUIZ: what is the\nBOILING point of water at\nsea level? Then\nafter it. Write to a@b.org"
    texts = [wrapped, water, f"{moby}\n{water}", "Nothing of\nthe kind.", f"a line\n{moby}\n{water}\nAfter it."]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    rules = ["--contamination", f"{tmp_path}/bench.jsonl:question<=0.5"]
    kept, gone = lines_kept(tmp_path, *rules)
    after = "Before it.\nafter it. Write to a@b.org"
    assert [each["text"] for each in kept] == [after, moby, texts[3], f"a line\n{moby}\nAfter it."]
    assert [each["text"] for each in gone] == [water] and gone[0]["filter_of"] == f"{tmp_path}/bench.jsonl:1"
    rules += ["--contamination", f"moby={tmp_path}/more.txt<=0.5"]
    kept, gone = lines_kept(tmp_path, *rules, "--replace-pii")
    assert [each["text"] for each in kept] == [
        "Before it.\nafter it. Write to email@example.com",
        texts[3],
        "a line\nAfter it.",
    ]
    assert [each["filter"] for each in gone] == ["contamination", "moby"]
    assert json.loads((tmp_path / "kept" / "_filter.report").read_text())["totals"]["shortened"] == 2
    kept, _ = lines_kept(tmp_path, *rules, "--exact-duplicates", "paragraph")
    assert [each["text"] for each in kept] == [after, texts[3], "a line\nAfter it."]
    capsys.readouterr()
    assert run(["filter", f"{tmp_path}/r.jsonl", "--dry-run", *rules, "--decontaminate", "paragraph"]) == 0
    assert "kept 3 of 5 records (60.0%), 2 of them without some paragraphs" in capsys.readouterr().out
    assert run(["filter", f"{tmp_path}/r.jsonl", "--dry-run", "--words", "1..", "--decontaminate", "paragraph"]) == 2
    assert "--decontaminate needs --contamination" in capsys.readouterr().err
    with pytest.raises(UsageError, match="decontaminate removes lines of a text, and a Filter keeps texts as they are"):
        wv_cli.Filter({"contamination": f"{tmp_path}/more.txt<=0.5", "decontaminate": "paragraph"})


def test_duplicates_see_what_is_left_and_a_shortened_one_that_goes_is_not_counted(tmp_path):
    (tmp_path / "bench.txt").write_text("what is the boiling point of water at sea level\n")
    text = " ".join(words_of(1, 60))
    texts = [text, f"{text}\nWhat is the boiling point of water at sea level?", "other words stand here\n" + text]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps({"text": each}) + "\n" for each in texts))
    rules = ["--contamination", f"{tmp_path}/bench.txt<=0.5", "--exact-duplicates", "document"]
    kept, gone = lines_kept(tmp_path, *rules)
    assert [each["text"] for each in kept] == [texts[0], texts[2]]
    assert [each["filter"] for each in gone] == ["exact-duplicates"]
    assert json.loads((tmp_path / "kept" / "_filter.report").read_text())["totals"]["shortened"] == 0


def test_a_filter_of_batches_knows_it(tmp_path):
    (tmp_path / "bench.txt").write_text("what is the boiling point of water at sea level\n")
    judge = wv_cli.Filter(contamination=f"{tmp_path}/bench.txt<=0.5")
    verdict = judge(["What is the boiling point of water at sea level?", "no"])
    assert verdict.keep.tolist() == [False, True] and verdict.scores["contamination"].tolist() == [1, 0]
