"""What the rules of a filter say of one record, for --explain."""

from typing import Any

from wv_cli.errors import UsageError
from wv_cli.filtering.rules import Judge
from wv_cli.text.records.field_values import read_fields
from wv_cli.text.source import Source


def explain_record(source: Source, judge: Judge, number: int) -> dict[str, Any]:
    """What each rule says of one record. Raises UsageError when there are not so many."""
    before = 0
    for path in source.paths:
        for block in source.blocks(path, ()):
            if number <= before + block.count:
                text = block.each[number - before - 1]
                fields = read_fields(block, judge.fields, source.field, path)
                own = {name: [values[number - before - 1]] for name, values in fields.items()}
                found = judge.score_batch([text], own)
                rules = [
                    {
                        "rule": rule.name,
                        "score": float(found.scores[rule.name][0]),
                        "range": rule.bounds_text,
                        "keeps": bool(rule.accepts(found.scores[rule.name])[0]),
                    }
                    for rule in judge.rules
                ]
                return {"record": number, "file": path, "text": text[:200].decode("utf-8", "replace"), "rules": rules}
            before += block.count
    raise UsageError(f"--explain {number}: the inputs have {before:,} records")
