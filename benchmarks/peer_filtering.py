"""The child process that judges documents as Python pipelines do: `peer_filtering.py TASK JSON`.

Each task reads the JSON lines `documents` with orjson and writes those that stay, in a loop over documents. `words` is
the loop that needs no package: json, and the line as it was.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Judge = Callable[[str], object]


def words(job: dict[str, Any]) -> Judge:
    return lambda text: len(text.split())


def classify(job: dict[str, Any]) -> Judge:
    import fasttext

    models = [fasttext.load_model(path) for path in job["classifiers"]]

    def judge(text: str) -> object:
        line = text.replace("\n", " ")
        return [model.predict(line) for model in models]

    return judge


def perplexity(job: dict[str, Any]) -> Judge:
    import kenlm
    import sentencepiece

    pieces, model = sentencepiece.SentencePieceProcessor(model_file=job["pieces"]), kenlm.Model(job["model"])

    def judge(text: str) -> object:
        cut = pieces.encode_as_pieces(text.replace("\n", " "))
        return 10 ** (-model.score(" ".join(cut)) / (len(cut) + 1))

    return judge


def near_duplicates(job: dict[str, Any]) -> Judge:
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature

    config = MinhashConfig(n_grams=5, num_buckets=14, hashes_per_bucket=8)
    signature = MinhashDedupSignature(tempfile.mkdtemp(), config=config)

    def judge(text: str) -> object:
        shingles = signature.get_shingles(text)
        return signature.get_signature(shingles) if shingles.size else None

    return judge


TASKS = {"words": words, "classify": classify, "perplexity": perplexity, "near-duplicates": near_duplicates}


def main(task: str, job: dict[str, Any]) -> None:
    judge = TASKS[task](job)
    if task == "words":
        with Path(job["documents"]).open("rb") as documents, Path("/dev/null").open("wb") as kept:
            for line in documents:
                if judge(json.loads(line)["text"]):
                    kept.write(line)
        return
    import orjson

    with Path(job["documents"]).open("rb") as documents, Path("/dev/null").open("wb") as kept:
        for line in documents:
            record = orjson.loads(line)
            record["score"] = bool(judge(record["text"]))
            kept.write(orjson.dumps(record) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
