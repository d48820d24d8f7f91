"""A labelled text for tests: which of four words has been left out of eight of real text."""

from pathlib import Path

LEFT_OUT = ("the", "of", "and", "in")
HELD_OUT = 2000  # lines


def labelled_lines(text: Path) -> list[str]:
    """Lines `__label__WORD seven words` of running text."""
    words = text.read_text(encoding="utf-8").split()
    found = []
    for first in range(0, len(words) - 8, 8):
        piece = words[first : first + 8]
        labels = [word for word in piece if word in LEFT_OUT]
        if len(labels) == 1:
            rest = " ".join(word for word in piece if word not in LEFT_OUT)
            found.append(f"__label__{labels[0]} {rest}\n")
    return found
