"""Measures us beside the programs we replace, in one run, and appends a record to results/SUITE.jsonl.

    python benchmarks/run.py CORPUS --models skipgram-ns,cbow-ns --programs wv,word2vec,gensim,fasttext --epochs 1

See README.md here for what is measured and how not to fool oneself.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import classifier
import cold
import contamination
import deciding
import duplicates
import engines
import filtering
import glove
import imports
import judging
import kernels
import languages
import ngrams
import pairs
import predicting
import presets
import quantizing
import questions
import ratings
import record
import searching
import threads
import train
import turns
import vectors
from measure import header

Result = dict[str, Any]
WITHOUT_CORPUS = ("vectors", "search", "cold", "kernels", "pairs", "deciding", "judging", "ratings", "questions")


class Suite(NamedTuple):
    """`run(options, result, say)` fills result["runs"] (every single run) and result["summary"] and says whether the
    quality is as it should be; `table` shows a result as lines of Markdown."""

    run: Callable[[argparse.Namespace, Result, Callable[[str], None]], bool]
    table: Callable[[Result], list[str]] = record.table


SUITES = {
    "train": Suite(train.run, train.table),
    "vectors": Suite(vectors.vectors),
    "search": Suite(vectors.search),
    "glove": Suite(glove.glove, glove.table),
    "classifier": Suite(classifier.classifier),
    "judging": Suite(judging.judging),
    "ratings": Suite(ratings.ratings),
    "questions": Suite(questions.questions),
    "quantizing": Suite(quantizing.quantizing, quantizing.table),
    "pairs": Suite(pairs.pairs),
    "kernels": Suite(kernels.kernels, kernels.table),
    "cold": Suite(cold.cold),
    "searching": Suite(searching.searching),
    "predicting": Suite(predicting.predicting),
    "filtering": Suite(filtering.filtering),
    "engines": Suite(engines.engines),
    "duplicates": Suite(duplicates.duplicates),
    "contamination": Suite(contamination.contamination),
    "languages": Suite(languages.languages),
    "deciding": Suite(deciding.deciding),
    "presets": Suite(presets.presets, presets.table),
    "ngrams": Suite(ngrams.ngrams),
    "turns": Suite(turns.turns),
    "deterministic": Suite(turns.deterministic),
    "threads": Suite(threads.threads),
    "imports": Suite(imports.imports, imports.table),
}


def names(known: object) -> object:
    """argparse type: a comma-separated list of known names."""

    def parse(text: str) -> list[str]:
        for word in text.split(","):
            if word not in known:  # type: ignore[operator]
                message = f"unknown {word!r} (choices: {', '.join(known)})"  # type: ignore[arg-type]
                raise argparse.ArgumentTypeError(message)
        return text.split(",")

    return parse


def named(text: str) -> tuple[str, str]:
    """argparse type: NAME=PROGRAM."""
    name, equals, program = text.partition("=")
    if not equals:
        message = f"expected NAME=PROGRAM, found {text!r}"
        raise argparse.ArgumentTypeError(message)
    return name, program


def arguments() -> argparse.Namespace:
    formatter = argparse.ArgumentDefaultsHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=formatter)
    add = parser.add_argument
    add("corpus", nargs="?", help="plain text, one paragraph a line; suite classifier: labeled text")
    add("--suite", default="train", choices=list(SUITES))
    add("--models", type=names(train.MODELS), default="skipgram-ns", help=f"from {','.join(train.MODELS)}")
    add("--settings", type=names(classifier.SETTINGS), default="softmax,softmax-bigrams", help="suite classifier")
    add("--train-only", action="store_true", help="suite classifier: nothing but training, and P@1")
    add("--validation", type=int, default=3000, help="suite classifier: the last lines, held out")
    add(
        "--programs",
        type=names((*train.PROGRAMS, *judging.PROGRAMS)),
        default=",".join(train.PROGRAMS),
        help="those that take part",
    )
    add("--rounds", type=int, default=1, help="programs take turns; medians are reported")
    add(
        "--once",
        type=names(train.PROGRAMS),
        default=[],
        help="programs of the first round only (word2vec has one seed)",
    )
    add("--epochs", type=int, default=1)
    add("--dim", type=int, default=100)
    add("--window", type=int, default=5)
    add("--negative", type=int, default=5)
    add("--sample", type=float, default=1e-4)
    add("--min-count", type=int, default=5)
    add("--lr", type=float, default=0, help="0: 0.05, and 0.025 for skipgram-hs")
    add("--threads", type=int, default=1)
    add("--seed", type=int, default=1)
    add("--simlex", type=Path, help="a SimLex-999 file (`word word score`) to score as well")
    add("--rows", type=int, default=100_000, help="suites vectors, search, cold, searching and deciding")
    add("--queries", type=int, default=1000, help="suites search, searching, classifier and predicting")
    add("--data", type=Path, action="append", default=[], metavar="FILE", help="what a suite reads besides the corpus")
    add("--trials", type=Path, metavar="FILE", help="suite presets: options of wv train, a line each")
    add("--after", type=names(presets.AFTER), default=[], help="suite presets: score so changed vectors, too")
    add("--keep", type=Path, metavar="DIR", help="suites presets, pairs: where what was trained stays")
    add("--few", type=int, action="append", default=[], help="suites judging, ratings: learn from so many lines, too")
    add("--held-out", action="store_true", help="suite presets: score on what a search does not see")
    add("--glove-programs", type=Path, metavar="DIR", help="suite glove: where GloVe's vocab_count, cooccur, ... are")
    add("--encoder", type=Path, metavar="DIR", help="suite pairs: the folder of an encoder")
    add("--beside", type=named, action="append", default=[], metavar="NAME=PROGRAM", help="one more program")
    add("--peers", default=sys.executable, metavar="PYTHON", help="the Python that has gensim, fasttext and word2vec")
    add("--scratch", type=Path, help="folder for the vector files while they are scored; default: the system's")
    add("--name", help="name of the record; default: suite, date and threads")
    options = parser.parse_args()
    if options.suite not in WITHOUT_CORPUS and not (options.corpus and Path(options.corpus).is_file()):
        parser.error(f"--suite {options.suite} needs a corpus file")
    for folder in filter(None, (options.scratch, options.keep)):
        folder.mkdir(parents=True, exist_ok=True)
    return options


def main() -> int:
    options = arguments()
    suite = SUITES[options.suite]
    facts = header(options.suite, options.peers)
    name = options.name or f"{options.suite}-{facts['date'][:10]}-{options.threads}t"
    result: Result = {"name": name, **facts}

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    result["settings"] = {
        name: getattr(options, name)
        for name in ("epochs", "dim", "window", "negative", "sample", "min_count", "lr", "threads", "seed", "rounds")
    }
    # Linear algebra inside the peers gets as many threads as everybody else.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(options.threads)))
    good = suite.run(options, result, say)
    path = record.append(result)
    print("\n".join(suite.table(result)))
    say(f"recorded: benchmarks/results/{path.name}; its section and the tables: python benchmarks/tables.py")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
