"""Words as users type them: looked up, and the nearest spelling of one that is not there."""

from collections.abc import Callable, Sequence

from wv_cli.errors import show_word
from wv_cli.vectors.oov import OovRows
from wv_cli.words import WordList, split_words

Rest = Callable[[str], int]
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-'_."


def find_queries(
    words: WordList,
    queries: Sequence[str],
    name: str,
    *,
    oov: OovRows | None = None,
    whole: bool = True,
    rest: Rest | None = None,
) -> list[tuple[list[int], str]]:
    """find_words of each query, whose words are separated as in a text; with `whole` a query that is itself a word is
    that word."""
    own = words.find_all(WordList.from_words(queries)).tolist() if whole else [-1] * len(queries)
    fields = [[query] if row >= 0 else split_words(query) for row, query in zip(own, queries, strict=True)]
    return find_words(words, fields, name, oov=oov, rest=rest)


def find_words(
    words: WordList, asked: Sequence[Sequence[str]], name: str, *, oov: OovRows | None = None, rest: Rest | None = None
) -> list[tuple[list[int], str]]:
    """For each list of words (rows, ""): a word that is not in `words` gets its row from `oov`. ([], problem) when one
    has none: what is missing in `name`, and a near spelling if any. `rest`: see missing."""
    found = iter(words.find_all(WordList.from_words(word for each in asked for word in each)).tolist())
    return [_compose_rows(words, each, [next(found) for _ in each], name, oov, rest) for each in asked]


def _compose_rows(
    words: WordList, asked: Sequence[str], rows: list[int], name: str, oov: OovRows | None, rest: Rest | None
) -> tuple[list[int], str]:
    """(rows, "") with numbers of `oov` where there is no row; ([], problem) for the first word without either."""
    for i, word in enumerate(asked):
        if rows[i] < 0 and oov is not None:
            rows[i] = oov.row(word)
        if rows[i] < 0:
            return [], describe_missing(words, word, name, rest, "_".join(asked))
    return rows, ""


def describe_missing(words: WordList, word: str, name: str, rest: Rest | None = None, joined: str = "") -> str:
    """What to say of a word that is not in `words`, and was asked for in the phrase `joined`. When these are only the
    first of a file, `rest` gives the row of a word in all of it, or -1."""
    row = rest(word) if rest is not None else -1
    if len(word) > _LONG:
        return f"{show_word(word[:_LONG])}... ({len(word):,} characters) is not in {name}"
    if row >= 0:
        return (
            f"{show_word(word)} is beyond the limit of {len(words):,} rows of {name} (row {row + 1:,}); raise --limit"
        )
    near = joined if joined and words.find(joined) >= 0 else near_spelling(words, word)
    return f"{show_word(word)} is not in {name}" + (f"; did you mean {show_word(near)}?" if near else "")


def near_spelling(words: WordList, word: str) -> str:
    """The first (most frequent) word that differs in case only or, failing that, by one edit: a character dropped,
    added, replaced or two swapped. Failing that the longest word that is its beginning. "" when there is none."""
    cases = (word.lower(), word.capitalize(), word.title(), word.upper())
    for case, row in zip(cases, words.find_all(WordList.from_words(cases)).tolist(), strict=True):
        if row >= 0:
            return case
    if len(word) > 50:
        return ""
    edits = _edits(word) | _edits(word.lower())
    rows = words.find_all(WordList.from_words(edits))
    if (rows >= 0).any():
        return words[int(rows[rows >= 0].min())]
    stems = [word.lower()[:end] for end in range(len(word) - 2, max(_STEM, len(word) // 2) - 1, -1)]
    return next((stem for stem in stems if words.find(stem) >= 0), "")


_STEM = 4  # characters of a beginning that may be meant, and at least half of the word

_LONG = 1000  # characters of a word that a message shows whole


def _edits(word: str) -> set[str]:
    letters = set(_LETTERS) | set(word)
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    edits = {left + right[1:] for left, right in cuts if right}
    edits |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    edits |= {left + letter + right[1:] for left, right in cuts if right for letter in letters}
    edits |= {left + letter + right for left, right in cuts for letter in letters}
    return edits
