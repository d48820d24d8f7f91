"""The child process that removes documents with a run of 12 words of a benchmark, as datatrove does:
`peer_contamination.py QUESTIONS FILE FOLDER`. FOLDER gets a file of the name of FILE with the records that stay.

Its indexer needs lighteval, whose data it asks a network for, so the hashes of the runs are made here by its parts.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.decont.n_grams import NGramsDecontFilter
from datatrove.utils.text import ngrams, simplify_text


def main(questions: Path, file: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as index:
        judge = NGramsDecontFilter(index)
        hashes = set()
        for line in questions.read_text(encoding="utf-8").splitlines():
            text = simplify_text(json.loads(line)["text"], judge.config.norm_config)
            words = judge.tokenizer.word_tokenize(text)
            hashes |= {judge.hash_func(" ".join(each)) for each in ngrams(words, judge.config.n_grams)}
        array = np.array([*hashes], dtype=judge.config.hash_config.np_descr)
        array.tofile(Path(index) / "questions.index.hashes")
        folder.mkdir(exist_ok=True)
        with (folder / file.name).open("w", encoding="utf-8") as kept:
            for line in file.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if judge.filter(Document(text=record["text"], id=record["id"])) is True:
                    kept.write(line + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
