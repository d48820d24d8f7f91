"""Figures of speed in the guides: those of the records, in blocks that benchmarks/tables.py makes, and no others."""

import re

import pytest

from tests.guides.prose import passages
from tests.walk import for_each
from wv_cli.guides import GUIDES, guide_text

_MANY = r"(?:\d[\d.,]*(?:-\d[\d.,]*)?|two|three|four|five|ten|(?:some |about )?(?:hundreds?|thousands?)(?: of)?)"
_PART = r"(?:half|thirds?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|\w+teenths?|twentieths?)"
_TIME = r"(?:\S+ )?(?:(?:processor|CPU) )?(?:time|speed|work)\b"
_FASTER = r"(?:as (?:fast|quick|slow|much time)|faster|slower|quicker|sooner|less time)"
FIGURE = re.compile(
    "|".join(
        [
            rf"\b(?:twice|{_MANY} ?(?:x|times)) (?:{_FASTER}|(?:the|of|that of) {_TIME})",
            rf"\b(?:an? |\w+ )?{_PART} (?:{_FASTER}|of {_TIME})",
            rf"\d ?% (?:{_FASTER}|of {_TIME})",
            r"\d ?(?:[kMG]?B|(?:k |million )?(?:words|lines|rows|queries|texts))(?:/s\b| (?:a|per) second)",
            r"\d ?(?:s|seconds?|minutes?) of (?:processor|CPU) time",
        ]
    ),
    re.IGNORECASE,
)
_MADE = re.compile(r"<!-- (?:figures|table): [\w-]+ -->.*?<!-- end -->", re.DOTALL)


def figures(markdown: str) -> list[str]:
    """The figures of speed in the sentences and tables of a text, those of blocks left out."""
    prose = _MADE.sub("", markdown)
    return [found[0] for passage in passages(prose) for found in FIGURE.finditer(passage)]


@pytest.mark.parametrize("guide", [name for name in GUIDES if name != "changes"])
def test_a_figure_of_speed_has_its_record(guide: str) -> None:
    loose = figures(guide_text(guide))
    assert not loose, f"state it in a block <!-- figures: NAME -->, or point to the guide why-fast: {loose}"


@for_each(
    "sentence, found",
    [
        ("word2vec takes 25 times the processor time of wv.", ["25 times the processor time"]),
        ("It is 3.5 x as fast, and twice as fast with hs.", ["3.5 x as fast", "twice as fast"]),
        ("Training takes about a sixth of fastText's processor time.", ["a sixth of fastText's processor time"]),
        ("subword vectors about an eighteenth of the time", ["an eighteenth of the time"]),
        ("a third faster, up to 20 % faster", ["a third faster", "0 % faster"]),
        ("one thread trains on 1-4 million words a second", ["4 million words a second"]),
        ("It takes 1.8\ns of processor time.", ["8 s of processor time"]),
        ("Its vectors take thousands of times the work.", ["thousands of times the work"]),
        ("They bring 1.4-2.0 times the speed of one.", ["1.4-2.0 times the speed"]),
        ("A third of their neighbors; three times; a tenth of its vectors; `2 x as fast`", []),
        ("<!-- figures: a -->\n| 2 times as fast |\n<!-- end -->\n", []),
        ("| skip-gram | 5 times faster |\n", ["5 times faster"]),
    ],
)
def test_what_a_figure_of_speed_is(sentence: str, found: list[str]) -> None:
    text = re.sub(r"`[^`]*`", "", sentence)
    assert figures(text) == found
