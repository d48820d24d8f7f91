"""Search in files: chunks, tokens, ranks like those of `wv eval search`, indexes brought up to date, and bad input."""

import gzip
import io
import itertools
import json
import os
import random
import shlex
import shutil
import sys
from collections import Counter

import numpy as np
import pytest

import wv_cli.retrieval.build
import wv_cli.retrieval.query
from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.cli.answers import run_searches
from wv_cli.errors import BadFile, WvError
from wv_cli.io.folders import find_folder
from wv_cli.retrieval.bm25 import Bm25, Counts
from wv_cli.retrieval.build import build
from wv_cli.retrieval.chunks import cut
from wv_cli.retrieval.config import FusionConfig, TextConfig
from wv_cli.retrieval.files import find_files
from wv_cli.retrieval.model import Model, model_digest, nearest, to_int8
from wv_cli.retrieval.query import Searcher, open_searcher
from wv_cli.text.search_tokens import TokenReader
from wv_cli.vectors.stored_index import LONGEST_CHUNK, open_search_index

MODEL = str(GOLDEN / "own" / "vectors.vec")
WORDS = [f"word{i}" for i in range(40)]


def quiet(message):
    pass


def cut_at(text, size, **settings):
    """The chunks of a text that comes in blocks of `size` bytes."""
    blocks = (text[i : i + size] for i in range(0, len(text), size))
    return [(chunk.line, chunk.text) for chunk in cut(blocks, TextConfig(**settings))]


def searcher(path, model=None, weight=0.5, given=(), **settings):
    return open_searcher(
        str(path), model, FusionConfig(vector_weight=weight), TextConfig(**settings), given, threads=1, log=quiet
    )


def index_of(folder, old=None, model=None, log=quiet, **settings):
    return build(find_files([str(folder)], log), TextConfig(**settings), log=log, model=model, old=old)


@pytest.fixture
def texts(tmp_path):
    """200 texts of 40 words, in a folder."""
    random = np.random.default_rng(1)
    folder = tmp_path / "texts"
    folder.mkdir()
    for i in range(200):
        (folder / f"{i:03}.txt").write_text(" ".join(random.choice(WORDS, random.integers(3, 30))))
    return folder


def test_chunks():
    text = b"one two\r\n  three\n\n \nfour\n\nfive six seven eight\nnine"
    for size in (1, 7, 1000):
        assert cut_at(text, size) == [(1, b"one two\n  three"), (5, b"four"), (7, b"five six seven eight\nnine")]
        assert cut_at(text, size, chunks="line") == [
            (1, b"one two"), (2, b"  three"), (5, b"four"), (7, b"five six seven eight"), (8, b"nine"),
        ]  # fmt: skip
        assert cut_at(text, size, words=3) == [
            (1, b"one two\n  three"), (5, b"four"), (7, b"five six seven"), (7, b"eight\nnine"),
        ]  # fmt: skip
        assert cut_at(text, size, chunks="words", words=3) == [
            (1, b"one two\n  three"), (5, b"four"), (7, b"five six seven"), (7, b"eight\nnine"),
        ]  # fmt: skip
    assert cut_at(b"", 9) == cut_at(b"\n \n", 9) == []


def test_a_line_of_any_length_comes_in_pieces():
    line = b"word " * 100_000
    for chunks in ("paragraph", "line", "words"):
        found = cut_at(b"first\n" + line + b"\nlast", 1 << 16, chunks=chunks, words=10_000)
        assert max(len(text) for _, text in found) <= LONGEST_CHUNK
        assert sum(text.count(b"word") for _, text in found) == 100_000
        assert [found[0][0], found[-1][0]] == ([1, 3] if chunks == "line" else [1, 2])
    assert len(cut_at(b"x" * (5 * LONGEST_CHUNK), 1 << 16)) == 5


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("getUserId", "getuserid get user id"),
        ("HTTPServer_port2", "httpserver_port2 http server port2"),
        ("retry_on_timeout", "retry_on_timeout retri timeout"),
        ("The plain Words, __init__ and A_b", "plain word __init__ a_b"),
        ("iPhone NASA v2", "iphon phone nasa v2"),
        ("größe_straße", "grösse_strass grösse strass"),
    ],
)
def test_tokens(text, tokens):
    assert TokenReader("english", "drop", "split").tokens(text) == tokens.split()
    whole = TokenReader("english", "drop")
    assert whole.tokens(text) == whole.tokens(text.lower())


def test_answers_are_those_of_bm25_in_memory(texts, tmp_path):
    index, _ = index_of(texts)
    index.save(tmp_path / "index")
    stored = open_search_index(tmp_path / "index", checked=True)
    assert stored is not None
    stored.require_whole()
    reader = TokenReader("english", "drop", "split")
    bm25 = Bm25.build(Counts.count(reader.tokens(path.read_text()) for path in sorted(texts.iterdir())))
    for each in (index, stored):
        found = Searcher.from_index(each, None, 0.5, "x")
        for query in ("word1 word7 word1", "word3", "word5 unknown", "unknown"):
            rows, scores = bm25.top(reader.tokens(query), 20)
            answers = found.answers(query, 20)
            assert [int(answer.file[-7:-4]) for answer in answers] == rows.tolist()
            assert [answer.score for answer in answers] == pytest.approx(scores.tolist(), rel=1e-14)


def test_vectors_are_the_models_and_their_scores_are_summed(tmp_path):
    model = Model(MODEL)
    words = ["the", "of", "and", "in", "to", "zero", "one", "two"]
    folder = tmp_path / "texts"
    folder.mkdir()
    for i, pair in enumerate(itertools.combinations(words, 2)):
        (folder / f"{i:02}").write_text(" ".join(pair))
    (folder / "none").write_text("qqqqqq")
    index, _ = index_of(folder, model=model, stop_words="keep")
    assert index.model_digest == model.digest == model_digest(MODEL) and index.arrays["norms"][-1] == 0
    index.save(tmp_path / "index")
    exact = model.encode([path.read_text() for path in sorted(folder.iterdir())])
    query = model.encode(["one of"])[0]
    truth = exact[:-1] @ query / np.linalg.norm(exact[:-1], axis=1) / np.linalg.norm(query)
    rows, norms = to_int8(exact)
    (hits,), (found,) = nearest(rows, norms, query[None], 99)
    count = len(truth)
    assert abs(found[:count] - truth[hits[:count]]).max() < 0.01 and (hits[count:] == -1).all()
    near = searcher(tmp_path / "index", weight=1.0).answers("one of", 99)
    assert [answer.score for answer in near] == sorted(found[:count].tolist(), reverse=True)
    both = searcher(tmp_path / "index", weight=0.3).answers("one of", 99)
    by_words = searcher(tmp_path / "index", weight=0.0).answers("one of", 99)
    gains = Counter()
    for answers, weight in ((by_words, 0.7), (near, 0.3)):
        scores = np.array([answer.score for answer in answers] + [0.0] * (100 - len(answers)))
        for answer in answers:
            gains[answer.file] += weight * (answer.score - scores.min()) / scores.std()
    assert {answer.file: answer.score for answer in both} == pytest.approx(gains, rel=1e-6)
    assert len(both) == len(near) and [a.score for a in both] == sorted((a.score for a in both), reverse=True)
    assert searcher(tmp_path / "index").answers("qqqqqq", 9)[0].file.endswith("none")  # which has no vector
    in_memory = searcher(folder, MODEL, stop_words="keep")
    assert in_memory.answers("one of", 5) == searcher(tmp_path / "index").answers("one of", 5)


@pytest.mark.parametrize("weight", [0.2, 0.5, 1])
def test_a_larger_k_begins_with_the_answers_of_a_smaller_one(weight, tmp_path, monkeypatch):
    """Also where more answers are wanted than are fused: here 100 of each list. Every third text has no vector."""
    monkeypatch.setattr(wv_cli.retrieval.query, "_DEPTH", 100)
    random, words = np.random.default_rng(2), ["the", "of", "and", "in", "to", "a", "one", "is"]
    texts = [" ".join([*random.choice(words if i % 3 else ["zz"], 4), *["zz"] * (i % 4)]) for i in range(450)]
    (tmp_path / "c.txt").write_text("\n\n".join(texts))
    found = searcher(tmp_path / "c.txt", MODEL, weight, stop_words="keep")
    every = [(answer.first_line, answer.score) for answer in found.answers("the one zz", 500)]
    assert len({line for line, _ in every}) == len(every) == (300 if weight == 1 else 450)
    assert [score for _, score in every] == sorted((score for _, score in every), reverse=True)
    for k in (1, 10, 99, 100, 101, 150, 170, 200, 250, 299, 301, 400, 449):
        assert [(each.first_line, each.score) for each in found.answers("the one zz", k)] == every[:k]


def test_an_index_is_brought_up_to_date(texts, tmp_path, monkeypatch):
    monkeypatch.setattr(wv_cli.retrieval.build, "_BLOCK", 300)  # entries of the inverted index at once
    old, counts = index_of(texts, model=Model(MODEL), stop_words="keep")
    assert counts == {"kept": 0, "gone": 0, "skipped": 0}
    (texts / "007.txt").write_text("the of word3\n\nnew words")
    (texts / "100.txt").unlink()
    (texts / "a.txt").write_text("one two three")
    encoded = []
    encode = Model.encode
    monkeypatch.setattr(Model, "encode", lambda self, some: encoded.extend(some) or encode(self, some))
    new, counts = index_of(texts, old, model=Model(MODEL), stop_words="keep")
    assert (counts["kept"], counts["gone"]) == (198, 1) and encoded == ["the of word3", "new words", "one two three"]
    monkeypatch.undo()
    anew, _ = index_of(texts, model=Model(MODEL), stop_words="keep")
    for name, array in anew.arrays.items():
        assert np.array_equal(new.arrays[name], array), name
    assert (new.total, new.settings) == (anew.total, anew.settings)


def test_a_file_that_is_left_out_leaves_no_word(tmp_path):
    (tmp_path / "good").write_text("one two\n")
    (tmp_path / "half.gz").write_bytes(gzip.compress(os.urandom(400_000).hex().encode())[:300_000])
    index, counts = index_of(tmp_path)
    assert counts["skipped"] == 1 and [index.word(i) for i in range(len(index.arrays["word_at"]) - 1)] == [
        b"one",
        b"two",
    ]


def test_what_is_no_text_is_left_out(tmp_path, wv):
    folder = tmp_path / "docs"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "deeper" / "a.txt").write_text("needle in a file\n")
    (folder / "packed.txt.gz").write_bytes(gzip.compress(b"packed needle\n"))
    (folder / "binary").write_bytes(bytes(range(256)) * 9)
    (folder / "cut.gz").write_bytes(gzip.compress(b"needle" * 999)[:30])
    (folder / "empty").touch()
    (folder / ".hidden").write_text("needle")
    (folder / "latin").write_bytes(b"needle caf\xe9 \x1b[31m\n")
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / "self").symlink_to("self")
    (folder / "broken").symlink_to("nowhere")
    (folder / "new\nline").write_text("needle")
    os.mkfifo(folder / "pipe")
    os.chdir(tmp_path)
    for read in (1, 0):  # the index itself, in the folder, is no text
        done = wv("search", "index", "docs", "-o", "docs/my.index")
        assert done.returncode == 0, done.stderr
        assert "4 chunks of 5 files" in done.stderr and "2 files left out" in done.stderr
        assert "docs/cut.gz" in done.stderr and done.stderr.count("\n") == 3 + read
        assert done.stderr.count("docs/latin: byte 10: 0xe9 is no UTF-8") == read
        assert "1 file that is no text is left out, docs/binary: binary data (NUL bytes)\n" in done.stderr
    found = wv("search", "docs/my.index", "needle", "--json").stdout
    assert {json.loads(line)["file"] for line in found.splitlines()} == {
        "docs/deep/deeper/a.txt", "docs/packed.txt.gz", "docs/latin", "docs/new\nline",
    }  # fmt: skip
    assert wv("search", "docs", "needle", "--json").stdout == found
    assert wv("check", "docs/my.index").returncode == 0


@pytest.mark.parametrize(("plain", "colored"), [(False, True), (True, False)])
def test_colors_on_a_terminal_only_and_no_orders_to_it(plain, colored, tmp_path, monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    (tmp_path / "a.txt").write_text("a needle\x1b[2J, Needles\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1" if plain else "")
    screen = Terminal(io.BytesIO())
    monkeypatch.setattr("sys.stdout", screen)
    assert run_searches(lambda: searcher("a.txt"), ["needle"], 1, quiet=True, as_json=False) == 0
    shown = screen.buffer.getvalue().decode()
    word, plain_text = "\x1b[1;31m{}\x1b[0m" if colored else "{}", "a {}\\x1b[2J, {}\n"
    start = "\x1b[35ma.txt\x1b[0m:\x1b[32m1\x1b[0m: " if colored else "a.txt:1: "
    assert shown == start + plain_text.format(word.format("needle"), word.format("Needles"))


def test_records(tmp_path, wv):
    os.chdir(tmp_path)
    lines = ['{"t": "first\\nneedle"}', "", '{"no": 1}', '{"t": "second needle"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    (tmp_path / "b.csv").write_text('n,t\n1,"two\nlines, a needle"\n2,needle\n')
    (tmp_path / "c.txt").write_text("a needle in text\n")
    done = wv("search", ".", "needle", "--field", "t", "--json")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(each["file"], each["first_line"]) for each in answers} == {
        ("a.jsonl", 1), ("a.jsonl", 4), ("b.csv", 2), ("b.csv", 4), ("c.txt", 1),
    }  # fmt: skip
    assert "a.jsonl:3" in done.stderr
    refused = wv("search", "c.txt", "needle", "--field", "t")
    assert refused.returncode == 2 and "--field has no effect" in refused.stderr
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes())
    for inputs, code in (["a.jsonl", "b.csv"], 2), (["a.jsonl", "c.txt"], 0), (["folder"], 0):
        for option in ("--words 3", "--chunks line"):
            made = wv("search", "index", *inputs, "-o", "i.index", "--field", "t", "-q", *option.split())
            assert made.returncode == code, made.stderr
            assert ("has no effect with --field: all files have records" in made.stderr) is (code == 2)
            (tmp_path / "i.index").unlink(missing_ok=True)


def test_a_pipe_without_a_query_reads_no_text(tmp_path, wv):
    done = wv("search", tmp_path / "nosuch", input="")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "wv search: no query is given\n")
    assert "nosuch: " in wv("search", tmp_path / "nosuch", input="a query\n").stderr


def test_what_the_command_prints(tmp_path, wv):
    os.chdir(tmp_path)
    (tmp_path / "notes.md").write_text("# Title\n\nA paragraph\nabout retrying\n\nno answer here\n")
    assert wv("search", "index", "notes.md", "-o", "index", "-q").stderr == ""
    one = wv("search", "./index", "a retry")
    assert (one.returncode, one.stdout) == (0, "notes.md:4: about retrying\n")
    assert wv("search", "notes.md", "a retry").stdout == one.stdout
    many = wv("search", "./index", "retry", "title")
    assert many.stdout == "retry\tnotes.md:4: about retrying\ntitle\tnotes.md:1: # Title\n"
    assert wv("search", "./index", input="retry\n\ntitle\n").stdout == many.stdout
    nothing = wv("search", "./index", "absent")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "wv search: nothing found\n")
    assert wv("search", "./index", "absent", "title").returncode == 0
    answer = json.loads(wv("search", "./index", "retry", "--json").stdout)
    assert {**answer, "score": None} == {
        "query": "retry", "rank": 1, "file": "notes.md", "line": 4, "match": "about retrying", "first_line": 3,
        "text": "A paragraph\nabout retrying", "score": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("search plain q --model other", 1, "plain: has no vectors; leave out --model"),
        ("search vectors q --model other", 1, "vectors: was made with another model than "),
        ("search plain q --vector-weight 0.2", 2, "--vector-weight needs --model"),
        ("search plain q --words 9", 2, "--words has no effect: plain is an index"),
        ("search a.txt q --words 9 --chunks line", 2, "--words has no effect with --chunks line"),
        ("search -", 2, "- (standard input) is the text"),
        ("search a.txt '' ' '", 2, "QUERY is blank"),
        ("search index a.txt -o a.txt", 2, "a.txt"),
        ("search index a.txt -o -", 2, "name a file"),
        (
            "search index docs -o docs/a.md",
            2,
            "docs/a.md: is both read and written; choose another output",
        ),
        ("search gone q", 1, "no-model: cannot read the model: no such file or directory"),
        ("search gone q", 1, "name its new place with --model, or search without it: --vector-weight 0"),
        ("search index nothing -o x", 1, "nothing: cannot read"),
        ("search index binary -o x", 1, "binary: expected text, found binary data"),
        ("search index folder -o x", 1, "folder: no text to search"),
        ("search vectors q --model missing", 1, "missing: cannot read the model"),
        ("search index", 2, "missing argument 'INPUT...'"),
        ("search export plain", 2, "missing option '-o'"),
        ("search export plain -o -", 2, "-o -: the ending chooses the format; name a file"),
        ("search export plain -o x.csv", 2, "x.csv: the ending names no format; choose one of .parquet, .sqlite, .db"),
        ("search export a.txt -o x.db", 1, "a.txt: expected a search index, found another file"),
        ("search export missing -o x.db", 1, "missing: cannot read"),
        ("search export plain -o x.npy", 2, "x.npy would hold the vectors alone, and plain has no vectors; make it"),
        ("search export plain -o x.db --dtype bit", 2, "--dtype is the type of vectors, and plain has no vectors"),
        ("search export plain -o plain", 2, "plain"),
        ("convert vectors x.db", 1, "a search-index file of wv; wv search export INDEX -o NAME.npy writes its vectors"),
        ("search", 2, "missing argument 'INDEX|FOLDER'"),
    ],
)
def test_refused_in_one_line(call, code, message, tmp_path, wv):
    os.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one two\n")
    (tmp_path / "binary").write_bytes(bytes(99))
    (tmp_path / "folder").mkdir()
    (tmp_path / "other").write_text("2 2\none 1 2\ntwo 3 4\n")
    (tmp_path / "docs").mkdir()
    for name in ("docs/a.md", "docs/b.md", "no-model"):
        (tmp_path / name).write_text("2 2\none 1 2\ntwo 3 4\n")
    for model, name in ((None, "plain"), (Model(MODEL), "vectors"), (Model("no-model"), "gone")):
        index_of("a.txt", model=model)[0].save(name)
    (tmp_path / "no-model").unlink()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = wv(*shlex.split(call))
    assert done.returncode == code and message in done.stderr and done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_damaged_index_is_refused(texts, tmp_path, wv):
    os.chdir(tmp_path)
    index, _ = index_of("texts")
    index.save("whole")
    data = (tmp_path / "whole").read_bytes()
    for name, damaged in {"cut": data[:-99], "flipped": data[:-200] + b"\xff" * 9 + data[-191:]}.items():
        (tmp_path / name).write_bytes(damaged)
        checked = wv("check", name)
        assert checked.returncode == 1 and "make it again with wv search index" in checked.stdout
        if name == "cut":
            assert wv("search", name, "word1").returncode == 1
        again = wv("search", "index", "texts", "-o", name)
        assert again.returncode == 0 and "all files are read anew" in again.stderr
        assert (tmp_path / name).read_bytes() == data
    lies = (("documents", 0, 10**6), ("word_at", 3, -5), ("text_at", 7, 1 << 40), ("chunk_at", 5, -1))
    for name, place, value in lies:
        wrong, _ = index_of(texts)
        wrong.arrays[name][place] = value
        wrong.save("lying")
        with pytest.raises(BadFile, match="damaged"):
            lying = open_search_index("lying")
            assert lying is not None
            lying.require_whole()


def test_a_model_is_known_by_its_digest(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 70_000_000)
    first = model_digest(str(tmp_path / "a"))
    (tmp_path / "b").write_bytes(b"x" * 70_000_000)
    assert model_digest(str(tmp_path / "b")) == first
    for place in (0, -1):
        with (tmp_path / "b").open("r+b") as file:
            file.seek(place, 2 if place else 0)
            file.write(b"y")
        assert model_digest(str(tmp_path / "b")) != first
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WvError, match="found a pipe"):
        model_digest(str(tmp_path / "pipe"))


def test_the_shipped_model_needs_no_package(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (tmp_path / "notes.txt").write_text("A concert for violin and piano.\n\nRain and snow fell in the winter.\n")
    monkeypatch.chdir(tmp_path)
    assert run(["search", "notes.txt", "cold weather", "--model", "wv/small", "-k", "1"]) == 0
    assert capsys.readouterr().out == "notes.txt:3: Rain and snow fell in the winter.\n"


def test_the_shipped_model_is_found_where_the_program_lies_elsewhere(tmp_path, monkeypatch, capsys):
    (tmp_path / "notes.txt").write_text("A concert for violin and piano.\n\nRain and snow fell in the winter.\n")
    monkeypatch.chdir(tmp_path)
    assert run(["search", "index", "notes.txt", "-o", "n.index", "--model", "wv/small", "-q"]) == 0
    shutil.copytree(find_folder("wv/small"), tmp_path / "upgraded" / "small")
    monkeypatch.setattr("wv_cli.io.shipped.shipped_data", lambda: tmp_path / "upgraded")
    assert run(["search", "n.index", "cold weather", "-k", "1"]) == 0
    assert capsys.readouterr().out == "notes.txt:3: Rain and snow fell in the winter.\n"
    assert open_search_index("n.index").model == "wv/small"
    assert run(["search", "index", "notes.txt", "-o", "n.index"]) == 2
    assert "n.index was made with --model wv/small; give it, or remove n.index" in capsys.readouterr().err


@pytest.mark.parametrize("call", [["search", "in", "grüße"], ["search", "index", "in", "-o", "x.index"]])
def test_letters_of_short_texts_that_are_not_utf8_are_told(call, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Grüße aus Köln\n", encoding="utf-8")
    packed = gzip.compress(random.Random(1).randbytes(1 << 20).hex().encode(), mtime=0)
    (tmp_path / "in" / "a.txt.gz").write_bytes(packed[:-9])  # is damaged where some of it was read
    (tmp_path / "in" / "b.txt").write_bytes("Grüße aus München\n".encode("latin-1"))
    assert run(call) == 0
    assert "in/b.txt: byte 2: 0xfc is the first of 3 bytes that are no UTF-8" in capsys.readouterr().err
