"""The child process of suite `judging` that works with other classifiers.

    peer_judging.py fasttext|ridge|svm|model2vec train MODEL JSON
    peer_judging.py fasttext|ridge|svm|model2vec predict MODEL TEXTS

A prediction prints the best label of every line. `ridge` reads vectors (.npy) instead of texts. model2vec's classifier
has its own defaults; a line with several labels is one example for each, or, for ridge, one with several answers.
"""

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

LABEL = "__label__"
SMALL = Path(__file__).resolve().parent.parent / "data" / "small"


def lines_of(path: str) -> list[tuple[list[str], str]]:
    """(labels, text) of every line."""
    found = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        labels = [word for word in words if word.startswith(LABEL)]
        found.append((labels, " ".join(word for word in words if not word.startswith(LABEL))))
    return found


def examples(path: str) -> tuple[list[str], list[str]]:
    """(texts, labels), a line for each of its labels."""
    rows = [(text, label) for labels, text in lines_of(path) for label in labels]
    return [text for text, _ in rows], [label for _, label in rows]


def train(program: str, model: str, job: dict[str, Any]) -> None:
    if program == "fasttext":
        import fasttext

        lr, epoch, ngrams = job["setting"]
        setting = {
            "lr": lr,
            "epoch": epoch,
            "wordNgrams": ngrams,
            "bucket": 200_000,
            "thread": job["threads"],
            "seed": job["seed"],
        }
        fasttext.train_supervised(job["train"], verbose=0, **setting).save_model(model)
        return
    if program == "model2vec":
        import torch
        from model2vec.train import StaticModelForClassification

        torch.set_num_threads(job["threads"])
        trained = StaticModelForClassification.from_pretrained(path=str(SMALL))
        texts, labels = examples(job["train"])
        trained.fit(texts, labels, random_seed=job["seed"], device="cpu")
        made: Any = trained.to_pipeline()
    elif program == "svm":
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        texts, labels = examples(job["train"])
        words = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), sublinear_tf=True)
        made = make_pipeline(words, LinearSVC(random_state=job["seed"])).fit(texts, labels)
    else:
        import numpy as np
        from sklearn.linear_model import Ridge
        from sklearn.preprocessing import MultiLabelBinarizer

        names = MultiLabelBinarizer()
        answers = names.fit_transform([labels for labels, _ in lines_of(job["train"])])
        made = Ridge().fit(np.load(job["vectors"]), answers.astype(np.float32)), names.classes_
    with Path(model).open("wb") as stream:
        pickle.dump(made, stream)


def predict(program: str, model: str, path: str) -> list[str]:
    if program == "fasttext":
        import fasttext

        texts = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        labels, _ = fasttext.load_model(model).f.multilinePredict(texts, 1, 0.0, "strict")
        return [each[0] if each else "" for each in labels]
    with Path(model).open("rb") as stream:
        made = pickle.load(stream)
    if program == "ridge":
        import numpy as np

        ridge, names = made
        return [str(name) for name in names[ridge.predict(np.load(path)).argmax(axis=1)]]
    return [str(label) for label in made.predict(Path(path).read_text(encoding="utf-8").splitlines())]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    program, task, model, last = sys.argv[1:]
    if task == "train":
        train(program, model, json.loads(last))
    else:
        print("\n".join(predict(program, model, last)))
