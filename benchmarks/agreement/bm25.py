"""BM25 of `wv eval search` beside the package bm25s, by trec_eval's measures.

    python benchmarks/agreement/bm25.py --peer PYTHON DATA... > benchmarks/agreement/bm25.jsonl

PYTHON has `pip install bm25s==0.3.16 PyStemmer==3.1.0`; DATA are folders in BEIR's layout. A line of the record is one
data set and one way of stemming: NDCG@10 and recall@100 of both programs, each with its own tokens and the
stop words of Lucene. Both rankings are scored by wv.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PEER = """
import json, lzma, sys
from pathlib import Path
import bm25s, Stemmer
folder, stem, out = sys.argv[1:]
def read(name):
    path = Path(folder, name)
    stream = path.open("rb") if path.exists() else lzma.open(f"{path}.xz")
    return [json.loads(line) for line in stream]
documents, queries = read("corpus.jsonl"), read("queries.jsonl")
stemmer = Stemmer.Stemmer("english") if stem == "english" else None
cut = lambda texts: bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
index.index(cut([f"{each.get('title', '')} {each['text']}".strip() for each in documents]), show_progress=False)
asked = cut([each["text"] for each in queries])
found, scores = index.retrieve(asked, k=min(1000, len(documents)), show_progress=False)
with open(out, "w") as stream:
    for query, rows, values in zip(queries, found, scores):
        for rank, (row, value) in enumerate(zip(rows, values), 1):
            if value > 0:
                stream.write(f"{query['_id']} Q0 {documents[row]['_id']} {rank} {value:.6f} bm25s\\n")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with the packages bm25s and PyStemmer")
    parser.add_argument("data", nargs="+", metavar="DATA")
    given = parser.parse_args()
    for folder in given.data:
        for stem in ("none", "english"):
            with tempfile.TemporaryDirectory() as place:
                ranked = f"{place}/bm25s.trec"
                subprocess.run([given.peer, "-c", PEER, folder, stem, ranked], check=True)
                asked = [
                    "-d",
                    folder,
                    "--bm25",
                    "lucene",
                    "--run",
                    ranked,
                    "--stem",
                    stem,
                    "--json",
                    "--resamples",
                    "0",
                ]
                command = [sys.executable, "-m", "wv_cli", "eval", "search", *asked]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                ours, theirs = json.loads(done.stdout)["results"]
            row = {"data": Path(folder).parent.name, "stem": stem, "queries": ours["queries"]}
            row |= {"documents": ours["documents"]}
            for program, found in (("wv", ours), ("bm25s", theirs)):
                row[program] = {name: round(found[name], 4) for name in ("ndcg", "recall")}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
