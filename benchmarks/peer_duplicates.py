"""The child process that removes near-duplicates: `peer_duplicates.py PROGRAM SIMILARITY FILE KEPT`.

FILE has JSON lines with `id` and `text`; KEPT gets the ids that stay. datatrove runs its four stages with one task, and
has bands of 8 to 17 numbers for the similarity, as `wv` had them. text-dedup runs its MinHash command, which chooses
bands. datasketch and rensa keep the first of several, by their indexes alone, with 128 numbers.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BANDS = {0.7: (14, 7), 0.8: (10, 10), 0.9: (6, 17)}


def shingles(text: str) -> set[str]:
    words = text.lower().split()
    return {" ".join(words[at : at + 5]) for at in range(len(words) - 4)}


def datasketch(records: list[dict[str, Any]], similarity: float) -> list[str]:
    from datasketch import MinHash, MinHashLSH

    index, kept = MinHashLSH(threshold=similarity, num_perm=128), []
    for record in records:
        number = MinHash(num_perm=128)
        number.update_batch([each.encode() for each in shingles(record["text"])])
        if not index.query(number):
            index.insert(record["id"], number)
            kept.append(record["id"])
    return kept


def rensa(records: list[dict[str, Any]], similarity: float) -> list[str]:
    from rensa import RMinHash, RMinHashLSH

    bands = min((b for b in (2, 4, 8, 16, 32, 64)), key=lambda b: abs((1 / b) ** (b / 128) - similarity))
    index, kept = RMinHashLSH(threshold=similarity, num_perm=128, num_bands=bands), []
    for record in records:
        number = RMinHash(num_perm=128, seed=1)
        number.update(list(shingles(record["text"])))
        if not index.query(number):
            index.insert(int(record["id"]), number)
            kept.append(record["id"])
    return kept


def text_dedup(file: Path, similarity: float) -> list[str]:
    from datasets import load_from_disk

    with tempfile.TemporaryDirectory() as folder:
        call = ["--path", "json", "--data_files", file, "--split", "train", "--cache_dir", f"{folder}/cache"]
        call += ["--output", f"{folder}/kept", "--column", "text", "--ngram", "5", "--num_perm", "128"]
        call += ["--threshold", similarity, "--num_proc", "1"]
        subprocess.run([sys.executable, "-m", "text_dedup.minhash", *map(str, call)], check=True)
        return list(load_from_disk(f"{folder}/kept")["id"])


def datatrove(file: Path, similarity: float) -> list[str]:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    folder = tempfile.mkdtemp()
    buckets, rows = BANDS[similarity]
    config = MinhashConfig(n_grams=5, num_buckets=buckets, hashes_per_bucket=rows)
    reader = JsonlReader(str(file.parent), glob_pattern=file.name)
    stages: list[tuple[list[Any], int]] = [
        ([reader, MinhashDedupSignature(f"{folder}/signatures", config=config)], 1),
        ([MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)], buckets),
        ([MinhashDedupCluster(f"{folder}/buckets", f"{folder}/removed", config=config)], 1),
        (
            [
                reader,
                MinhashDedupFilter(f"{folder}/removed"),
                JsonlWriter(f"{folder}/kept", "kept.jsonl", compression=None),
            ],
            1,
        ),
    ]
    for number, (pipeline, tasks) in enumerate(stages):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f"{folder}/log{number}").run()
    return [json.loads(line)["id"] for line in Path(folder, "kept", "kept.jsonl").read_text().splitlines()]


def main(program: str, similarity: float, file: Path, out: Path) -> None:
    if program in ("datatrove", "text-dedup"):
        kept = {"datatrove": datatrove, "text-dedup": text_dedup}[program](file, similarity)
    else:
        records = list(map(json.loads, file.read_text(encoding="utf-8").splitlines()))
        kept = {"datasketch": datasketch, "rensa": rensa}[program](records, similarity)
    out.write_text(" ".join(kept), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
