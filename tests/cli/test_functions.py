"""The commands as functions of wv_cli: their arguments, what they write and return, and what they refuse."""

import inspect
import json
import pickle
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import click
import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from tests.function_stub import STUBS, stub_text
from tests.walk import require_rows
from wv_cli.__main__ import run
from wv_cli.cli.calling import FUNCTIONS
from wv_cli.cli.program import wv as group
from wv_cli.errors import BadFile, GateMissed, UsageError, WvError
from wv_cli.evaluation import TASKS

PLAIN = [name for name in FUNCTIONS if not name.startswith("eval.")]  # the others are tested with wv_cli.eval
TALK = {"log", "on_progress", "progress", "sentences"}
TEXT = "the cat sat on the mat\nthe dog sat on the log\nnew york is a city\nnew york is old\n" * 20
RECORDS = "".join(json.dumps({"id": number, "text": "word " * (number % 5)}) + "\n" for number in range(20))
ENCODER = GOLDEN / "encoders" / "tiny-bert-st6"
ARPA = GOLDEN / "lm" / "micro.o3.arpa"
LABELS = GOLDEN / "ft-labels.bin"
# The call, and the command line that writes the same.
SAME = {
    "search_index": (lambda f, out: f("text.txt", out, meta=False), "search index text.txt --no-meta -o"),
    "search_export": (lambda f, out: f("i.index", out), "search export i.index -o"),
    "lm_train": (
        lambda f, out: f("text.txt", out, order=2, smoothing="mle", meta=False),
        "lm train text.txt --order 2 --smoothing mle --no-meta -o",
    ),
    "lm_convert": (lambda f, out: f(ARPA, out), f"lm convert {ARPA}"),
    "lm_mix": (lambda f, out: f([ARPA, ARPA], out, weights="1,2"), f"lm mix {ARPA} {ARPA} --weights 1,2 -o"),
    "train": (
        lambda f, out: f("text.txt", out, dim=4, epochs=1, min_count=1, meta=False),
        "train text.txt --dim 4 --epochs 1 --min-count 1 --no-meta -q -o",
    ),
    "glove": (
        lambda f, out: f("text.txt", out, dim=4, iterations=1, min_count=1, meta=False),
        "glove text.txt --dim 4 --iterations 1 --min-count 1 --no-meta -q -o",
    ),
    "build_vocab": (lambda f, out: f("text.txt", out, min_count=2), "build-vocab text.txt --min-count 2 -o"),
    "phrases": (
        lambda f, out: f(["text.txt"], out, threshold=1, min_count=2),
        "phrases text.txt --threshold 1 --min-count 2 -o",
    ),
    "bioword": (
        lambda f, out: f("text.txt", out, cells=40, length=4, epochs=1, min_count=1, meta=False),
        "bioword text.txt --cells 40 --length 4 --epochs 1 --min-count 1 --no-meta -q -o",
    ),
    "predict": (lambda f, out: f(LABELS, "text.txt", out, k=2), f"predict {LABELS} text.txt -k 2 -o"),
    "tokenize": (
        lambda f, out: f(Path("raw.txt"), out, lowercase=True, sentences=True),
        "tokenize raw.txt --lowercase --sentences -o",
    ),
    "whiten": (lambda f, out: f("v.vec", out, dim=9, precision="exact"), "whiten v.vec --dim 9 --precision exact -o"),
    "align": (lambda f, out: f("v.vec", "w.vec", out), "align v.vec w.vec -o"),
    "quantize": (lambda f, out: f(LABELS, f"{out}.ftz", cutoff=50, threads=1), f"quantize {LABELS} --cutoff 50 -o"),
    "hash": (
        lambda f, out: f("v.vec", out, method="lsh", length=64, meta=False),
        "hash v.vec --method lsh --length 64 --no-meta -o",
    ),
    "distil": (lambda f, out: f(ENCODER, out, dim=4), f"distil --encoder {ENCODER} --dim 4 -o"),
    "convert": (lambda f, out: f("v.vec", out, to_format="glove-text"), "convert v.vec --to glove-text"),
    "plot": (lambda f, out: f("v.vec", out, ["two", "three"], top=5), "plot v.vec two three --top 5 -o"),
    "filter": (
        lambda f, out: f("r.jsonl", out, words=["2.."], add_scores=True),
        "filter r.jsonl --words 2.. --add-scores -o",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    Path("r.jsonl").write_text(RECORDS)
    Path("raw.txt").write_text("One sentence. Another one.\n")
    shutil.copy(GOLDEN / "gensim.vec", "v.vec")
    shutil.copy(GOLDEN / "gensim.vec", "w.vec")
    wv_cli.search_index("text.txt", "i.index", meta=False)
    return tmp_path


@pytest.mark.parametrize("name", PLAIN)
def test_a_function_has_the_options_of_its_command(name):
    first, *parts = FUNCTIONS[name].command.split()
    command = group.get_command(click.Context(group), first)
    for part in parts:
        command = command.commands[part]
    options = {each.name for each in command.params} - {"help", "help_all", "quiet", "as_json", "version"}
    options = {"output" if each == "outputs" else each for each in options}
    arguments = inspect.signature(getattr(wv_cli, name)).parameters
    assert options == {*arguments} - (TALK - options) - {"as_json"}
    assert wv_cli.__dict__[name].__doc__.splitlines()[0]


ENDINGS = {
    **dict.fromkeys(("train", "glove", "whiten"), ".vec"),
    "align": ".bin",
    **dict.fromkeys(("hash", "bioword"), ".codes"),
    "plot": ".html",
    "search_index": ".index",
    "search_export": ".db",
    **dict.fromkeys(("lm_train", "lm_convert", "lm_mix"), ".arpa"),
}


def files(path):
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    names = [each for each in found if each.is_file() and each.name != "_filter.report"]  # has the time
    return {str(each.relative_to(path)): each.read_bytes() for each in names}


def test_every_function_is_called():
    require_rows("SAME, ANSWERS or TOLD of tests/cli/test_functions.py", {*SAME, *ANSWERS, *TOLD}, PLAIN)


TOLD = {"check", "drift"}  # what they find has tests below
# The call, and the command line that prints the same answers.
ANSWERS = {
    "search": (lambda f: f("r.jsonl", ["word"], k=2, field="text"), "search r.jsonl word -k 2 --field text"),
    "nn": (lambda f: f("v.vec", ["two", "three"], k=3), "nn v.vec two three -k 3"),
    "analogy": (lambda f: f("v.vec", ["two", "three", "four"], k=2), "analogy v.vec two three four -k 2"),
    "similarity": (lambda f: f("v.vec", ("two", "three")), "similarity v.vec two three"),
    "odd_one_out": (
        lambda f: f("v.vec", ["two", "three", "four"], beside="w.vec", k=2),
        "odd-one-out v.vec two three four --beside w.vec -k 2",
    ),
    "texts_distance": (
        lambda f: f("v.vec", ["the three", "a four"]),
        ["texts-distance", "v.vec", "the three", "a four"],
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_function_answers_as_its_command(name, capsys):
    call, line = ANSWERS[name]
    found = call(getattr(wv_cli, name))
    assert capsys.readouterr() == ("", "")
    assert run([*(line.split() if isinstance(line, str) else line), "--json"]) == 0
    printed = [json.loads(each) for each in capsys.readouterr().out.splitlines()]
    assert found == {"answers": printed} and printed


def test_what_else_is_asked():
    (answer,) = wv_cli.nn("v.vec", positive=["two", "four"], negative="three", k=1)["answers"]
    assert answer["query"] == "two + four - three" and len(answer["neighbors"]) == 1
    (first,) = wv_cli.nn("v.vec", vector=Path("v.vec").read_text().splitlines()[1].partition(" ")[2], k=1)["answers"]
    assert first["neighbors"][0]["score"] == pytest.approx(1, abs=1e-4)
    Path("lines.txt").write_text("the four\nzzz\nthe two three\n")
    said = []
    found = wv_cli.nn("v.vec", sentence="a two", among="lines.txt", log=lambda message, **facts: said.append(message))
    assert len(found["answers"][0]["neighbors"]) == 2 and "1 of 3 lines have no word" in said[0]
    nearest = wv_cli.texts_distance("v.vec", "two three", among="lines.txt", k=1)["answers"][0]["nearest"]
    assert nearest[0]["word"] == "the two three"


def test_words_without_a_vector_are_told_skipped_or_refused():
    unknown, known = wv_cli.nn("v.vec", ["zzz", "two"], k=1)["answers"]
    assert unknown == {"query": "zzz", "neighbors": [], "error": "'zzz' is not in v.vec"} and "error" not in known
    assert wv_cli.nn("v.vec", ["zzz", "two"], k=1, oov="skip")["answers"] == [known]
    with pytest.raises(WvError, match=r"'zzz' is not in v\.vec"):
        wv_cli.nn("v.vec", ["two", "zzz"], oov="error")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wv_cli.nn("v.vec"), "no query is given, and a call reads none from standard input"),
        (lambda: wv_cli.nn("v.vec", ["  "]), "no query is given"),
        (lambda: wv_cli.nn("v.vec", vector="-"), "no query is given"),
        (lambda: wv_cli.nn("v.vec", "two", sentence="a two"), "sentence and words cannot be used together"),
        (lambda: wv_cli.nn("v.vec", "two", candidates=5), "candidates needs rerank"),
        (lambda: wv_cli.analogy("v.vec", ["two"]), "expected three words A B C, found 1"),
        (lambda: wv_cli.similarity("v.vec", "two"), "expected two words A B, found 1"),
        (lambda: wv_cli.odd_one_out("v.vec", "two"), "expected two words or more, found 1"),
        (lambda: wv_cli.texts_distance("v.vec", "two"), "expected two texts A B, found 1"),
        (lambda: wv_cli.texts_distance("v.vec", ["a", "b"], stop_list="f"), "stop_list .* needs stop_words drop"),
    ],
)
def test_a_query_that_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.parametrize("name", SAME)
def test_a_function_writes_what_its_command_writes(name):
    call, line = SAME[name]
    ending = ENDINGS.get(name, "")
    report = call(getattr(wv_cli, name), f"one{ending}")
    assert isinstance(report, dict)
    other = f"two{'.ftz' if name == 'quantize' else ending}"
    more = ["--threads", "1"] if name == "quantize" else []
    assert run([*line.split(), other, *more]) == 0
    one = f"one{'.ftz' if name == 'quantize' else ending}"
    assert files(Path(one)) == files(Path(other)) != {}


def test_a_function_returns_what_the_command_prints(capsys):
    assert run(["filter", "r.jsonl", "--words", "2..", "--dry-run", "--json", "-q"]) == 0
    assert wv_cli.filter("r.jsonl", words="2..", dry_run=True) == json.loads(capsys.readouterr().out)
    found = wv_cli.drift("v.vec", "w.vec", top=3)
    assert len(found["words"]) == 3 and capsys.readouterr() == ("", "")


def test_a_file_is_checked(capsys):
    Path("bad.vec").write_bytes("2 2\nä 1 2\nb 1\n".encode())
    report = wv_cli.check("bad.vec", max_problems=3)
    assert report["damaged"] and report["problems"][0]["line"] == 3 and capsys.readouterr() == ("", "")
    assert run(["check", "bad.vec", "--max-problems", "3", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == report
    assert run(["check", "bad.vec", "-q"]) == 1 and capsys.readouterr() == ("", "")
    assert wv_cli.check(Path("v.vec"))["damaged"] is False


def test_words_are_drawn(capsys):
    Path("few.vec").write_text("3 50\n" + "".join(Path("v.vec").read_text().splitlines(keepends=True)[2:5]))
    said = []
    drawn = wv_cli.plot("v.vec", "p.html", top=4, beside="few.vec", log=lambda message, **facts: said.append(message))
    assert drawn == {"output": "p.html", "words": [4, 3]} and capsys.readouterr() == ("", "")
    assert said == ["note: few.vec has 3 of the 4 words"]
    with pytest.raises(UsageError, match="give words, or top=N"):
        wv_cli.plot("v.vec", "p.html")


def test_predictions_are_counted():
    assert wv_cli.predict(LABELS, "text.txt", "out") == {"lines": 80}
    assert wv_cli.predict(LABELS, "r.jsonl", "out.jsonl", add="label") == {"records": 20}


def test_a_text_without_words_is_told_in_names_of_arguments():
    Path("few.txt").write_text("a b c\n")
    with pytest.raises(WvError, match=r"\(min_count 5\).*lower min_count"):
        wv_cli.build_vocab("few.txt", "o")


def test_a_path_is_one_in_the_stub():
    """Not a text, and not another option of the same name: `words` is a rule of filter, and a file of distil."""
    distil = next(iter(STUBS)).read_text().partition("def distil(")[2]
    assert "    words: Path | None = None,\n" in distil.partition("def ")[0]


def test_rules_come_from_files_and_arguments():
    Path("rules.toml").write_text('words = "1.."\ntokenize = "blanks"\nkeep-numbers = true\nnear-duplicates = 0.7\n')
    report = wv_cli.filter("r.jsonl", dry_run=True, rules="rules.toml", words="..3")
    assert report["kept"] < report["records"] and [*report["rules"]] == ["words", "near-duplicates"]


def test_options_need_a_rule_wherever_both_stand():
    asked = [partial(wv_cli.filter, "r.jsonl", dry_run=True), wv_cli.Filter]
    Path("hosts.txt").write_text("a.com\n")
    Path("rules.toml").write_text('blocked-hosts = "hosts.txt"\n')
    assert all(ask(rules="rules.toml", url_field="link") for ask in asked)
    Path("rules.toml").write_text('words = "1.."\nurl-field = "link"\n')
    for ask in asked:
        with pytest.raises(UsageError, match="url_field needs blocked_hosts"):
            ask(rules="rules.toml")
        assert ask(rules="rules.toml", blocked_hosts="hosts.txt")


def test_what_is_told(capsys):
    said = []
    wv_cli.convert("v.vec", "v.bin", log=lambda message, **facts: said.append(message))
    assert said and "v.bin" in said[0] and capsys.readouterr() == ("", "")


def test_numbers_of_numpy_and_processors():
    assert wv_cli.drift("v.vec", "w.vec", top=np.int64(2), threads=0)["compared"] > 2
    wv_cli.filter("r.jsonl", "out", words="1..", near_duplicates=np.float32(0.75), threads=0)
    report = wv_cli.phrases("text.txt", "joined", threshold=np.float32(5), min_count=2)
    assert json.dumps(report) and json.dumps(wv_cli.whiten("v.vec", "o.vec", method="soft", beta=np.float32(0.5)))
    wv_cli.bioword("text.txt", "o.codes", cells=40, length=4, epochs=1, min_count=1, lr=np.float32(0.01))
    assert json.loads(Path("o.codes.meta.json").read_text())


def test_functions_are_sent_to_other_processes():
    assert all(pickle.loads(pickle.dumps(getattr(wv_cli, name))) is getattr(wv_cli, name) for name in PLAIN)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: wv_cli.whiten("v.vec", "o.bin", methods="zca"),
            UsageError,
            "no such option methods; did you mean method",
        ),
        (lambda: wv_cli.whiten("v.vec", "o.bin", xyzzy=1), UsageError, r"no such option xyzzy; help\(wv_cli.whiten\)"),
        (lambda: wv_cli.whiten("v.vec", "o.bin", method="zcb"), UsageError, "method must be one of"),
        (lambda: wv_cli.whiten("v.vec", "o.bin", dim="4"), TypeError, "dim: expected a whole number, found str '4'"),
        (lambda: wv_cli.whiten("v.vec", "o.bin", beta=0.5), UsageError, "beta has no effect with method whiten"),
        (lambda: wv_cli.whiten("v.vec"), UsageError, "nothing would be written"),
        (lambda: wv_cli.whiten(), TypeError, "missing a required argument: 'inputs'"),
        (lambda: wv_cli.whiten("none.vec", "o.bin"), WvError, "none.vec: cannot read"),
        (lambda: wv_cli.whiten("r.jsonl", "o.bin"), BadFile, "expected word vectors"),
        (lambda: wv_cli.whiten("v.vec", "v.vec/x.bin"), WvError, "cannot write"),
        (lambda: wv_cli.align("v.vec", "w.vec", "w.vec", log=1), TypeError, "log: expected a function"),
        (lambda: wv_cli.filter("r.jsonl", "out", words=3), TypeError, "words: expected"),
        (lambda: wv_cli.filter("r.jsonl", "out"), UsageError, "no rule is given"),
        (lambda: wv_cli.filter("r.jsonl", words="1..", explain=0), UsageError, "explain must be at least 1, not 0"),
        (lambda: wv_cli.filter("r.jsonl", "out", words="1..", threads=-1), UsageError, "threads must be between 0"),
        (lambda: wv_cli.phrases("text.txt", "o", passes=0), UsageError, "passes must be between 1 and 100"),
        (lambda: wv_cli.build_vocab("text.txt", "o", memory=-5), UsageError, "memory: .-5. is not a size"),
        (lambda: wv_cli.whiten("v.vec", "o.vec", precision=99), UsageError, "precision must be between 1 and 9"),
        (lambda: wv_cli.whiten("v.vec", "o.vec", top=0), UsageError, "top must be at least 1"),
        (lambda: wv_cli.convert("v.vec", "o.bin", bad_rows="foo"), UsageError, "bad_rows must be one of error, skip"),
        (lambda: wv_cli.convert("v.vec", "o.bin", dim=0), UsageError, "dim must be at least 1"),
        (lambda: wv_cli.convert("v.vec", "o", to_format="static", split="foo"), UsageError, "split must be one of"),
        (lambda: wv_cli.convert("v.vec", "-", to_format="static"), WvError, "expected the name of a folder"),
        (lambda: wv_cli.distil(ENCODER, "o", variance=2.0), UsageError, "variance must be above 0 and below 1"),
        (lambda: wv_cli.distil(ENCODER, "o", clusters=0), UsageError, "clusters must be at least 1"),
        (lambda: wv_cli.quantize("v.vec", 3), TypeError, "output"),
        (lambda: wv_cli.hash("v.vec", None, method="lsh"), UsageError, "output=FILE is missing"),
    ],
)
def test_what_is_refused(call, kind, message):
    before = files(Path())
    with pytest.raises(kind, match=message) as error:
        call()
    assert files(Path()) == before and not re.search(r"(^|[ (])--?[a-z]", str(error.value))


def test_the_stub_is_that_of_the_options():
    changed = [path.name for path, first in STUBS.items() if path.read_text() != stub_text(first)]
    assert not changed, f"{', '.join(changed)} lack what the options are now: run python -m tests.function_stub"


def test_every_function_is_public():
    missing = {*PLAIN} - {*wv_cli.__all__}
    assert not missing, f"name {', '.join(missing)} in wv_cli/__init__.py, under the imports and in __all__"


def test_tasks_of_evaluation():
    pairs, vectors = Path("pairs.txt"), Path("v.vec")
    one, two, three = (line.split()[0] for line in vectors.read_text().split("\n")[1:4])
    pairs.write_text(f"{one} {two} 1\n{one} {three} 2\n{two} {three} 3\n")
    found = wv_cli.eval.similarity(vectors, data=pairs)
    assert wv_cli.eval.similarity(vectors, pairs) == found
    assert found["task"] == "similarity" and found["measure"] == "spearman" and len(found["results"]) == 1
    assert {*TASKS} == {*dir(wv_cli.eval)} and pickle.loads(pickle.dumps(wv_cli.eval.sts)) is wv_cli.eval.sts
    score = found["results"][0]["spearman"]
    pairs.write_text(f"{one} {two} 3\n{one} {three} 2\n{two} {three} 1\n")
    with pytest.raises(GateMissed):
        wv_cli.eval.similarity(vectors, data=pairs, min_score=0.01 - score)
    with pytest.raises(UsageError, match="no such option topn"):
        wv_cli.eval.analogy(vectors, data=pairs, topn=1)
    with pytest.raises(TypeError, match="missing a required argument: 'data'"):
        wv_cli.eval.analogy(vectors)


def test_every_option_is_explained():
    for name in PLAIN:
        said = getattr(wv_cli, name).__doc__
        for each, parameter in inspect.signature(getattr(wv_cli, name)).parameters.items():
            is_option = parameter.kind is parameter.KEYWORD_ONLY and each not in TALK
            assert not is_option or f"\n{each}: " in said, (name, each)


def test_nothing_of_the_command_line_is_imported():
    code = "import sys, wv_cli; wv_cli.whiten; wv_cli.filter; print('click' in sys.modules, 'tqdm' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False False\n"
    )
