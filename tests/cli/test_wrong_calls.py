"""What the program answers to wrong command lines is what the table says that people read in review."""

import difflib

from tests.wrong_calls import TABLE, rendered


def test_answers_are_those_of_the_table() -> None:
    table = TABLE.read_text(encoding="utf-8")
    assert table.count("\n$ wv ") >= 200
    made = rendered(table)
    changed = difflib.unified_diff(table.splitlines(), made.splitlines(), "the table", "the program", lineterm="", n=1)
    assert made == table, "\n".join([*changed, "read these answers; to keep them: python -m tests.wrong_calls"])


def test_wrong_calls_fail_with_a_message_in_one_line() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    calls = [index for index, line in enumerate(lines) if line.startswith("$ wv ")]
    for index in calls:
        code, _, message = lines[index + 1].partition(": ")
        assert code in ("1", "2") and message.startswith("{" if "--json" in lines[index] else "wv"), lines[index]
        assert index + 2 == len(lines) or lines[index + 2][:1] in ("", "$"), f"{lines[index]}: more than a line"
