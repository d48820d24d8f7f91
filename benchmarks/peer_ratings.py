"""The child process of suite `ratings`: learns numbers from labeled lines, and prints the number of every text.

    peer_ratings.py fasttext|ridge-tfidf|ridge-vectors JSON

`ridge-vectors` reads vectors (.npy) in the place of texts.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from peer_judging import LABEL, lines_of


def rate(program: str, job: dict[str, Any]) -> list[float]:
    if program == "fasttext":
        import fasttext

        lr, epoch, ngrams = job["setting"]
        model = fasttext.train_supervised(
            job["train"],
            verbose=0,
            lr=lr,
            epoch=epoch,
            wordNgrams=ngrams,
            bucket=200_000,
            thread=job["threads"],
            seed=job["seed"],
        )
        texts = Path(job["texts"]).read_text(encoding="utf-8").splitlines(keepends=True)
        labels, probabilities = model.f.multilinePredict(texts, -1, 0.0, "strict")
        return [expected(*answer) for answer in zip(labels, probabilities, strict=True)]
    import numpy as np
    from sklearn.linear_model import Ridge

    rows = lines_of(job["train"])
    numbers = [float(labels[0].removeprefix(LABEL)) for labels, _ in rows]
    if program == "ridge-tfidf":
        from sklearn.feature_extraction.text import TfidfVectorizer

        words = TfidfVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), sublinear_tf=True)
        train = words.fit_transform([text for _, text in rows])
        test = words.transform(Path(job["texts"]).read_text(encoding="utf-8").splitlines())
    else:
        train, test = np.load(job["vectors"]), np.load(job["texts"])
    return [float(each) for each in Ridge(alpha=job["setting"]).fit(train, numbers).predict(test)]


def expected(labels: list[str], probabilities: list[float]) -> float:
    numbers = [float(label.removeprefix(LABEL)) for label in labels]
    weights = [float(each) for each in probabilities]
    return sum(map(float.__mul__, numbers, weights)) / sum(weights)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("\n".join(map(repr, rate(sys.argv[1], json.loads(sys.argv[2])))))
