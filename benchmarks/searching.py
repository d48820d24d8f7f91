"""Suite `searching`: `wv search` on a folder of many documents: its index, the first answer, many answers.

    python benchmarks/run.py corpus.txt --suite searching --rows 250000 --queries 300 --rounds 3 --peers PYTHON

The folder has `--rows` paragraphs of 40 words of the corpus, 100 in a file. A query is 6 words that come one after the
other in a paragraph. `index` reads the folder, `index again` finds it unchanged. `first answer` is a whole process,
the system having the index in its cache; `answers` are those of one process to all queries on standard input.
`wv/small` is the model of the vectors; without it words alone are searched. Recall compares the ten nearest by int8
vectors of the index with those by the model's own numbers. With --peers, PYTHON has bm25s, PyStemmer and
numba. Its `answers_per_second` leave out its start and numba's compilation (peer_searching.py); those of `wv` are of
the whole process.
"""

import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run
from train import describe

_WORDS, _PARAGRAPHS, _ASKED, _NEAREST = 40, 100, 6, 10
_MODEL = "wv/small"


def _words(corpus: Path) -> Iterator[str]:
    """The words of the corpus, again and again."""
    while True:
        with corpus.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                yield from line.split()


def _write(folder: Path, corpus: Path, rows: int) -> list[str]:
    """Writes the documents; the paragraphs."""
    words = _words(corpus)
    paragraphs = [" ".join(itertools.islice(words, _WORDS)) for _ in range(rows)]
    for first in range(0, rows, _PARAGRAPHS):
        text = "\n\n".join(paragraphs[first : first + _PARAGRAPHS]) + "\n"
        (folder / f"{first:08}.txt").write_text(text, encoding="utf-8")
    return paragraphs


def _recall(paragraphs: list[str], queries: list[str]) -> float:
    from wv_cli.retrieval.model import Model, nearest, to_int8

    model = Model(_MODEL)
    parts = [model.encode(paragraphs[first : first + 4096]) for first in range(0, len(paragraphs), 4096)]
    whole = np.concatenate(parts)
    rows, norms = to_int8(whole)
    lengths = np.linalg.norm(whole, axis=1)
    shares = []
    asked = model.encode(queries)
    for query, found in zip(asked, nearest(rows, norms, asked, _NEAREST)[0], strict=True):
        truth = whole @ query / np.where(lengths, lengths, np.inf)
        least = np.partition(truth, -_NEAREST)[-_NEAREST]
        shares.append(float((truth[found] >= least - 1e-5).mean()))
    return float(np.mean(shares))


def _peer(options: Any, folder: Path, queries: int) -> Iterator[tuple[str, str, Run]]:
    """(task, program, figures) of bm25s on the documents and queries in the folder."""
    if options.peers == sys.executable:
        return
    script = [options.peers, HERE / "peer_searching.py"]
    index = folder / "bm25s"
    yield "index", "bm25s", record.used([*script, "index", folder / "docs", index])[0]
    for backend in ("numpy", "numba"):
        command = f"'{script[0]}' '{script[1]}' answers '{index}' {backend} < '{folder}/queries'"
        figures, printed = record.used(["sh", "-c", command])
        seconds = float(printed.split()[-1])
        yield "answers", f"bm25s, {backend}", {**figures, "answers_per_second": queries / seconds}


def searching(options: Any, result: Run, say: Any) -> bool:
    corpus, runs = Path(options.corpus), list[Run]()
    result["corpus"] = describe(corpus)
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        docs = Path(name) / "docs"
        docs.mkdir()
        paragraphs = _write(docs, corpus, options.rows)
        random = np.random.default_rng(options.seed)
        asked = [paragraphs[i].split() for i in random.integers(0, len(paragraphs), options.queries)]
        starts = random.integers(0, _WORDS - _ASKED, options.queries)
        queries = [" ".join(each[at : at + _ASKED]) for each, at in zip(asked, starts, strict=True)]
        (Path(name) / "queries").write_text("\n".join(queries) + "\n", encoding="utf-8")
        for number, _ in record.rounds(options):
            for program, model in (("words", []), ("words and vectors", ["--model", _MODEL])):
                index = Path(name) / program
                index.unlink(missing_ok=True)

                def add(task: str, figures: Run, number: int = number, program: str = program) -> None:
                    runs.append({"task": task, "program": program, "round": number, **figures})
                    say(f"round {number} {task}, {program}: {figures}")

                build = [*WV, "search", "index", docs, "-o", index, *model, "-q"]
                figures, _ = record.used(build)
                add("index", {**figures, "file_mb": index.stat().st_size / 1e6})
                add("index again", record.used(build)[0])
                add("first answer", record.used([*WV, "search", index, queries[0], "-q"])[0])
                figures, _ = record.used(["sh", "-c", f"{' '.join(WV)} search '{index}' -q < '{name}/queries'"])
                add("answers", {**figures, "answers_per_second": len(queries) / figures["wall_seconds"]})
            for task, program, figures in _peer(options, Path(name), len(queries)):
                runs.append({"task": task, "program": program, "round": number, **figures})
                say(f"round {number} {task}, {program}: {figures}")
        runs.append({"task": "recall", "program": "vectors", "round": 1, "recall": _recall(paragraphs, queries)})
    result["data"] = {"paragraphs": options.rows, "queries": options.queries}
    result["runs"], result["summary"] = runs, record.summary(runs)
    return runs[-1]["recall"] > 0.95
