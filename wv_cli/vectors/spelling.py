"""Words as users type them: looked up, and the nearest spelling of one that is not there."""

import string

from wv_cli.vectors.embeddings import OovRows
from wv_cli.words import WordList

_BLANKS = str.maketrans(dict.fromkeys("\t\r\v\f\0", " "))
_LETTERS = string.ascii_lowercase + string.digits + "-'_."


def find_words(
    words: WordList, query: str, place: str, *, oov: OovRows | None = None, whole: bool = True
) -> tuple[list[int], str]:
    """(rows, "") of the words of a query, which are separated by blanks; with `whole` a query that is itself a word is
    that word. A word that is not in `words` gets its row from `oov`. ([], problem) when it has none: what is missing in
    `place`, and a near spelling if any."""
    if whole and (row := words.find(query)) >= 0:
        return [row], ""
    rows = []
    for word in query.translate(_BLANKS).split(" "):
        if not word:
            continue
        row = words.find(word)
        if row < 0 and oov is not None:
            row = oov.row(word)
        if row < 0:
            near = near_spelling(words, word)
            return [], f"{word!r} is not in {place}" + (f"; did you mean {near!r}?" if near else "")
        rows.append(row)
    return rows, ""


def near_spelling(words: WordList, word: str) -> str:
    """The first (most frequent) word that differs in case only or, failing that, by one edit: a character dropped,
    added, replaced or two swapped. "" when there is none."""
    for case in (word.lower(), word.capitalize(), word.title(), word.upper()):
        if words.find(case) >= 0:
            return case
    if len(word) > 50:
        return ""
    edits = _edits(word) | _edits(word.lower())
    found = min((row for edit in edits if (row := words.find(edit)) >= 0), default=-1)
    return words[found] if found >= 0 else ""


def _edits(word: str) -> set[str]:
    letters = set(_LETTERS) | set(word)
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    edits = {left + right[1:] for left, right in cuts if right}
    edits |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    edits |= {left + letter + right[1:] for left, right in cuts if right for letter in letters}
    edits |= {left + letter + right for left, right in cuts for letter in letters}
    return edits
