"""Words as users type them: looked up, and the nearest spelling of one that is not there."""

import string

from wv_cli.vectors.embeddings import OovRows
from wv_cli.words import WordList, split_words

_LETTERS = string.ascii_lowercase + string.digits + "-'_."


def find_words(
    words: WordList, query: str, name: str, *, oov: OovRows | None = None, whole: bool = True
) -> tuple[list[int], str]:
    """(rows, "") of the words of a query, separated as in a text; with `whole` a query that is itself a word is that
    word. A word that is not in `words` gets its row from `oov`. ([], problem) when it has none: what is missing in
    the vectors called `name`, and a near spelling if any."""
    if whole and (row := words.find(query)) >= 0:
        return [row], ""
    rows = []
    asked = split_words(query)
    for word, row in zip(asked, words.find_all(WordList.of(asked)).tolist(), strict=True):
        if row < 0 and oov is not None:
            row = oov.row(word)
        if row < 0:
            near = near_spelling(words, word)
            return [], f"{word!r} is not in {name}" + (f"; did you mean {near!r}?" if near else "")
        rows.append(row)
    return rows, ""


def near_spelling(words: WordList, word: str) -> str:
    """The first (most frequent) word that differs in case only or, failing that, by one edit: a character dropped,
    added, replaced or two swapped. "" when there is none."""
    cases = (word.lower(), word.capitalize(), word.title(), word.upper())
    for case, row in zip(cases, words.find_all(WordList.of(cases)).tolist(), strict=True):
        if row >= 0:
            return case
    if len(word) > 50:
        return ""
    rows = words.find_all(WordList.of(_edits(word) | _edits(word.lower())))
    found = rows[rows >= 0]
    return words[int(found.min())] if len(found) else ""


def _edits(word: str) -> set[str]:
    letters = set(_LETTERS) | set(word)
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    edits = {left + right[1:] for left, right in cuts if right}
    edits |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    edits |= {left + letter + right[1:] for left, right in cuts if right for letter in letters}
    edits |= {left + letter + right for left, right in cuts for letter in letters}
    return edits
