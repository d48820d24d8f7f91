"""What is told of raw text where words are learnt: marks and capitals that make several words of one, and scripts
without blanks. --tokenize unicode cuts such a script into less than words, which is told, too, and so are paragraphs
whose lines end at one width.

A sample is judged: the beginning, and of large files that can be read anywhere three more places. Of 10,000 words of
raw English, 9-13 % have marks attached; of tokenized news 1-2 %, which are abbreviations.
"""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from wv_cli.io.kinds import HEAD_BYTES
from wv_cli.text.cuts import is_packed
from wv_cli.text.raw_files import blocks, open_raw
from wv_cli.text.reading_config import TokenizeConfig, recipe_of
from wv_cli.text.records.kinds import record_kind

_PLACES = 4  # of a sample
_LEAST_LETTERS = 100
_LONGEST_WORDS = 7  # letters of these scripts in a piece, on average
# Scripts that part words by no blanks: their letters, what cuts them, and what a package is needed for.
_SCRIPTS = {
    "Chinese": ("\u3400-\u9fff", "jieba"),
    "Japanese": ("\u3041-\u30ff", "fugashi"),
    "Thai": ("\u0e00-\u0e7f", "pythainlp"),
    "Lao": ("\u0e80-\u0eff", "characters"),
    "Burmese": ("\u1000-\u109f", "syllables"),
    "Khmer": ("\u1780-\u17ff", "syllables"),
}
UNSEGMENTED = "".join(letters for letters, _ in _SCRIPTS.values())  # for a class of a regular expression
_PACKAGES = {"jieba": "jieba", "fugashi": "fugashi unidic-lite", "pythainlp": "pythainlp"}
_KANA_SHARE = 10  # one letter in so many is kana where a text is Japanese
_LEAST_WORDS = 20
# Shares of words from which it is told; capitals are those of words that stand in small letters, too.
_ATTACHED, _CAPITALS, _CAPITALS_WITH_MARKS = 0.03, 0.03, 0.01
_ENDS = '.,;:!?\u2026)]}"\u201d\u2019\u00bb\u060c\u061b\u061f\u0964'
_BEGINNINGS = '([{"\u201c\u2018\u00ab\u201e\u00bf\u00a1'
# A text whose lines are wrapped: its width in characters, the pairs of lines that tell, and the shares of these in
# which the next word had no room, that end within a sentence, and that go on in a small letter. Of wrapped English it
# is 90 %, 90 % and 80 %; of lines that have an end of their own a third have no room.
_WIDTHS, _LEAST_PAIRS = range(45, 101), 15
_NO_ROOM, _WITHIN, _SMALL = 0.6, 0.7, 0.4
_SENTENCE_ENDS = ".!?:;\u2026\"\u201d\u2019\u00bb'"
_JOIN = r"""tr -d '\r' < FILE | awk -v RS= '{ gsub("\n", " "); print }' > joined.txt"""


@functools.cache
def _letters_of(letters: str) -> re.Pattern[str]:
    """Compiled where a text is not ASCII: it takes milliseconds."""
    return re.compile(f"[{letters}]")


def note_unsegmented(head: bytes, *, advise: bool = False) -> str | None:
    """What is said of a text that begins with `head` if no blanks part its words, so that whole sentences are words.
    To `advise` is to name an option of the command itself."""
    if (script := _unsegmented_script(head)) is None:
        return None
    cut = _SCRIPTS[script][1]
    if advise:
        way = f"{cut} (pip install {_PACKAGES[cut]})" if cut in _PACKAGES else f"unicode, which cuts it into {cut}"
        return f"few blanks part its {script}, so that whole sentences are words; give --tokenize {way}{_guide(script)}"
    way = f"by wv tokenize --words {cut}" if cut in _PACKAGES else f"or let wv tokenize cut it into {cut}"
    return f"few blanks part its {script}, so that whole sentences are words; segment it first, {way}"


def note_cut(head: bytes, config: TokenizeConfig, option: str = "--tokenize") -> str | None:
    """What is said of a text that begins with `head` if it is cut into less than words, with the `option` that
    finds words: --tokenize or --words."""
    script = _unsegmented_script(head) if config.words == "unicode" else None
    if script is None:
        return None
    cut = _SCRIPTS[script][1]
    package = _PACKAGES.get(cut)
    words: Any = cut if package else "blanks"
    option += f" {words if option == '--words' else recipe_of(replace(config, words=words))}"
    way = f"give {option} (pip install {package})" if package else f"segment it first, and give {option}"
    return f"unicode cuts its {script} into {'characters' if package else cut}; for words {way}{_guide(script)}"


def _guide(script: str) -> str:
    return "; `wv help chinese` has the settings for a small text" if script == "Chinese" else ""


def _unsegmented_script(head: bytes) -> str | None:
    """The script of a text whose words no blanks part."""
    if head.isascii():
        return None
    text = head[:HEAD_BYTES].decode("utf-8", "ignore")
    found = {name: len(_letters_of(letters).findall(text)) for name, (letters, _) in _SCRIPTS.items()}
    number = sum(found.values())
    any_letter = _letters_of(UNSEGMENTED)
    pieces = [piece for piece in text.split() if any_letter.search(piece)]
    if number < _LEAST_LETTERS or 2 * number <= len(text) or number <= _LONGEST_WORDS * len(pieces):
        return None
    return "Japanese" if found["Japanese"] * _KANA_SHARE >= number else max(found, key=lambda name: found[name])


def note_raw(sample: bytes) -> str | None:
    """What is said of a text with this sample if several of its words are one, with the option that makes them one;
    None where it has been cut into words."""
    if note := note_unsegmented(sample, advise=True):
        return note
    spellings: defaultdict[str, dict[str, int]] = defaultdict(dict)
    words = attached = capitals = 0
    for word, count in Counter(sample.decode("utf-8", "replace").split()).items():
        if word.startswith("__") or not (word.isalpha() or any(map(str.isalpha, word))):
            continue
        bare = word if word.isalpha() else word.lstrip(_BEGINNINGS).rstrip(_ENDS)
        words += count
        attached += count * (bare != word)
        capitals += count * bare[:1].isupper()
        spellings[bare.lower()][word] = count
    if words < _LEAST_WORDS:
        return None
    several = {bare: Counter(found) for bare, found in spellings.items() if len(found) > 1 and bare.isalpha()}
    has_marks = attached >= _ATTACHED * words
    least = _CAPITALS_WITH_MARKS if has_marks else _CAPITALS
    has_capitals = _count_in_capitals(several) >= least * words
    if not several or not (has_marks or has_capitals):
        return None
    said = [f"{attached / words:.0%} of its words have marks attached"] * has_marks
    said += [f"{capitals / words:.0%} {'' if has_marks else 'of its words '}begin with a capital"] * has_capitals
    if not has_marks:
        several = {bare: _without_marks(found) for bare, found in several.items()}
    option = f"--tokenize unicode{',lowercase' * has_capitals}" if has_marks else "--lowercase"
    return f"{' and '.join(said)} ({_example(several)}); give {option} to make them one"


def note_wrapped(head: bytes) -> str | None:
    """What is said of a text that begins with `head` if its lines are cut where a width is reached. Words of two lines
    are never neighbors."""
    lines = [line.strip() for line in head.decode("utf-8", "replace").split("\n")[:-1]]
    pairs = [(line, following) for line, following in dict.fromkeys(pairwise(lines)) if line and following]
    if len(pairs) < _LEAST_PAIRS:
        return None
    width = sorted(len(line) for line, _ in pairs)[len(pairs) * 9 // 10]
    no_room = sum(len(line) + 1 + len(following.split()[0]) > width for line, following in pairs)
    within = sum(line[-1] not in _SENTENCE_ENDS for line, _ in pairs)
    small = sum(following[0].islower() for _, following in pairs)
    shares = [count / len(pairs) for count in (no_room, within, small)]
    if width not in _WIDTHS or any(
        share < least for share, least in zip(shares, (_NO_ROOM, _WITHIN, _SMALL), strict=True)
    ):
        return None
    return (
        f"its lines end at {width} characters, {shares[1]:.0%} of them within a sentence, and words of two lines are "
        f"no neighbors; make a line of each paragraph (`wv help raw-text`): {_JOIN}"
    )


def _count_in_capitals(several: dict[str, Counter[str]]) -> int:
    """The words with capitals that the text has in small letters, too."""
    return sum(
        found[word] for bare, found in several.items() if bare in found for word in found if word != word.lower()
    )


def _without_marks(found: Counter[str]) -> Counter[str]:
    return Counter(
        {word: count for word, count in found.items() if word[-1] not in _ENDS and word[0] not in _BEGINNINGS}
    )


def _example(several: dict[str, Counter[str]]) -> str:
    """The word with the most spellings, of equals the longer and more frequent one."""
    found = max(several.items(), key=lambda item: (min(len(item[1]), 3), len(item[0]) > 2, item[1].total()))[1]
    shown = [word for word, _ in found.most_common(3)]
    return f"{' / '.join(shown)} are {len(shown)} words"


def read_sample(head: bytes, paths: Sequence[str]) -> bytes:
    """A sample of a text in these files that begins with `head`."""
    sizes = [_size(path) for path in paths]
    total, piece = sum(sizes), HEAD_BYTES // _PLACES
    if total < _PLACES * HEAD_BYTES:
        return head
    pieces = []
    for place in (total * number // _PLACES for number in range(1, _PLACES)):
        for path, size in zip(paths, sizes, strict=True):
            if place < size:
                pieces.append(_read_words(path, place, piece))
                break
            place -= size
    return b"\n".join([head[:piece] if any(pieces) else head, *pieces])


def _size(path: str) -> int:
    """The bytes of a file that can be read at any place, 0 of another one."""
    plain = path != "-" and Path(path).is_file() and record_kind(path) is None and not is_packed(path)
    return Path(path).stat().st_size if plain else 0


def _read_words(path: str, place: int, size: int) -> bytes:
    """The whole words among `size` bytes of a file."""
    with open_raw(path) as raw:
        raw.seek(place)
        words = next(blocks(raw, path, size), b"").split()
    return b" ".join(words[1:-1])
