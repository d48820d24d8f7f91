"""Reference implementation of the heuristics: datatrove's definitions in plain Python, over tokens made by rules."""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np

from tests.reference import characters as classes
from wv_cli import _textstatistics

STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
POLICY = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
UNITS = "%|km|m|dm|cm|mm|ha|nm|yd|in|ft|kg|g|mg|t|lb|oz|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K"
KINDS = _textstatistics.character_classes()  # test_classes_are_those_of_unicode compares them with the reference
EDGES = [0, *(np.flatnonzero(np.diff(KINDS.astype(int))) + 1).tolist(), len(KINDS)]
ROWS = [(first, beyond - 1, int(KINDS[first])) for first, beyond in itertools.pairwise(EDGES)]


def members(kind: int, but: int = 0) -> str:
    """The inside of a character set of a regular expression."""
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last, of in ROWS if of & kind and not of & but)


LETTER, UPPER = members(classes.LETTER), members(classes.UPPER)
LOWER, QUOTE = members(classes.LETTER, classes.UPPER), members(classes.QUOTE)
EXCEPTIONS = {"".join(parts): parts for parts in _textstatistics.exceptions()}
COMMON_EXCEPTIONS = {"".join(parts): parts for parts in _textstatistics.exceptions(is_english=False)}
LONGEST = max(map(len, EXCEPTIONS))
OPENING = re.compile(rf"\.\.+|\+(?![0-9])|(?:US|[CA])\$|[{members(classes.OPENING)}]")
CLOSING = re.compile(
    rf"\.\.+\Z|[{members(classes.CLOSING)}]\Z|(?<=[0-9])(?:[+{members(classes.CURRENCY)}]|US\$|[CA]\$)\Z"
    rf"|(?<=[0-9])(?:{UNITS})\Z|(?<=.)['’][sS]\Z",
    re.DOTALL,
)
MARKS = (
    rf"\.\.+|…|[{members(classes.ICON)}]|(?<=[{LOWER}{QUOTE}])\.(?=[{UPPER}{QUOTE}])|(?<=[{LETTER}]),(?=[{LETTER}])"
    rf"|(?<=[0-9])[+\-*^](?=[0-9-])|(?<=[{LETTER}0-9])[:<>=/](?=[{LETTER}])"
)
HYPHENS = rf"|(?<=[{LETTER}0-9])(?:-{{1,3}}|–|——?|~)(?=[{LETTER}])"
APOSTROPHES = rf"|(?<=[{LETTER}]['’])(?=[{LETTER}])"
DIVIDERS = {
    keep + cut: re.compile(MARKS + HYPHENS * (not keep) + APOSTROPHES * bool(cut))
    for keep in (0, _textstatistics.KEEP_HYPHENS)
    for cut in (0, _textstatistics.CUT_APOSTROPHES)
}
LABEL = rf"[{LETTER}0-9_\-\0\u0080-\U0010ffff]+"
ADDRESS = re.compile(
    rf"(?:[{LETTER}0-9_+.\-]*?://)?(?:.+@)?(?:{LABEL}\.)+[{LOWER}]{{2,}}(?::[0-9]{{2,5}})?(?:[/?#].*)?", re.DOTALL
)
BEFORE_STOP = re.compile(rf"[0-9%+\-²{members(classes.CLOSING, classes.ICON)}]")
WORDLESS = re.compile(rf"[{members(classes.SYMBOL)}]+")
TERMINAL = {chr(code) for code in classes.TERMINAL_CODES}


def is_full_stop(word: str) -> bool:
    """Whether the dot behind the word is a token."""
    last = word[-1]
    kind = classes.character_class(ord(last))
    if kind & classes.UPPER:
        return len(word) > 1 and bool(classes.character_class(ord(word[-2])) & classes.UPPER)
    if kind & classes.LETTER:
        return True
    return bool(BEFORE_STOP.match(last)) or (kind == 0 and ord(last) >= 0x300)


def closing(word: str) -> int:
    if word.endswith(".") and not word.endswith(".."):
        return int(len(word) > 1 and is_full_stop(word[:-1]))
    match = CLOSING.search(word)
    return len(match[0]) if match else 0


def divide(word: str, rules: int = 0) -> list[str]:
    divider = DIVIDERS[rules & ~_textstatistics.FOREIGN]
    marks = [match for match in divider.finditer(word) if match.start()]
    if not marks or ADDRESS.fullmatch(word):
        return [word] * bool(word)
    edges = sorted({0, *(match.start() for match in marks), *(match.end() for match in marks), len(word)})
    return [word[first:last] for first, last in itertools.pairwise(edges)]


def split(word: str, exceptions: Mapping[str, list[str]], rules: int = 0) -> list[str]:
    """The tokens of a word between white space, before runs of them are joined."""
    ahead, behind = [], []
    while word and word not in exceptions:
        match = OPENING.match(word)
        before = len(match[0]) if match else 0
        if before and word[before:] in exceptions:
            ahead, word = [*ahead, word[:before]], word[before:]
            break
        after = closing(word[before:]) if word[before:] else 0
        if after and word[:-after] in exceptions:
            behind, word = [*behind, word[-after:]], word[:-after]
            break
        if not before and not after:
            break
        ahead += [word[:before]] * (before > 0)
        behind += [word[len(word) - after :]] * (after > 0)
        word = word[before : len(word) - after]
    middle = exceptions[word] if word in exceptions else divide(word, rules)
    return [*ahead, *middle, *behind[::-1]]


PLAIN = {word: split(word, {}) for word in EXCEPTIONS}


def join(parts: list[str], exceptions: Mapping[str, list[str]]) -> list[str]:
    """The tokens where runs that an exception's rules would give are cut as the exception, the longest ones first."""
    runs = [
        (first - last, first, last)
        for first in range(len(parts))
        for last in range(first + 2, min(first + LONGEST, len(parts)) + 1)
        if "".join(parts[first:last]) in exceptions and PLAIN["".join(parts[first:last])] == parts[first:last]
    ]
    seen: set[int] = set()
    chosen = {}
    for _, first, last in sorted(runs):
        if first not in seen and last - 1 not in seen:
            chosen[first] = last
        seen.update(range(first, last))
    found, at = [], 0
    while at < len(parts):
        last = chosen.get(at, at + 1)
        found += exceptions["".join(parts[at:last])] if at in chosen else [parts[at]]
        at = last
    return found


def tokens(text: str, rules: int = 0) -> list[str]:
    own = COMMON_EXCEPTIONS if rules & _textstatistics.FOREIGN else EXCEPTIONS
    return [token for word in text.split() for token in join(split(word, own, rules), own)]


def find_duplicates(items: list[str]) -> tuple[int, int]:
    """(items that came before, characters in them)."""
    seen, again = set(), []
    for item in items:
        again += [item] * (item in seen)
        seen.add(item)
    return len(again), sum(map(len, again))


def top_gram(words: list[str], n: int) -> int:
    grams = Counter(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    if not grams:
        return 0
    gram, count = grams.most_common(1)[0]
    return len(gram) * count


def repeated_grams(words: list[str], n: int) -> int:
    seen, characters, i = set(), 0, 0
    while i < len(words) - n + 1:
        gram = "".join(words[i : i + n])
        if gram in seen:
            characters += len(gram)
            i += n
        else:
            seen.add(gram)
            i += 1
    return characters


def sentences(line: str) -> int:
    count, ended = 1, False
    for token in tokens(line):
        mark = token in TERMINAL
        if ended and not mark and not all(classes.character_class(ord(c)) & classes.PUNCTUATION for c in token):
            count, ended = count + 1, False
        elif mark:
            ended = True
    return count


def fold(text: str) -> str:
    return re.sub("[A-Z]", lambda match: match[0].lower(), text)


def c4(text: str, terminal: bool) -> dict:
    found = {"curly": 0, "lorem": 0, "sentences": 0, "kept": []}
    for line in map(str.strip, text.splitlines()):
        words = line.split()
        if any(len(word) > 1000 for word in words):
            continue
        javascript, policy = "javascript" in fold(line), any(phrase in fold(line) for phrase in POLICY)
        line = re.sub(r"\[[0-9]*]|\[edit]|\[citation needed]", "", line)
        if terminal and (not line.endswith((".", "?", "!", '"', "'")) or line.endswith("...")):
            continue
        if len(words) < 3:
            continue
        found["lorem"] += "lorem ipsum" in fold(line)
        if not javascript:
            found["curly"] += "{" in line
            if not policy:
                found["sentences"] += sentences(line)
                found["kept"].append(line)
    return found


def statistics(
    text: str, cut: str | None = None, stop_words: Collection[str] = STOP_WORDS, rules: int = 0
) -> dict[str, float]:
    """Those of a text; its tokens are the words of `cut`, if given."""

    def ratio(part: int, whole: int) -> float:
        return part / whole if whole else 0

    words = tokens(text, rules) if cut is None else cut.split()
    plain = [word for word in words if not WORDLESS.fullmatch(word)]
    breaks = text.splitlines()
    pieces = re.split("\n+", text)
    paragraphs = re.split("\n{2,}", text.strip())
    lines = [line for line in text.split("\n") if line.strip()]
    any_line, terminal_line = c4(text, False), c4(text, True)
    return {
        "characters": len(text),
        "words": len(plain),
        "mean-word-length": ratio(sum(map(len, plain)), len(plain)),
        "longest-word": max(map(len, (text if cut is None else cut).split()), default=0),
        "hashes-per-word": ratio(text.count("#"), len(words)),
        "ellipses-per-word": ratio(text.count("...") + text.count("…"), len(words)),
        "newlines-per-word": ratio(text.count("\n"), len(words)),
        "words-with-letter": ratio(sum(any(map(str.isalpha, word)) for word in words), len(words)),
        "stop-words": len({*stop_words}.intersection(words)),
        "bullet-lines": ratio(sum(line.lstrip().startswith(("•", "-")) for line in breaks), len(breaks)),
        "ellipsis-lines": ratio(sum(line.rstrip().endswith(("...", "…")) for line in breaks), len(breaks)),
        "lines": len(lines),
        "long-lines": sum(len(line) >= 200 for line in text.split("\n")),
        "short-lines": ratio(sum(len(line) <= 30 for line in lines), len(lines)),
        "terminal-lines": ratio(sum(line[-1] in TERMINAL for line in lines), len(lines)),
        "repeated-characters": ratio(find_duplicates(lines)[1], len(text.replace("\n", ""))),
        "repeated-lines": ratio(find_duplicates(pieces)[0], len(pieces)),
        "repeated-line-characters": ratio(find_duplicates(pieces)[1], len(text)),
        "repeated-paragraphs": ratio(find_duplicates(paragraphs)[0], len(paragraphs)),
        "repeated-paragraph-characters": ratio(find_duplicates(paragraphs)[1], len(text)),
        **{f"top-{n}-gram": ratio(top_gram(words, n), len(text)) for n in (2, 3, 4)},
        **{f"repeated-{n}-grams": ratio(repeated_grams(words, n), len(text)) for n in range(5, 11)},
        "curly-brackets": any_line["curly"],
        "lorem-ipsum": any_line["lorem"],
        "javascript-lines": ratio(sum("javascript" in fold(line) for line in breaks), len(breaks)),
        "policy-lines": ratio(sum(any(phrase in fold(line) for phrase in POLICY) for line in breaks), len(breaks)),
        "sentences": any_line["sentences"],
        "terminal-curly-brackets": terminal_line["curly"],
        "terminal-lorem-ipsum": terminal_line["lorem"],
        "terminal-sentences": terminal_line["sentences"],
    }


# Why datatrove drops a document that misses a bound of FineWeb-2, by statistic and comparison.
REASONS = {
    ("characters", ">="): "empty",
    ("repeated-lines", "<="): "dup_line_frac",
    ("lines", ">="): "empty",
    ("terminal-lines", ">="): "line_punct_ratio",
    ("repeated-characters", "<="): "char_dup_ratio",
    ("newlines-per-word", "<="): "list_ratio",
    ("words", ">="): "gopher_short_doc",
    ("words", "<="): "gopher_long_doc",
    ("mean-word-length", ">="): "gopher_below_avg_threshold",
    ("mean-word-length", "<="): "gopher_above_avg_threshold",
    ("hashes-per-word", "<="): "gopher_too_many_hashes",
    ("ellipses-per-word", "<="): "gopher_too_many_ellipsis",
    ("bullet-lines", "<="): "gopher_too_many_bullets",
    ("ellipsis-lines", "<="): "gopher_too_many_end_ellipsis",
    ("words-with-letter", ">="): "gopher_below_alpha_threshold",
    ("stop-words", ">="): "gopher_enough_stop_words",
    **{(f"top-{n}-gram", "<="): f"top_{n}_gram" for n in (2, 3, 4)},
    **{(f"repeated-{n}-grams", "<="): f"duplicated_{n}_n_grams" for n in range(5, 11)},
}
