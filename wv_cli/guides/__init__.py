"""The table of guides, which `wv help` lists and shows: texts beside this file, NAME.md, in Markdown.

A guide is a file and a row. Its first line is its title; tables and code blocks are the only Markdown that needs more
than a plain reader. Blocks between `<!-- table: NAME -->` and `<!-- end -->` are made by tests/readme.py.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wv_cli.registry import Registry

FOLDER = Path(__file__).resolve().parent
Kind = Literal["tutorial", "how-to", "reference", "explanation"]
# In the order in which they are listed, each with its heading.
KINDS: dict[Kind, str] = {
    "tutorial": "Tutorials",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
}


@dataclass(frozen=True)
class Guide:
    """One text. `summary` is the line that lists show."""

    kind: Kind
    summary: str


_TABLE: list[tuple[str, Kind, str]] = [
    ("word-vectors", "tutorial", "Word vectors in 20 minutes: train, ask, measure, improve, save."),
    ("classifier", "tutorial", "A text classifier: train, measure, improve, predict, make it small."),
    ("sentences", "tutorial", "Vectors of sentences: pooling, whitening, and how to measure them."),
    ("codes-and-search", "tutorial", "Binary codes of vectors, and fast search among many."),
    ("search-a-folder", "how-to", "Search documents, source code and records; indexes and vectors for it."),
    ("train-on-pairs", "how-to", "Train embeddings for search on pairs of texts, and measure them beside BM25."),
    ("remote", "how-to", "Read and write files in S3, on hubs and on web servers."),
    ("replace-word2vec", "how-to", "Run a word2vec script with wv; its flags in wv's words."),
    ("replace-fasttext", "how-to", "Run a fastText script with wv; its flags in wv's words."),
    ("replace-glove", "how-to", "Run a GloVe script with wv; its flags in wv's words."),
    ("gensim-to-wv", "how-to", "The calls of gensim, and what replaces them."),
    ("static-embeddings", "how-to", "Make, use and publish static embeddings: tables that encode texts."),
    ("every-night", "how-to", "Train each night on the day's text, from make and cron."),
    ("many-machines", "how-to", "Filter in parts by Slurm or make; count and encode with Dask."),
    ("chinese", "how-to", "Chinese, and other languages without spaces."),
    ("compress", "how-to", "Make vectors and models smaller."),
    ("compare-corpora", "how-to", "Compare two texts by their vectors: drift and alignment."),
    ("raw-text", "how-to", "Make words of raw text: boundaries, normal forms, sentences."),
    ("filter-a-corpus", "how-to", "Filter a corpus by rules: words, languages, classifiers."),
    ("duplicates", "how-to", "Remove duplicates, and see for each which record stays."),
    ("filter-in-engines", "how-to", "Filter inside pandas, polars, datasets, datatrove, Ray, Dask, Spark."),
    ("foreign-files", "how-to", "Read and write the files of other programs."),
    ("one-liners", "reference", "One command line per job, to copy."),
    ("commands", "reference", "Every command, task of wv eval and method of wv hash."),
    ("records", "reference", "JSON lines, CSV, TSV, Parquet and Arrow as texts, and fields added to them."),
    ("formats", "reference", "File formats, and their bytes."),
    ("heuristics", "reference", "The statistics and recipes of wv filter, with their bounds."),
    ("fasttext-module", "reference", "fastText's Python module in wv_cli.fasttext, and what differs."),
    ("gensim", "reference", "gensim's classes in wv_cli.gensim, and what they refuse."),
    ("models", "reference", "Models and output layers, and the options of each."),
    ("exit-codes", "reference", "What the exit code of a command means."),
    ("json", "reference", "What --json prints."),
    ("environment", "reference", "Environment variables."),
    ("guarantees", "reference", "What wv guarantees, sentence by sentence; each has its tests."),
    ("glossary", "reference", "The words of these guides, each in a sentence."),
    ("papers", "reference", "The papers of the methods."),
    ("evaluating", "explanation", "How to evaluate without fooling yourself."),
    ("why-fast", "explanation", "Why wv is fast, and where to read its sources."),
    ("threads", "explanation", "What threads do to results."),
    ("determinism", "explanation", "When two runs give the same bytes."),
    ("format-losses", "explanation", "What each file format cannot keep."),
    ("differences", "explanation", "What wv does otherwise than word2vec, fastText and GloVe."),
    ("other-programs", "explanation", "What other programs make of the same data, asked and answered."),
    ("changes", "explanation", "What changed from version to version."),
]
GUIDES: Registry[Guide] = Registry("guide", [(name, Guide(kind, summary)) for name, kind, summary in _TABLE])


def guide_text(name: str) -> str:
    """The guide called `name`, as Markdown."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
