"""The child process that trains with a Python peer: `peer_train.py gensim|fasttext JSON`.

Uses each library's fastest documented way: gensim reads the file from its C threads (corpus_file), fastText reads it
itself. Both write the word2vec binary format, as the other programs do; fastText with subwords writes its model file.
"""

import json
import sys
from pathlib import Path
from typing import Any


def gensim(job: dict[str, Any]) -> None:
    from gensim.models import FastText, Word2Vec

    subwords = {"min_n": 3, "max_n": 6, "bucket": 2_000_000} if job["subwords"] else {}
    model = (FastText if subwords else Word2Vec)(
        corpus_file=job["corpus"],
        sg=int(job["model"] == "skipgram"),
        hs=int(job["loss"] == "hs"),
        negative=job["negative"] if job["loss"] == "ns" else 0,
        vector_size=job["dim"],
        window=job["window"],
        sample=job["sample"],
        min_count=job["min_count"],
        alpha=job["lr"],
        min_alpha=job["lr"] * 1e-4,
        epochs=job["epochs"],
        workers=job["threads"],
        seed=job["seed"],
        shrink_windows=job.get("shrink", True),
        **subwords,
    )
    model.wv.save_word2vec_format(job["output"], binary=True)


def fasttext(job: dict[str, Any]) -> None:
    import fasttext as library

    model = library.train_unsupervised(
        job["corpus"],
        model=job["model"],
        loss=job["loss"],
        neg=job["negative"],
        dim=job["dim"],
        ws=job["window"],
        t=job["sample"],
        minCount=job["min_count"],
        lr=job["lr"],
        epoch=job["epochs"],
        thread=job["threads"],
        verbose=0,
        **({} if job["subwords"] else {"minn": 0, "maxn": 0, "bucket": 0}),
    )
    # As the program does, a job ends with the model file (.bin) where there are subwords.
    if job["subwords"]:
        model.save_model(job["output"])
        return
    matrix = model.get_input_matrix().astype("float32")
    with Path(job["output"]).open("wb") as stream:
        stream.write(f"{len(model.words)} {job['dim']}\n".encode())
        for word, row in zip(model.words, matrix, strict=True):
            stream.write(word.encode() + b" " + row.tobytes() + b"\n")


if __name__ == "__main__":
    {"gensim": gensim, "fasttext": fasttext}[sys.argv[1]](json.loads(sys.argv[2]))
