"""Suite `imports`: scripts in the style of users, run with the package they import and with our module instead.

    python benchmarks/run.py cooking.stackexchange.txt --suite imports --data wiki8-slice.txt --data lid.176.ftz \
        --encoder STATIC --peers PYTHON --beside sentence_transformers=PYTHON --rounds 3

The scripts are those of `scripts/`, changed in their imports alone. Each run is a process of its own. A call is a
statement of the script. `equal` calls print the same to 4 digits, or raise the same kind of error. Calls that
follow from random numbers print the same kinds. `missing` calls fail with ours alone, `more` with the original alone.
"""

import lzma
import math
import shutil
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, measure, measure_json
from record import Run

# script: (the package it imports, our module)
SCRIPTS = {
    "fasttext_tour": ("fasttext", "wv_cli.fasttext"),
    "gensim_notebook": ("gensim", "wv_cli.gensim"),
    "static_search": ("sentence_transformers", "wv_cli"),
}
# model: options of wv train, whose labels of the validation lines are asked for
_MODELS = {
    "softmax.bin": ("--epochs", "5"),
    "tree.bin": ("--epochs", "5", "--loss", "hs"),
    "bigrams.bin": ("--epochs", "5", "--word-ngrams", "2", "--buckets", "100000"),
    "ngrams.bin": ("--epochs", "5", "--dim", "16", "--minn", "3", "--maxn", "5", "--buckets", "100000"),
}
VERDICTS = ("equal", "different", "missing", "more")
_SHOWN = 120  # characters of an answer
_LINES = 4000  # of the text that scripts train on
_VALIDATION = 3000
_GLOVE = "the 0.25 -1 2\nof 3 4.5 -0.125\n"


def _prepare(options: Any, folder: Path) -> None:
    """The files that the scripts name, and the models that are asked."""
    text, detector = record.data(options, "txt"), record.data(options, ".ftz")
    lines = Path(options.corpus).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "cooking.train").write_text("".join(lines[:-_VALIDATION]), encoding="utf-8")
    (folder / "cooking.valid").write_text("".join(lines[-_VALIDATION:]), encoding="utf-8")
    with (lzma.open if text.suffix == ".xz" else open)(text, "rt", encoding="utf-8") as stream:
        (folder / "text.txt").write_text("".join(islice(stream, _LINES)), encoding="utf-8")
    asked = [
        " ".join(word for word in line.split() if not word.startswith("__label__")) for line in lines[-_VALIDATION:]
    ]
    (folder / "asked.txt").write_text("\n".join(asked), encoding="utf-8")
    for name, own in _MODELS.items():
        supervised = ["train", str(folder / "cooking.train"), "-q", "--model", "supervised", "--threads", "1"]
        measure([*WV, *supervised, *own, "--lr", "0.5", "-o", str(folder / name)])
    (folder / "glove.txt").write_text(_GLOVE)
    (folder / detector.name).symlink_to(detector.resolve())
    (folder / "static-model").symlink_to(options.encoder.resolve())
    train = [*WV, "train", str(folder / "text.txt"), "-q", "--dim", "30", "--epochs", "3", "--threads", "1"]
    measure([*train, "-o", str(folder / "vectors.bin")])
    measure(
        [
            *train,
            "-o",
            str(folder / "wiki.bin"),
            "--to",
            "fasttext-bin",
            "--minn",
            "3",
            "--maxn",
            "5",
            "--buckets",
            "20000",
        ]
    )


def is_equal(ours: Any, theirs: Any) -> bool:
    """Whether two answers are the same, numbers to 4 digits."""
    if isinstance(ours, bool) or isinstance(theirs, bool) or isinstance(ours, str):
        return bool(ours == theirs)
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return math.isclose(ours, theirs, rel_tol=1e-4, abs_tol=2e-5) or (ours != ours and theirs != theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(is_equal, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(is_equal(ours[key], theirs[key]) for key in ours)
    return bool(ours == theirs)


def kind(value: Any) -> Any:
    """The types of an answer, and how many there are."""
    return [kind(each) for each in value] if isinstance(value, list) else type(value).__name__


def verdict(ours: Run, theirs: Run) -> str:
    """equal, different, missing or more."""
    if ("error" in ours) != ("error" in theirs):
        return "missing" if "error" in ours else "more"
    if "error" in ours:
        return "equal" if theirs["error"] in ours["kinds"] else "different"
    if ours["by_chance"]:
        return "equal" if kind(ours["printed"]) == kind(theirs["printed"]) else "different"
    return "equal" if is_equal(ours["printed"], theirs["printed"]) else "different"


def imports(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus), *options.data)
    for python in dict(options.beside).values():
        others = measure_json([python, str(HERE / "measure.py"), "versions", "sentence-transformers", "torch"])
        result["versions"] |= {name: version for name, version in others.items() if version}
    runs: list[Run] = []
    unlike: dict[str, Run] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        files = Path(scratch) / "files"
        files.mkdir()
        _prepare(options, files)
        for number, _ in record.rounds(options):
            found = [*_run_scripts(options, files, number, unlike), *_time_predictions(options, files, number)]
            for run in found:
                say(str(run))
            runs += found
    result["unlike"] = [{"call": call, **facts} for call, facts in unlike.items()]
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True


def _run_scripts(options: Any, files: Path, number: int, unlike: dict[str, Run]) -> Iterator[Run]:
    """A run of every script by either program; `unlike` gets the calls that are not equal."""
    for script, (original, module) in SCRIPTS.items():
        answers: dict[str, list[Run]] = {}
        run: Run = {}
        programs = {original: (dict(options.beside).get(original, options.peers), original), "wv": (WV[0], module)}
        for program, (python, imported) in programs.items():
            folder = files.parent / f"{script}-{program}-{number}"
            shutil.copytree(files, folder, symlinks=True)
            peer = [HERE / "peer_script.py", HERE / "scripts" / f"{script}.py", original, imported]
            answers[program] = measure_json([str(python), *map(str, peer)], cwd=str(folder))
            seconds = round(sum(each["cpu_seconds"] for each in answers[program]), 3)
            run = {"task": f"{script}.py", "program": program, "round": number, "cpu_seconds": seconds}
            if program == original:
                yield run
        run |= {"calls": len(answers["wv"]), **dict.fromkeys(VERDICTS, 0)}
        for ours, theirs in zip(answers["wv"], answers[original], strict=True):
            said = verdict(ours, theirs)
            run[said] += 1
            if said != "equal":
                unlike[ours["call"]] = {"verdict": said, "wv": shown(ours), "original": shown(theirs)}
        yield run


def _time_predictions(options: Any, files: Path, number: int) -> Iterator[Run]:
    models = [*_MODELS, record.data(options, ".ftz").name]
    for program, python, module in (("fasttext", options.peers, "fasttext"), ("wv", WV[0], "wv_cli.fasttext")):
        asked = [str(python), str(HERE / "peer_calls.py"), module, "asked.txt", *models]
        for task, microseconds in measure_json(asked, cwd=str(files)).items():
            yield {"task": task, "program": program, "round": number, "us_a_line": microseconds}


def shown(answer: Run) -> str:
    """What a call printed or how it failed, cut."""
    return str(answer.get("printed", f"{answer.get('error')}: {answer.get('message')}"))[:_SHOWN]


def table(result: Run) -> list[str]:
    """The scripts, the predictions, and the calls that are not equal."""
    rows = {(row["task"], row["program"]): row for row in result["summary"]}
    scripts, predictions = [], []
    for (task, program), row in rows.items():
        [other] = [name for of, name in rows if of == task and name != "wv"]
        if program != "wv":
            continue
        if "calls" in row:
            seconds = [row["cpu_seconds"], rows[task, other]["cpu_seconds"]]
            cells = [f"`{task}`", other, *(row[name] for name in ("calls", *VERDICTS)), *seconds]
            scripts.append([record.cell(value) for value in cells])
        else:
            times = rows[task, other]["us_a_line"], row["us_a_line"]
            predictions.append([task, *map(record.cell, (*times, times[0] / times[1]))])
    unlike = [
        [f"`{each['call']}`", each["verdict"], *(f"`{each[name]}`" for name in ("wv", "original"))]
        for each in result["unlike"]
    ]
    for row in unlike:
        row[:] = [" ".join(value.split()).replace("|", r"\|") for value in row]
    columns = ["script", "imports", "calls", *VERDICTS, "wv, CPU s", "original, CPU s"]
    return [
        *record.markdown(columns, scripts),
        "",
        *record.markdown(
            ["3,000 questions by `predict`", "fasttext, us a line", "wv, us a line", "times"], predictions, 1
        ),
        "",
        *record.markdown(["call", "verdict", "wv", "original"], unlike, 4),
    ]
