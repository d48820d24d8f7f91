"""KenLM's binary files: its own answers of all six types, what can be converted, and what is refused."""

import json
import random
import struct

import numpy as np
import pytest

from tests.conftest import run_wv
from tests.lm.golden import entries, kenlm_files
from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.lm.asking import UNKNOWN
from wv_cli.lm.files import load, load_ngrams, save
from wv_cli.lm.generating import Generator
from wv_cli.lm.scoring import Scorer

GROUPS = {
    "words.o4": [
        *("probing", "probing-p1.1", "probing-novocab", "rest-probing"),
        *("trie", "trie-a255", "trie-a4", "trie-novocab"),
    ],
    "words.o4.q8": ["trie-q8", "trie-q8-a255"],
    "words.o4.q5b3": ["trie-q5b3"],
    "words.o4.prune": ["probing", "trie"],
    "words.o2": ["probing", "probing-novocab", "trie", "trie-a255"],
    "words.o2.q8": ["trie-q8"],
    "sri": ["probing", "trie"],
    "sri.q4": ["trie-q4-a8"],
}
FILES = [(group, f"{group.partition('.q')[0]}.{name}.bin") for group, names in GROUPS.items() for name in names]
SMALL = ["sri.probing.bin", "sri.trie.bin", "sri.trie-q4-a8.bin"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return kenlm_files(tmp_path_factory.mktemp("kenlm"))


@pytest.fixture(scope="module")
def expected(folder):
    """By group: the texts, and for each of their words and ends [log10 p, length, OOV]."""
    found = {group: ([], []) for group in GROUPS}
    for line in (folder / "scores.expected.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "text" in row:
            found[row["group"]][0].append(row["text"])
            found[row["group"]][1].extend(row["words"])
    return found


def scored(model, texts, **options):
    parts = list(Scorer(model, **options).read(["".join(f"{text}\n" for text in texts).encode()]))
    return [np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "lengths", "oov", "ids")]


@pytest.mark.parametrize(("group", "name"), FILES)
def test_answers_are_kenlms(folder, expected, group, name):
    texts, words = expected[group]
    scores, lengths, oov, _ = scored(load(folder / name), texts)
    assert len(scores) == len(words) == 452
    assert np.array_equal(scores, np.array([word[0] for word in words], np.float32))
    assert lengths.tolist() == [word[1] for word in words]
    assert oov.tolist() == [word[2] for word in words]


@pytest.mark.parametrize("name", ["words.o4.rest-probing.bin", "words.o4.trie-q8-a255.bin"])
@pytest.mark.parametrize("ends", [True, False])
def test_a_text_may_be_cut_anywhere(folder, expected, name, ends):
    model = load(folder / name)
    ids = scored(model, expected["words.o4"][0])[3]
    asked = model.scorer
    whole = asked.score(ids, asked.begin(ends), ends)
    for step in (1, 7, 255, 256, 257):
        state, scores = asked.begin(ends), []
        for begin in range(0, len(ids), step):
            found, _, state = asked.score(ids[begin : begin + step], state, ends)
            scores.append(found)
        assert np.array_equal(np.concatenate(scores), whole[0])
        assert np.array_equal(state, whole[2])


@pytest.mark.parametrize("name", ["words.o4.probing.bin", "words.o4.trie.bin", "words.o2.trie-a255.bin"])
def test_fragments_and_next_words_are_those_of_the_arpa_file(folder, expected, name):
    model, arpa = load(folder / name), load(folder / f"{name[:8]}.arpa")
    texts = [text for text in expected["words.o4"][0] if "<s>" not in text and "</s>" not in text]
    for ends in (True, False):
        ours, theirs = scored(model, texts, ends=ends), scored(arpa, texts, ends=ends)
        assert ours[0] == pytest.approx(theirs[0], abs=1e-6)
        assert ours[1].tolist() == theirs[1].tolist()
        for start in ("", "the", "of the xyzzy", "the united"):
            found, other = (Generator(each, ends=ends).next_words(start, 5) for each in (model, arpa))
            assert [p for _, p in found] == pytest.approx([p for _, p in other], rel=1e-5)


@pytest.mark.parametrize("type_of", ["trie", "trie-a255", "trie-a4"])
def test_a_trie_is_printed_as_the_arpa_file_it_was_made_from(folder, tmp_path, type_of):
    save(str(tmp_path / "back.arpa"), load_ngrams(folder / f"words.o4.{type_of}.bin"))
    assert entries(load(tmp_path / "back.arpa")) == entries(load(folder / "words.o4.arpa"))


@pytest.mark.parametrize("name", ["words.o4.trie-q5b3.bin", "words.o4.prune.trie.bin", "sri.trie-q4-a8.bin"])
def test_a_converted_trie_gives_the_same_scores(folder, expected, tmp_path, name):
    save(str(tmp_path / "back.lm"), load_ngrams(folder / name))
    texts = [text for text in expected["sri"][0] if "<s>" not in text and "</s>" not in text]
    ours, theirs = scored(load(tmp_path / "back.lm"), texts), scored(load(folder / name), texts)
    known = ~theirs[2]
    assert ours[0][known] == pytest.approx(theirs[0][known], abs=1e-5)
    assert ours[1].tolist() == theirs[1].tolist()


@pytest.mark.parametrize("name", ["words.o4.probing.bin", "words.o4.rest-probing.bin"])
def test_hashed_ngrams_cannot_be_converted(folder, name):
    with pytest.raises(UsageError, match=r"probing file of KenLM, which keeps hashes .*build_binary trie"):
        load_ngrams(folder / name)


def test_a_file_without_spellings_says_where_they_are_needed(folder):
    model = load(folder / "words.o4.trie-novocab.bin")
    for needs in (lambda: model.words, model.unpack, lambda: Generator(model).next_words("the", 3)):
        with pytest.raises(UsageError, match=r"without the spellings of its words \(build_binary -v\)"):
            needs()


def test_spellings_are_those_of_the_arpa_file(folder):
    words = load(folder / "words.o4.arpa").words
    for name in ("words.o4.probing.bin", "words.o4.trie.bin"):
        model = load(folder / name)
        assert sorted(model.words) == sorted(words)
        assert model.find(model.words).tolist() == list(range(len(words)))
        assert model.words.find("<s>") == 1 and model.words.find("</s>") == 2 and model.words.find("<unk>") == UNKNOWN


def test_perplexity_of_several_files(folder, tmp_path):
    text = tmp_path / "text"
    text.write_text("the cat of the state\nof the united\n")
    names = [folder / f"words.o4.{each}" for each in ("arpa", "probing.bin", "trie-a4.bin")]
    row = TASKS["perplexity"]
    vectors = [Vectors(str(name), lambda name=name: load(name)) for name in names]
    report = row.run(vectors, [str(text)], row.config(resamples=0))
    mean = report.rows[0]["mean_log10"]
    assert [each["mean_log10"] for each in report.rows] == pytest.approx([mean] * 3, abs=1e-6)
    alone = Vectors(str(folder / "words.o4.probing-novocab.bin"), lambda: None)
    alone_row = row.run([alone], [str(text)], row.config(resamples=0)).rows[0]
    assert alone_row["mean_log10"] == pytest.approx(mean, abs=1e-6)


def test_commands(folder, tmp_path):
    result = run_wv("lm", "score", str(folder / "sri.trie.bin"), "--words", input="a b xyzzy\n")
    assert "OOV: 1" in result.stdout and result.stdout.count("=") == 4
    result = run_wv("lm", "convert", str(folder / "sri.trie.bin"), str(tmp_path / "out"), "--to", "kenlm")
    assert result.returncode == 2 and "--to kenlm: wv reads files of KenLM's build_binary" in result.stderr


def change(offset, pattern, value):
    def apply(data):
        struct.pack_into(pattern, data, offset, value)

    return apply


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda data: data.__setitem__(slice(0, 56), data[:34].ljust(56, b"i")),
            "expected a KenLM file of format version 5",
        ),
        (lambda data: data.__setitem__(slice(34, 51), b"format version 4\n"), r"version 5, found 'format version 4'"),
        (lambda data: data.__setitem__(slice(34, 45), b"incomplete\n"), "KenLM had not finished writing this file"),
        (change(56, "<f", 1.0), "a machine with other numbers"),
        (change(88, "<B", 1), "expected an order from 2 to 10, found 1"),
        (change(92, "<f", 0.5), "expected a multiplier of 1 or more, found 0.5"),
        (change(92, "<f", float("nan")), "expected a multiplier of 1 or more, found nan"),
        (change(96, "<I", 6), "expected a type from 0 to 5, found 6"),
        (change(104, "<I", 7), "of the tables, found 7"),
        (change(116, "<Q", 2**40), "the header promises .* bytes and more, found"),
        (change(108, "<Q", 2**63), "expected a vocabulary of"),
        (lambda data: data.__delitem__(slice(100, None)), "expected a header of 108 bytes"),
        (lambda data: data.__delitem__(slice(120, None)), "expected 3 numbers of n-grams"),
        (lambda data: data.__delitem__(slice(200, None)), "the header promises"),
        (lambda data: data.append(65), "expected the words behind the tables"),
    ],
)
@pytest.mark.parametrize("name", SMALL)
def test_damaged_headers_are_refused(folder, tmp_path, name, damage, message):
    data = bytearray((folder / name).read_bytes())
    damage(data)
    (tmp_path / "model.bin").write_bytes(data)
    with pytest.raises(BadFile, match=message):
        load(tmp_path / "model.bin")


def test_a_file_without_spellings_ends_with_its_tables(folder, tmp_path):
    data = (folder / "words.o2.probing-novocab.bin").read_bytes()
    for other in (data + b"\0", data[:-1]):
        (tmp_path / "model.bin").write_bytes(other)
        with pytest.raises(BadFile, match="bytes"):
            load(tmp_path / "model.bin")


def test_spellings_that_do_not_fit_are_refused(folder, tmp_path):
    data = (folder / "sri.trie.bin").read_bytes()
    for other in (data[:-2] + b"Z\0", data[:-1] + b"\0\0", data[:-6] + b"\0" * 6):
        (tmp_path / "model.bin").write_bytes(other)
        with pytest.raises(BadFile, match=r"the words do not fit|expected \d+ words"):
            _ = load(tmp_path / "model.bin").words


@pytest.mark.parametrize("name", SMALL)
def test_damage_gives_an_answer_or_a_message(folder, tmp_path, name):
    """Bytes changed anywhere: C stays inside the file."""
    whole, choice = (folder / name).read_bytes(), random.Random(1)
    path, ids = tmp_path / "model.bin", np.array([3, 4, -1, 5, 0, 3, 2, 4, -1], np.int32)
    refused = 0
    for _ in range(120):
        data = bytearray(whole)
        for _ in range(choice.choice([1, 1, 4])):
            data[choice.randrange(108, len(data))] = choice.choice([0, 1, 0x7F, 0x80, 0xFF, choice.randrange(256)])
        path.write_bytes(data)
        try:
            model = load(path)
            model.scorer.score(ids, model.scorer.begin())
            model.scorer.all(model.scorer.begin())
            if "trie" in name:
                model.unpack()
        except BadFile:
            refused += 1
    assert 0 < refused < 120
