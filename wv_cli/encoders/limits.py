"""Refuses a tokenizer.json that makes far more of a text than there is, before any text is read with it, and stops one
that takes far too long.

Each step of the normalizer is tried on a short text, which holds the step's own patterns, so that no step can make much
of much. The `tokenizers` package itself gives up on a regular expression that takes too long at one place of a text;
Pace stops one that takes nearly as long at many.
"""

import json
import string
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.errors import BadFile

if TYPE_CHECKING:
    import tokenizers

_LONGER = 16  # times a text may become longer
_STEP = 256  # characters that a step puts in the place of others
_TEMPLATE = 1 << 14  # bytes of the settings of a post-processor
WORD = 10_000  # characters of a word that is searched for pieces, which takes their square
_AT_ONCE = 4096  # texts whose tokens are objects of Python
_FIRST, _GROWTH, _LARGEST = 256, 4, 1 << 20  # characters of a batch
_SLOWEST, _PATIENCE = 1000, 2.0  # characters in a processor second; seconds of a batch that are not judged


def require_bounded(path: Path, tokenizer: "tokenizers.Tokenizer") -> None:
    """Raises BadFile."""
    if tokenizer.normalizer is not None:
        _require_short(path, tokenizer.normalizer)
    after = tokenizer.post_processor
    if after is not None and len(after.__getstate__()) > _TEMPLATE:
        problem = f"expected a post-processor of at most {_TEMPLATE:,} bytes, found {len(after.__getstate__()):,}"
        raise BadFile(path, problem)
    require_short_words(path, getattr(tokenizer.model, "max_input_chars_per_word", 0))


def require_short_words(path: Path, longest: object) -> None:
    """Raises BadFile for a max_input_chars_per_word beyond WORD; what is no number is judged elsewhere."""
    if isinstance(longest, int) and longest > WORD:
        raise BadFile(path, f"expected max_input_chars_per_word of at most {WORD:,}, found {longest:,}")


def _require_short(path: Path, normalizer: "tokenizers.normalizers.Normalizer") -> None:
    from tokenizers.normalizers import Lowercase

    steps = [*_steps(json.loads(normalizer.__getstate__()))]
    texts = [text for step in steps for text in _strings(step)]
    if (longest := max(map(len, texts), default=0)) > _STEP:
        raise BadFile(path, f"expected strings of a normalizer of at most {_STEP} characters, found one of {longest:,}")
    text = string.printable + "".join(texts)[: 1 << 12]
    most = _LONGER * len(text)
    for step in steps:
        one = Lowercase()  # any step, which becomes this one
        one.__setstate__(json.dumps(step).encode())
        text = one.normalize_str(text)
        if len(text) > most:
            raise BadFile(path, f"expected a normalizer that makes no text {_LONGER} times as long, found one")


def _steps(facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of a normalizer, those of sequences one by one."""
    inner = facts.get("normalizers")
    if facts.get("type") == "Sequence" and isinstance(inner, list):
        for each in inner:
            yield from _steps(each)
    else:
        yield facts


def _strings(facts: Any) -> Iterator[str]:
    """What a step looks for and what it puts there; not the table of a Precompiled one."""
    if isinstance(facts, dict) and facts.get("type") != "Precompiled":
        for name, value in facts.items():
            if name != "type":
                yield from [value] if isinstance(value, str) else _strings(value)


class Pace:
    """Batches of texts for a tokenizer, small at first, and the time that each takes."""

    def __init__(self, path: Path) -> None:
        self._path, self._room = path, _FIRST

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[str], bool]]:
        """(texts, whether they are a trial: the beginning of a text that is too long for a first batch). The tokenizer
        reads them before the next are asked for. Raises BadFile for one that reads too slowly."""
        first = 0
        while first < len(texts):
            last, characters = first + 1, len(texts[first])
            while last < min(len(texts), first + _AT_ONCE) and characters + len(texts[last]) <= self._room:
                characters += len(texts[last])
                last += 1
            trial = self._room < min(characters, _LARGEST)
            begin = time.process_time()
            yield ([texts[first][: self._room]] if trial else texts[first:last]), trial
            self._judge(min(characters, self._room) if trial else characters, time.process_time() - begin)
            self._room = min(self._room * _GROWTH, _LARGEST)
            first = first if trial else last

    def _judge(self, characters: int, seconds: float) -> None:
        if seconds > _PATIENCE and characters < seconds * _SLOWEST:
            wanted = f"expected a tokenizer that reads {_SLOWEST:,} characters in a second"
            why = "a regular expression that repeats a repetition takes so long"
            raise BadFile(self._path, f"{wanted}, found {characters / seconds:,.0f}; {why}")
