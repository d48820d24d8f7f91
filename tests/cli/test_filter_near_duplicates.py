"""`wv filter --near-duplicates`: texts without blanks, short ones, and numbers."""

import json

import pytest

from wv_cli.__main__ import run

CHINESE = ["天气很好我们去公园散步", "他把烤箱加热到两百度", "面包在篮子里慢慢变凉", "今天的新闻没有什么特别"]


def write(path, texts):
    lines = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def kept(tmp_path, texts, *more):
    path = write(tmp_path / "r.jsonl", texts)
    assert run(["filter", path, "-o", str(tmp_path / "kept"), "--near-duplicates", "0.72", "--overwrite", *more]) == 0
    lines = (tmp_path / "kept" / "r.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines]


def test_short_texts_and_those_without_blanks_are_told(tmp_path, capsys):
    short = [f"only {i} words" for i in range(10)]
    assert kept(tmp_path, [*short, *short[:3]]) == [*range(10)]
    said = capsys.readouterr().err
    assert "13 of the first 13 texts have fewer than 5 words, and are duplicates only where they are equal" in said
    assert kept(tmp_path, ["".join(CHINESE * 9)] * 2) == [0]
    assert "few" not in capsys.readouterr().err
    assert run(["filter", str(tmp_path / "r.jsonl"), "--dry-run", "--words", "3.."]) == 0
    said = capsys.readouterr().err
    assert "few blanks part its Chinese" in said and "fewer than 5" not in said


def test_nothing_is_told_of_other_texts(tmp_path, capsys):
    kept(tmp_path, ["the bread in the oven is done", "two", "a cup of tea on the table"])
    assert "fewer than" not in capsys.readouterr().err


def test_texts_of_which_only_the_numbers_differ(tmp_path, capsys):
    rows = [" ".join(f"{town} {(hour * i) % 24}:{i:02}" for town in ("Ulm", "Bonn", "Jena")) for i in (3, 5, 3)
            for hour in (7,)]  # fmt: skip
    assert kept(tmp_path, rows) == [0]
    assert kept(tmp_path, rows, "--keep-numbers") == [0, 1]
    index = str(tmp_path / "index")
    assert kept(tmp_path, rows, "--keep-numbers", "--save-index", index) == [0, 1]
    assert kept(tmp_path, rows, "--keep-numbers", "--against", index) == []
    capsys.readouterr()
    path = str(tmp_path / "r.jsonl")
    assert run(["filter", path, "--dry-run", "--near-duplicates", "0.72", "--against", index]) == 1
    assert f"{index}: is an index made with --keep-numbers; give it" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--words", "3..", "--keep-numbers"]])
def test_numbers_are_kept_for_near_duplicates_only(tmp_path, capsys, words):
    path = write(tmp_path / "r.jsonl", ["a b c d"])
    assert run(["filter", path, "--dry-run", *words]) == 2
    assert "--keep-numbers" in capsys.readouterr().err


TEXT = "the bread in the oven is done and a cup of tea stands on the table beside it"
WORDS = TEXT.split()


def test_rejected_records_name_the_one_that_stays(tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.jsonl", ["two words", TEXT])
    write(tmp_path / "in" / "b.jsonl", ["other words", " ".join(WORDS[:-1]), TEXT, "two words"])
    call = ["filter", str(tmp_path / "in"), "-o", str(tmp_path / "kept"), "--rejected", str(tmp_path / "gone")]
    assert run([*call, "--near-duplicates", "0.72", "-q"]) == 0
    records = [json.loads(line) for line in (tmp_path / "gone" / "b.jsonl").read_text().splitlines()]
    place = f"{tmp_path}/in/a.jsonl"
    assert [(each["id"], each["filter_of"]) for each in records] == [
        (1, f"{place}:2"),
        (2, f"{place}:2"),
        (3, f"{place}:1"),
    ]
    assert [each["filter_similarity"] for each in records] == [pytest.approx(13 / 14), 1, 1]
    again = ["filter", str(tmp_path / "gone"), "-o", str(tmp_path / "k"), "--rejected", str(tmp_path / "g")]
    assert run([*again, "--near-duplicates", "0.72", "-q", "--reason", "second"]) == 0
    assert '"second_of"' in (tmp_path / "g" / "b.jsonl").read_text()


def test_only_what_is_similar_enough_goes(tmp_path):
    """The second shares a key with the first with certainty where it has one word more; nothing below S is removed."""
    texts = [TEXT, " ".join(["butter", *WORDS]), " ".join(WORDS[:10] + ["jam"] * 7)]
    assert kept(tmp_path, texts) == [0, 2]
    path = str(tmp_path / "r.jsonl")
    assert run(["filter", path, "-o", str(tmp_path / "kept"), "--near-duplicates", "0.95", "--overwrite"]) == 0
    assert len((tmp_path / "kept" / "r.jsonl").read_text().splitlines()) == 3


def test_clusters_are_the_ones_that_stay_with_what_is_like_them(tmp_path):
    path = write(tmp_path / "r.jsonl", ["x", TEXT, "y", " ".join(["butter", *WORDS]), TEXT, "x"])
    call = ["filter", path, "--dry-run", "--near-duplicates", "0.72", "--clusters", str(tmp_path / "c"), "-q"]
    assert run(call) == 0
    rows = [line.split("\t") for line in (tmp_path / "c").read_text().splitlines()]
    assert rows[0] == ["file", "record", "cluster", "size", "similarity"]
    assert rows[1:] == [
        [path, "1", "1", "2", "1"],
        [path, "2", "2", "3", "1"],
        [path, "4", "2", "3", "0.9333"],
        [path, "5", "2", "3", "1"],
        [path, "6", "1", "2", "1"],
    ]


@pytest.mark.parametrize("more", [[], ["--no-verify"]])
def test_several_indexes_are_asked(tmp_path, more):
    """And an index that is saved knows what those knew that it was made against."""
    for name, text in (("a", "one two three four five six"), ("b", TEXT)):
        path = write(tmp_path / f"{name}.jsonl", [text])
        call = ["filter", path, "-o", str(tmp_path / "out"), "--near-duplicates", "0.72", "-q", *more]
        assert run([*call, "--save-index", str(tmp_path / f"{name}.index")]) == 0
    indexes = [word for name in "ab" for word in ("--against", str(tmp_path / f"{name}.index"))]
    texts = ["one two three four five six", TEXT, "seven eight nine ten eleven twelve"]
    assert kept(tmp_path, texts, *more, *indexes, "--save-index", str(tmp_path / "all")) == [2]
    assert kept(tmp_path, texts, *more, "--against", str(tmp_path / "all"), "--overwrite") == []


def test_threads_change_nothing(tmp_path):
    texts = [" ".join(WORDS[i % 3 :] + [f"w{i // 4}"] * 3) for i in range(400)]
    path = write(tmp_path / "r.jsonl", texts)
    for threads in ("1", "3"):
        call = ["filter", path, "-o", str(tmp_path / threads), "--rejected", str(tmp_path / f"r{threads}")]
        assert run([*call, "--near-duplicates", "0.6", "--threads", threads, "-q"]) == 0
    for one, three in (("1", "3"), ("r1", "r3")):
        assert (tmp_path / one / "r.jsonl").read_bytes() == (tmp_path / three / "r.jsonl").read_bytes()
    assert 10 < len((tmp_path / "r1" / "r.jsonl").read_text().splitlines()) < 400
