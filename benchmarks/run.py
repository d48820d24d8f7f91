"""Measures us beside the programs we replace, in one run, and keeps the raw result.

    python benchmarks/run.py CORPUS --models skipgram-ns,cbow-ns --programs wv,word2vec,gensim,fasttext --epochs 1

See README.md here for what is measured and how not to fool oneself.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import baskets
import beyond
import bigmodel
import bio
import building
import chinese
import classifier
import classifying
import codes
import cold
import cost
import deterministic
import documents
import encoding
import filtering
import glove
import growing
import hashing
import kernels
import label_threads
import lm
import ngrams
import pairs
import predicting
import presets
import quantizing
import record
import scale
import searching
import sentences
import sts_table
import suites
import threads
import train
import turns
import tutorials
import whitening
import wide
from measure import HERE, header

Result = dict[str, Any]
WITHOUT_CORPUS = (
    "vectors",
    "search",
    "codes",
    "cold",
    "hashing",
    "kernels",
    "whitening",
    "building",
    "encoding",
    "pairs",
    "baskets",
    "scale",
)


class Suite(NamedTuple):
    """`run(options, result, say)` fills result["runs"] (every single run) and result["summary"] and says whether the
    quality is as it should be; `table` shows a result as lines of Markdown."""

    run: Callable[[argparse.Namespace, Result, Callable[[str], None]], bool]
    table: Callable[[Result], list[str]] = record.table


SUITES = {
    "train": Suite(train.run, train.table),
    "text": Suite(suites.text),
    "vectors": Suite(suites.vectors),
    "search": Suite(suites.search),
    "cost": Suite(cost.cost),
    "glove": Suite(glove.glove, glove.table),
    "classifier": Suite(classifier.classifier),
    "classifier-options": Suite(classifying.classifier_options, classifying.table),
    "quantizing": Suite(quantizing.quantizing, quantizing.table),
    "sentences": Suite(sentences.sentences, sentences.table),
    "sts-table": Suite(sts_table.sts_table, sts_table.table_of_sts),
    "encoding": Suite(encoding.encoding),
    "pairs": Suite(pairs.pairs),
    "baskets": Suite(baskets.baskets),
    "documents": Suite(documents.documents),
    "whitening": Suite(whitening.whitening),
    "hashing": Suite(hashing.hashing, hashing.table),
    "codes": Suite(codes.codes),
    "kernels": Suite(kernels.kernels, kernels.table),
    "cold": Suite(cold.cold),
    "searching": Suite(searching.searching),
    "predicting": Suite(predicting.predicting),
    "filtering": Suite(filtering.filtering),
    "presets": Suite(presets.presets, presets.table),
    "lm": Suite(lm.lm, lm.table),
    "bio": Suite(bio.bio),
    "chinese": Suite(chinese.chinese, chinese.table),
    "bigmodel": Suite(bigmodel.bigmodel),
    "ngrams": Suite(ngrams.ngrams),
    "ngrams-large": Suite(ngrams.ngrams_large),
    "tutorials": Suite(tutorials.tutorials),
    "turns": Suite(turns.turns),
    "deterministic": Suite(deterministic.deterministic),
    "building": Suite(building.building),
    "growing": Suite(growing.growing),
    "classifier-threads": Suite(label_threads.classifier_threads),
    "scale": Suite(scale.scale, scale.table),
    "beyond": Suite(beyond.beyond),
    "wide": Suite(wide.wide),
    "threads": Suite(threads.threads),
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
    add("--validation", type=int, default=3000, help="suites of classifiers: the last lines, held out")
    add("--programs", type=names(train.PROGRAMS), default=",".join(train.PROGRAMS))
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
    add("--rows", type=int, default=100_000, help="suites vectors, search and searching")
    add(
        "--words", type=int, default=10_000_000, help="suites cost, beyond: words of the corpus used; wide: put into it"
    )
    add("--parts", type=int, default=2, help="suite growing: the second text is one of so many parts of the whole")
    add("--queries", type=int, default=1000, help="suites search, searching and classifier")
    add("--data", type=Path, action="append", default=[], metavar="FILE", help="what a suite reads besides the corpus")
    add("--trials", type=Path, metavar="FILE", help="presets, classifier-options: options of wv train, a line each")
    add("--after", type=names(presets.AFTER), default=[], help="suite presets: score so changed vectors, too")
    add("--keep", type=Path, metavar="DIR", help="suites presets, pairs: where what was trained stays")
    add("--held-out", action="store_true", help="presets, classifier-options: score on what a search does not see")
    add("--sizes", default="1e6,3e6,1e7", help="suite scale: tokens of the texts")
    add("--limit", type=int, default=0, help="suite hashing: only the first so many vectors")
    add("--plot", type=Path, metavar="FILE", help="suite hashing: draw it, too")
    add("--codes", type=int, default=1_000_000, help="suite codes: rows that one query is compared with")
    add("--gigabytes", type=float, default=7.2, help="suite bigmodel: size of the model")
    add("--glove-programs", type=Path, metavar="DIR", help="suite glove: where GloVe's vocab_count, cooccur, ... are")
    add("--originals", type=Path, metavar="DIR", help="suite tutorials: where word2vec, fasttext, glove, ... are")
    add("--encoder", type=Path, metavar="DIR", help="suites sts-table, encoding, pairs: the folder of an encoder")
    add("--beside", type=named, action="append", default=[], metavar="NAME=PROGRAM", help="one more program")
    add("--peers", default=sys.executable, metavar="PYTHON", help="the Python that has gensim, fasttext and word2vec")
    add("--scratch", type=Path, help="folder for the vector files while they are scored; default: the system's")
    add("--name", help="name of the result files; default: suite, date and threads")
    options = parser.parse_args()
    if options.suite not in WITHOUT_CORPUS and not (options.corpus and Path(options.corpus).is_file()):
        parser.error(f"--suite {options.suite} needs a corpus file")
    for folder in filter(None, (options.scratch, options.keep)):
        folder.mkdir(parents=True, exist_ok=True)
    return options


def main() -> int:
    options = arguments()
    suite = SUITES[options.suite]
    result = header(options.suite, options.peers)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    result["settings"] = {
        name: getattr(options, name)
        for name in ("epochs", "dim", "window", "negative", "sample", "min_count", "lr", "threads", "seed", "rounds")
    }
    # Linear algebra inside the peers gets as many threads as everybody else.
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(options.threads)))
    good = suite.run(options, result, say)
    name = options.name or f"{options.suite}-{result['date'][:10]}-{options.threads}t"
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(record.as_lines(result))
    print("\n".join(suite.table(result)))
    say(f"raw result: benchmarks/results/{name}.json; its section and the tables: python benchmarks/tables.py")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
