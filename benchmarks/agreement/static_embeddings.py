"""Vectors of static embeddings' folders, beside the libraries that wrote them.

    python benchmarks/agreement/static_embeddings.py --peer PYTHON --pairs stsb-en-dev.csv FOLDER... \\
        > benchmarks/agreement/static_embeddings.jsonl

PYTHON has `pip install sentence-transformers==6.2.0 model2vec==0.10.0`. Every folder is tried as it is and, where
sentence-transformers saved it, with a default prompt and with `truncate_dim` in its configuration. A line of the record
is one folder: the library whose rules it has, the largest difference of a number of any vector from that library's
(`differences`) and from the other one's (`from other`), on the sentences of pairs, on long texts and on texts of
unknown tokens, and both programs' Spearman correlation (times 100) with the pairs' scores.
"""

import argparse
import csv
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import WvError
from wv_cli.vectors.correlation import spearman

UNKNOWN = ["豫章故郡", "ꙮ", "unknown ꙮ tokens ꙮ between", "ꙮ ꙮ ꙮ", "Ж", "a", "", "  ", "\u200b", "naïve façade"]
CHANGES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "default prompt": {"prompts": {"query": "represent the question: "}, "default_prompt_name": "query"},
    "truncate_dim": {"truncate_dim": 8},
}
PEER = """
import json, sys, numpy, warnings
warnings.simplefilter("ignore")
texts = json.load(open(sys.argv[1]))
from model2vec import StaticModel
from sentence_transformers import SentenceTransformer
LOADERS = {"model2vec": StaticModel.from_pretrained, "st": lambda path: SentenceTransformer(path, device="cpu")}
for path in sys.argv[2:]:
    for name, load in LOADERS.items():
        try:
            model = load(path)
            numpy.savez(f"{path}.{name}.npz", **{key: model.encode(each) for key, each in texts.items()})
        except Exception as error:
            print(path, name, error, file=sys.stderr)
"""
Vectors = dict[str, "np.ndarray[Any, Any]"]


def read_pairs(path: Path) -> tuple[list[str], list[float]]:
    """The sentences of all pairs, first and second in turn, and the pairs' scores."""
    with path.open(newline="") as stream:
        rows = [row for row in csv.reader(stream) if len(row) == 3]
    return [text for row in rows for text in row[:2]], [float(row[2]) for row in rows]


def encoded(folder: Path, texts: dict[str, list[str]]) -> Vectors:
    encoder = open_encoder(folder)
    pooling = [Pooling.parse(encoder.pooling, encoder.layers, "the folder")]
    return {
        name: encode(encoder, each, pooling, normalize=encoder.normalize)[0].vectors for name, each in texts.items()
    }


def differences(ours: Vectors, theirs: Vectors) -> "dict[str, float] | str":
    if any(ours[name].shape != theirs[name].shape for name in ours):
        return "another number of dimensions"
    return {name: float(f"{np.abs(ours[name] - theirs[name]).max():.2g}") for name in ours}


def correlation(vectors: Vectors, scores: list[float]) -> float:
    first, second = (vectors["pairs"][start::2].astype(np.float64) for start in (0, 1))
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    cosines = (first * second).sum(axis=1) / np.where(norms == 0, 1, norms)
    return round(float(100 * spearman(cosines, np.array(scores))), 3)


def copies(folders: list[Path], beside: Path) -> list[tuple[str, str, Path]]:
    """(name, change, the copy) of each folder, with and without the changes."""
    found = []
    for folder in folders:
        for change, settings in CHANGES.items():
            config = folder / "config_sentence_transformers.json"
            if settings and not config.exists():
                continue
            copy = beside / f"{folder.name}.{change.replace(' ', '-')}"
            shutil.copytree(folder, copy)
            if settings:
                (copy / config.name).write_text(json.dumps(json.loads(config.read_text()) | settings))
            found.append((folder.name, change, copy))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with the two packages")
    parser.add_argument("--pairs", required=True, type=Path, help="CSV of sentence, sentence, score")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    sentences, scores = read_pairs(given.pairs)
    long = [" ".join(sentences[start : start + 80]) for start in range(0, 1600, 80)]
    texts = {"pairs": sentences, "long": long, "unknown": UNKNOWN}
    with tempfile.TemporaryDirectory() as place:
        asked = Path(place, "texts.json")
        asked.write_text(json.dumps(texts))
        rows = copies(given.folders, Path(place))
        subprocess.run([given.peer, "-c", PEER, asked, *(str(copy) for *_, copy in rows)], check=True)
        for name, change, copy in rows:
            theirs = {
                library: dict(np.load(path))
                for library in ("model2vec", "st")
                if (path := Path(f"{copy}.{library}.npz")).exists()
            }
            own, other = (
                ("st", "model2vec") if (copy / "config_sentence_transformers.json").exists() else ("model2vec", "st")
            )
            row: dict[str, Any] = {"folder": name, "change": change, "own": own}
            try:
                ours = encoded(copy, texts)
                row["differences"] = differences(ours, theirs[own]) if own in theirs else "refused by the library"
                row["from other"] = differences(ours, theirs[other]) if other in theirs else "refused by the library"
                row["sts"] = correlation(ours, scores)
                row["sts of the library"] = correlation(theirs[own], scores) if own in theirs else None
            except WvError as error:
                row["wv"] = str(error).removeprefix(str(copy))
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
