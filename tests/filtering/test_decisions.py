"""The keys of parts and the decisions made of them: what is damaged, missing or of another run is refused."""

from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import seeds
from wv_cli.errors import BadFile, WvError
from wv_cli.filtering.decisions import NAME, Decisions, decide
from wv_cli.filtering.duplicates import ExactDuplicates, Like
from wv_cli.filtering.known_texts import VerifiedDuplicates
from wv_cli.filtering.part_keys import KeyWriter, StoredKeys, StoredShard, keys_path, open_parts
from wv_cli.filtering.parts import Part
from wv_cli.io import container
from wv_cli.io.input import open_input

TEXTS = [b"one two three four five six seven", b"short", b"short", b"One two three four five six seven"]


def new_rules():
    return [ExactDuplicates(), VerifiedDuplicates(0.72, ["a.jsonl", "b.jsonl"])]


def write(folder, part, shards, identity=None, texts=TEXTS):
    writer = KeyWriter(folder, new_rules())
    for rule in writer.rules if texts else ():
        rule.first_seen(rule.keys(texts), np.arange(len(texts)), 0, np.arange(len(texts)) + 1)
    path = keys_path(folder, part)
    stored = [StoredShard(number, name, name, 9, "", count, count) for number, name, count in shards]
    writer.save(path, identity or {"rules": []}, stored, [rule.name for rule in writer.rules])
    return path


@pytest.fixture
def decided(tmp_path):
    write(tmp_path, Part(1, 1), [(0, "a.jsonl", 3), (1, "b.jsonl", 1)])
    totals = decide(open_parts(tmp_path), new_rules(), tmp_path, sparse=True)
    assert {name: each.rejected for name, each in totals.rules.items()} == {"exact-duplicates": 1, "near-duplicates": 1}
    assert (totals.records, totals.kept) == (4, 2)
    return tmp_path


def test_each_shard_gets_its_decisions(decided):
    exact, near = Decisions(decided).rules(["b.jsonl", "a.jsonl"])
    assert exact.keys(TEXTS) is None and (exact.has_evidence, near.has_evidence) == (False, True)
    records = np.array([1, 2, 3])
    assert exact.first_seen(None, np.arange(3), 1, records)[:2] == (pytest.approx([True, True, False]), b"")
    answer = near.first_seen(None, np.arange(1), 0, np.array([4]))
    assert not answer.first[0] and answer.like == [Like("a.jsonl", 1, 1.0)]
    assert near.first_seen(None, np.arange(2), 1, records[:2]).first.all()
    assert near.first_seen(None, np.arange(0), 1, records[:0]).first.shape == (0,)


def test_records_that_differ_from_those_of_the_keys_are_told(decided):
    exact, _ = Decisions(decided).rules(["a.jsonl", "b.jsonl"])
    with pytest.raises(
        WvError, match="expected the records of shard 1 whose keys were written, found others; write the"
    ):
        exact.first_seen(None, np.arange(2), 0, np.array([2, 4]))


def test_a_part_without_texts_has_no_arrays(tmp_path):
    write(tmp_path, Part(2, 2), [(1, "b.jsonl", 0)], texts=[])
    write(tmp_path, Part(1, 2), [(0, "a.jsonl", 4)])
    assert [part.texts for part in open_parts(tmp_path)] == [4, 0]
    assert decide(open_parts(tmp_path), new_rules(), tmp_path, sparse=True).kept == 2
    assert [*Decisions(tmp_path).shards] == ["a.jsonl", "b.jsonl"]


def test_a_shard_that_no_part_has_is_missed(tmp_path):
    write(tmp_path, Part(1, 1), [(0, "a.jsonl", 2), (2, "c.jsonl", 2)])
    with pytest.raises(
        BadFile, match=r"expected shard 1 of the run, found c\.jsonl; write the keys of all parts again"
    ):
        decide(open_parts(tmp_path), new_rules(), tmp_path, sparse=True)


def test_parts_of_other_runs_are_refused(tmp_path):
    write(tmp_path, Part(1, 2), [(0, "a.jsonl", 4)])
    write(tmp_path, Part(2, 2), [(1, "b.jsonl", 4)], {"rules": ["--words 1.."]})
    with pytest.raises(WvError, match="expected the rules of the other parts, found others"):
        open_parts(tmp_path)


def changed(path, kind, name, number, value):
    """Another number in an array, with a right check sum."""
    with open_input(str(path)) as source:
        arrays = {each: array.copy() for each, array in container.Reader(source, kind).views().items()}
    arrays[name].reshape(-1)[number] = value
    with Path(path).open("wb") as stream:
        container.write(stream, kind, {}, arrays, aligned=True)


@pytest.mark.parametrize(
    ("name", "number", "value"), [("ends", 0, 0), ("ends", 1, 2), ("ends", -1, 99), ("about", 0, 0), ("about", 3, 65)]
)
def test_keys_that_mean_something_else_are_refused(decided, name, number, value):
    path = keys_path(decided, Part(1, 1))
    changed(path, "part-keys", name, number, value)
    with pytest.raises(BadFile, match="expected the keys of a part, found damage; write it again"):
        StoredKeys(path)


def test_keys_of_other_bands_are_refused(decided):
    rules = [ExactDuplicates(), VerifiedDuplicates(0.9, ["a.jsonl", "b.jsonl"])]
    with pytest.raises(BadFile, match=r"found damage \(the keys have other bands\); write it again"):
        decide(open_parts(decided), rules, decided, sparse=True)


def test_keys_of_other_shapes_are_refused(decided):
    """One key a text without a column, and fewer keys than the other parts have."""
    path = keys_path(decided, Part(1, 1))
    with open_input(str(path)) as source:
        arrays = {name: array.copy() for name, array in container.Reader(source, "part-keys").views().items()}
    for part, keys in ((Part(1, 1), arrays["near-duplicates"][:, 0]), (Part(2, 2), arrays["near-duplicates"][:, :3])):
        with keys_path(decided, part).open("wb") as stream:
            shaped = {**arrays, "near-duplicates": np.ascontiguousarray(keys)}
            container.write(stream, "part-keys", {}, shaped, aligned=True)
    with pytest.raises(BadFile, match="expected the keys of a part, found damage; write it again"):
        StoredKeys(path)
    path.unlink()
    write(decided, Part(1, 2), [(0, "a.jsonl", 4)])
    with pytest.raises(BadFile, match=r"part-2-of-2\.keys: expected .* found damage \(other bands\); write it again"):
        decide(open_parts(decided), new_rules(), decided, sparse=True)


@pytest.mark.parametrize(("name", "number", "value"), [("starts", 0, 1), ("starts", 1, 3), ("about", 0, 0)])
def test_decisions_that_mean_something_else_are_refused(decided, name, number, value):
    changed(decided / NAME, "decisions", name, number, value)
    with pytest.raises(BadFile, match="expected decisions, found damage; decide again"):
        Decisions(decided)


def test_a_decision_of_a_file_that_is_not_named_is_refused(decided):
    changed(decided / NAME, "decisions", "of_files", 1, 7)
    _, near = Decisions(decided).rules(["a.jsonl", "b.jsonl"])
    with pytest.raises(BadFile, match="expected decisions, found damage"):
        near.first_seen(None, np.arange(1), 1, np.array([4]))


def test_the_seeds_of_the_fuzzer_are_whole(tmp_path):
    for data, name in ((seeds.saved_part_keys()[0], "part-1-of-1.keys"), (seeds.saved_decisions()[0], NAME)):
        (tmp_path / name).write_bytes(data)
    assert open_parts(tmp_path)[0].texts == 4 and len(Decisions(tmp_path).shards) == 2
