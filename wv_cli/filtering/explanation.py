"""What each rule says of one record, and what a record that is rejected has in common with the text it is like."""

from collections.abc import Sequence
from typing import Any

from wv_cli.errors import UsageError
from wv_cli.filtering.contamination import RUN, Contamination
from wv_cli.filtering.cutting import open_cutter
from wv_cli.filtering.duplicates import FIRST, Deduplicator, Like
from wv_cli.filtering.judge import Judge, Judged
from wv_cli.filtering.near_duplicates import SHINGLE, simplify
from wv_cli.text.raw_files import is_file
from wv_cli.text.record_files import RecordFiles
from wv_cli.text.records.field_values import read_fields

_LONGEST = 400  # letters of a common part
_GAP = "[...]"


def explain(
    source: RecordFiles,
    judge: Judge,
    number: int,
    duplicates: Sequence[Deduplicator] = (),
    *,
    tokenize: str | None = None,
    keep_numbers: bool = False,
) -> dict[str, Any]:
    """Of one record: its text, and for each rule its score, range, and whether it keeps it (None: it is not asked). For
    rules of `duplicates`, and for that of paragraphs, all records before are judged. Raises UsageError when there are
    not so many."""
    before, first = 0, judge.with_duplicates(duplicates)
    for shard, path in enumerate(source.paths):
        in_file = 0
        for block in source.blocks(path, ()):
            texts, at = block.each, number - before - 1
            fields = read_fields(block, judge.fields, source.field, path)
            if first.duplicate_rules:
                found = first.score_batch(texts, fields)
                first.reject_duplicates(found, shard, in_file)
            if at < block.count:
                text, own = texts[at], {name: [values[at]] for name, values in fields.items()}
                rows = _explain_rules(judge, text, own)
                for which, rule in enumerate(first.duplicate_rules, len(judge.rules)):
                    rejected_by, like = int(found.reason[at]), found.like.get(at)
                    row: dict[str, Any] = {"rule": rule.name, "score": None, "range": FIRST}
                    row["keeps"] = rejected_by != which
                    if 0 <= rejected_by < which:
                        row |= {"range": "not asked: another rule rejects the record", "keeps": None}
                    elif rule is judge.paragraphs:
                        row["range"] = _paragraphs(found, at)
                    elif rejected_by == which:
                        row["range"] = "an earlier record is equal" if rule.name != "near-duplicates" else "equal keys"
                        if like is not None:
                            other = _read_text(source, like)
                            row |= _evidence(text, like, other, SHINGLE, tokenize=tokenize, keep_numbers=keep_numbers)
                    rows.append(row)
                return {"record": number, "file": path, "text": text[:200].decode("utf-8", "replace"), "rules": rows}
            before, in_file = before + block.count, in_file + block.count
    raise UsageError(f"--explain {number}: the inputs have {before:,} records")


def _explain_rules(judge: Judge, text: bytes, fields: dict[str, list[Any]]) -> list[dict[str, Any]]:
    found = judge.score_batch([text], fields, every=True)
    rows, left = [], text
    for rule in judge.rules:
        scores = found.scores[rule.name]
        row = {"rule": rule.name, "score": float(scores[0]), "range": rule.bounds_text}
        row["keeps"] = bool(rule.accepts(scores)[0])
        scorer = judge.scorer(rule.name)
        if isinstance(scorer, Contamination) and not row["keeps"]:
            (like,) = scorer.like([text])
            row |= _evidence(text, like, scorer.items[like.record - 1], RUN, keep_numbers=True)
            row["range"] = f"{rule.bounds_text}; {row['range']}"
            cleaned = scorer.without_items(left, rule.accepts) if judge.cleans else None
            if cleaned is not None:
                row |= {"keeps": True, "range": f"{row['range']}; without {_lines_between(left, cleaned)}"}
                left = cleaned
        rows.append(row)
    return rows


def _paragraphs(judged: Judged, at: int) -> str:
    """What --exact-duplicates paragraph does with this one of the documents, which the other rules keep."""
    assert judged.paragraphs is not None
    if judged.reason[at] >= 0:
        return "all its lines came before"
    before = judged.paragraphs[0][judged.alive.tolist().index(at)]
    after = judged.shortened.get(at, before)
    return f"without {_lines_between(before, after)}, which came before" if after != before else FIRST


def _lines_between(before: bytes, after: bytes) -> str:
    """How many lines a text has lost."""
    count = before.count(b"\n") - after.count(b"\n")
    return f"{count} of its lines" if count > 1 else "one of its lines"


def _evidence(
    text: bytes, like: Like, other: bytes | None, width: int, *, tokenize: str | None = None, keep_numbers: bool
) -> dict[str, Any]:
    """What a text is like, how similar the two are, and what both have."""
    place = f"{like.file}:{like.record}"
    found: dict[str, Any] = {"score": like.similarity, "range": f"like {place}", "of": place}
    if other is not None:
        cut, separate = open_cutter(tokenize), tokenize is None
        text, other = cut([text, other]) if cut is not None else (text, other)
        found["in_both"] = common_part(text, other, width, keep_numbers=keep_numbers, separate=separate)
    return found


def common_part(text: bytes, other: bytes, width: int, *, keep_numbers: bool = False, separate: bool = True) -> str:
    """The words of the text, as it writes them, in runs of `width` that the `other` text has, too."""
    written = text.decode("utf-8", "replace").split()
    simple = [simplify(word, keep_numbers=keep_numbers, separate=separate).split() for word in written]
    words = [(word, place) for place, each in enumerate(simple) for word in each]
    others = simplify(other.decode("utf-8", "replace"), keep_numbers=keep_numbers, separate=separate).split()
    width = max(1, min(width, len(words), len(others)))
    runs = {tuple(others[at : at + width]) for at in range(len(others) - width + 1)}
    common = set[int]()
    for at in range(len(words) - width + 1):
        some = words[at : at + width]
        if tuple(word for word, _ in some) in runs:
            common |= {place for _, place in some}
    pieces: list[str] = []
    for place, word in enumerate(written):
        if place in common:
            pieces.append(word)
        elif simple[place] and pieces[-1:] != [_GAP]:
            pieces.append(_GAP)
    shown = " ".join(pieces)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]} {_GAP}"


def _read_text(source: RecordFiles, like: Like) -> bytes | None:
    """The text that another one is like, where its file is among those that are read, and can be read again."""
    if like.file not in source.paths or not is_file(like.file):
        return None
    before = 0
    for block in source.blocks(like.file, ()):
        if like.record <= before + block.count:
            return block.each[like.record - before - 1]
        before += block.count
    return None
