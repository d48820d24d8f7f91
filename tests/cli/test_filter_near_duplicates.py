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


def test_texts_without_blanks_are_told(tmp_path, capsys):
    texts = ["".join(CHINESE[(i * j) % 4] for j in range(1, 12)) + str(i) for i in range(10)]
    assert kept(tmp_path, [*texts, *texts[:3]]) == [*range(10)]
    said = capsys.readouterr().err
    assert "r.jsonl: few blanks part its Chinese, so that whole sentences are words" in said
    assert "13 of the first 13 texts have fewer than 5 words, and are duplicates only where they are equal" in said
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
