"""A text as lines of a classifier: the ten words to the left and to the right of a word, which is their label.

    python benchmarks/cloze_rows.py wiki8-slice.txt > cloze.txt

The labels are LABELS words from rank FIRST on, LINES lines of each, in a random order. No word of the text is in two of
them.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FIRST, LABELS, LINES, AROUND = 300, 40, 250, 10


def windows(words: list[str], labels: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Each label with the words around it, where there are AROUND on both sides that no window before has."""
    free = 0
    for place, word in enumerate(words):
        if word in labels and place - AROUND >= free and place + AROUND < len(words):
            free = place + AROUND + 1
            yield word, words[place - AROUND : place] + words[place + 1 : free]


def main(path: Path) -> None:
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    counts = Counter(word for line in lines for word in line)
    labels = {word for word, _ in counts.most_common(FIRST + LABELS)[FIRST:]}
    found = [window for line in lines for window in windows(line, labels)]
    random.Random(1).shuffle(found)
    left = dict.fromkeys(labels, LINES)
    for label, around in found:
        if left[label]:
            left[label] -= 1
            sys.stdout.write(f"__label__{label} {' '.join(around)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
