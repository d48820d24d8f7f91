"""The child process of another program that searches a folder: `peer_searching.py index DOCS INDEX` reads its
paragraphs, `peer_searching.py answers INDEX BACKEND < QUERIES` prints the ten best of each query.

bm25s (Lù 2024) with its tokenizer, its 33 stop words and PyStemmer; numba or NumPy finds the best. It keeps the
paragraphs in JSON lines beside the index. With numba the first query compiles: the last line has the seconds of all
queries after that one.
"""

import sys
import time
from pathlib import Path

import bm25s
import Stemmer

_BEST = 10


def make_index(docs: Path, folder: Path) -> None:
    texts = [text for path in sorted(docs.iterdir()) for text in path.read_text(encoding="utf-8").split("\n\n")]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    index = bm25s.BM25()
    index.index(tokens, show_progress=False)
    index.save(folder, corpus=texts)


def print_answers(folder: Path, backend: str) -> None:
    index = bm25s.BM25.load(folder, mmap=True, load_corpus=True)
    if backend == "numba":
        index.backend = backend
        index.activate_numba_scorer()
    queries = sys.stdin.read().splitlines()
    stemmer = Stemmer.Stemmer("english")
    for asked in (queries[:1], queries):
        begin = time.perf_counter()
        tokens = bm25s.tokenize(asked, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False)
        found, _ = index.retrieve(tokens, k=_BEST, n_threads=1, show_progress=False)
        seconds = time.perf_counter() - begin
    for query, answers in zip(queries, found, strict=True):
        for answer in answers:
            print(f"{query}\t{answer['text'].strip()}")
    print(round(seconds, 4))


if __name__ == "__main__":
    if sys.argv[1] == "index":
        make_index(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        print_answers(Path(sys.argv[2]), sys.argv[3])
