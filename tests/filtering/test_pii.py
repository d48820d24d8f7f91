"""--replace-pii: addresses as datatrove 0.10.1 replaces them, and records whose texts change."""

import json
import re

import pyarrow.parquet
import pytest

from wv_cli.__main__ import run
from wv_cli.filtering.pii import ADDRESSES, MAILS, replace_pii

FIRST, SECOND = MAILS
# What datatrove 0.10.1 makes of each as the first text of a process.
EXAMPLES = {
    "no address": "no address",
    "a@b.co": FIRST,
    "Mail: jane.roe+x@mail.bakery.de, or b@c.de.": f"Mail: {FIRST}, or {SECOND}.",
    "a@b.co b@c.de c@d.fr": f"{FIRST} {SECOND} {FIRST}",
    ".a@b.co": f".{FIRST}",
    "a..b@c.de": f"a..{FIRST}",
    "éinfo@site.org": "éinfo@site.org",
    "中a!b@c.de": f"中a{FIRST}",
    "a@b": "a@b",
    "a@b@c.de": f"a@{FIRST}",
    "a@[8.8.8.8]": FIRST,
    "@b.co": "@b.co",
    "a@-b.co": "a@-b.co",
    "8.8.8.8 and 10.0.0.1": f"{ADDRESSES[0]} and 10.0.0.1",
    "8.8.8.8.8": f"{ADDRESSES[0]}.8",
    "01.2.3.4 10.256.1.1": "01.2.3.4 10.256.1.1",
    "v1.2.3": "v1.2.3",
    "8.8.8.8 " * 7: "".join(f"{each} " for each in (*ADDRESSES, ADDRESSES[0])),
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_addresses_are_replaced_as_datatrove_does(text):
    assert replace_pii(text.encode()).decode() == EXAMPLES[text]


def test_a_text_without_addresses_is_the_same_object():
    for text in (b"plain", b"a @ b, 1.2", b"not \xff UTF-8 @"):
        assert replace_pii(text) is text
    assert replace_pii(b"\xff a@b.co") == b"\xff " + FIRST.encode()


def test_long_texts_without_blanks_are_passed_once():
    """Each of these would take minutes if every @ or letter were looked at with all that is before it."""
    for text in ("a-" * 200_000 + "@", "a@" * 100_000, "1.1." * 100_000, "a." * 100_000 + "@b.co"):
        assert len(replace_pii(text.encode())) > 0


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_records_with_other_texts(ending, tmp_path, capsys):
    texts = ["mail a@b.co and 8.8.8.8", "nothing", "gone a@b.co x", "a@b.co\nmail a@b.co and 8.8.8.8"]
    path, out = tmp_path / f"in.{ending}", tmp_path / "out"
    if ending == "jsonl":
        path.write_text("".join(json.dumps({"text": text, "by": "c@d.de"}) + "\n" for text in texts))
    elif ending == "csv":
        path.write_text("text,by\n" + "".join(f'"{text}",c@d.de\n' for text in texts))
    else:
        table = pyarrow.table({"text": texts, "by": ["c@d.de"] * 4})
        pyarrow.parquet.write_table(table, path)
    rules = ["--heuristic", "characters=..40", "--where", "not text = 'gone a@b.co x'"]
    assert run(["filter", str(path), "-o", str(out), "--replace-pii", *rules, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    wanted = [f"mail {FIRST} and {ADDRESSES[0]}", "nothing", f"{FIRST}\nmail {SECOND} and {ADDRESSES[0]}"]
    assert (found["kept"], found["replaced"], found["kept_bytes"]) == (3, 2, sum(map(len, wanted)))
    if ending == "jsonl":
        assert [json.loads(line)["text"] for line in (out / "in.jsonl").read_text().splitlines()] == wanted
    elif ending == "csv":
        assert (out / "in.csv").read_text().count(FIRST) == 2 and "c@d.de" in (out / "in.csv").read_text()
    else:
        assert pyarrow.parquet.read_table(out / "in.parquet")["text"].to_pylist() == wanted


def test_no_other_rule_is_needed_and_paragraphs_may_go(tmp_path, capsys):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"text": "again\na@b.co"}) + "\n" + json.dumps({"text": "again\nb@c.de\nnew"}) + "\n")
    assert run(["filter", str(path), "-o", str(tmp_path / "a"), "--replace-pii"]) == 0
    assert re.search(r"kept 2 of 2 records \(100.0%\), 2 of them with other addresses", capsys.readouterr().out)
    call = ["filter", str(path), "-o", str(tmp_path / "b"), "--replace-pii", "--exact-duplicates", "paragraph", "-q"]
    assert run(call) == 0
    texts = [json.loads(line)["text"] for line in (tmp_path / "b" / "in.jsonl").read_text().splitlines()]
    assert texts == [f"again\n{FIRST}", f"{FIRST}\nnew"]
    assert run(["filter", str(path), "--dry-run", "--replace-pii", "--words", "1.."]) == 2
