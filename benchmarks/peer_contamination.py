"""The child process that removes contaminated documents by the rule of another program:
`peer_contamination.py PROGRAM QUESTIONS FILE FOLDER`. FOLDER gets a file named as FILE with the records that stay.

`datatrove`: one common run of 12 words. Its indexer needs lighteval, whose data it asks a network for, so the hashes of
the runs are made here by its parts.

`decon` is our reading of the description of allenai/decon (doc/simple-details.md and config/default.yaml) for questions
without answers: every tenth run of 5 tokens of a document is looked up; from one that is found, the region grows both
ways until 11 runs in a row are missing; the score is the share of the question's runs in it, weighted by idf. It must
be 1 for up to 25 tokens and .815 from 50 on; questions below 20 are not indexed. Words stand for tokens here, and all
sizes are divided by 1.3. It says what the rule finds, and nothing about the time of that program.
"""

import json
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

RUN, EVERY, MISSES, LEAST, EXACT, LONG, SCORE = 4, 8, 8, 15, 19, 38, 0.815
_PUNCTUATION = str.maketrans(dict.fromkeys("!’\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~”“‘", " "))
Judge = Callable[[str], bool]


def datatrove(questions: list[str], folder: Path) -> Judge:
    import numpy as np
    from datatrove.data import Document
    from datatrove.pipeline.decont.n_grams import NGramsDecontFilter
    from datatrove.utils.text import ngrams, simplify_text

    judge = NGramsDecontFilter(str(folder))
    hashes = set()
    for question in questions:
        words = judge.tokenizer.word_tokenize(simplify_text(question, judge.config.norm_config))
        hashes |= {judge.hash_func(" ".join(each)) for each in ngrams(words, judge.config.n_grams)}
    np.array([*hashes], dtype=judge.config.hash_config.np_descr).tofile(folder / "questions.index.hashes")
    return lambda text: judge.filter(Document(text=text, id="")) is True


def runs(text: str) -> list[tuple[str, ...]]:
    words = text.lower().translate(_PUNCTUATION).split()
    return [tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]


def decon(questions: list[str], folder: Path) -> Judge:
    items = [each for each in map(runs, questions) if len(each) + RUN - 1 >= LEAST]
    holders = Counter(each for item in items for each in {*item})
    idf = {each: math.log(len(items) / count) for each, count in holders.items()}
    having: dict[tuple[str, ...], list[int]] = {}
    for number, item in enumerate(items):
        for each in {*item}:
            having.setdefault(each, []).append(number)

    def matched(found: list[tuple[str, ...]], start: int, number: int) -> set[tuple[str, ...]]:
        own = {*items[number]}

        def grow(places: Iterator[int]) -> Iterator[tuple[str, ...]]:
            misses = 0
            for at in places:
                misses = 0 if found[at] in own else misses + 1
                if misses >= MISSES:
                    return
                if not misses:
                    yield found[at]

        return {*grow(iter(range(start, len(found)))), *grow(iter(range(start, -1, -1)))}

    def is_clean(text: str) -> bool:
        found = runs(text)
        for start in range(0, len(found), EVERY):
            for number in having.get(found[start], ()):
                share = sum(map(idf.__getitem__, matched(found, start, number)))
                share /= sum(map(idf.__getitem__, {*items[number]})) or 1
                beyond = (len(items[number]) + RUN - 1 - EXACT) / (LONG - EXACT)
                if share >= 1 - (1 - SCORE) * min(max(beyond, 0), 1) - 1e-9:
                    return False
        return True

    return is_clean


def main(program: str, questions: Path, file: Path, folder: Path) -> None:
    texts = [json.loads(line)["text"] for line in questions.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as index:
        is_clean = {"datatrove": datatrove, "decon": decon}[program](texts, Path(index))
        folder.mkdir(exist_ok=True)
        with (folder / file.name).open("w", encoding="utf-8") as kept:
            for line in file.read_text(encoding="utf-8").splitlines():
                if is_clean(json.loads(line)["text"]):
                    kept.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:5]))
