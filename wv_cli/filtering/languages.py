"""FineWeb-2's thresholds and stop words of 1,929 languages, by their ISO 639-3 code and script, such as deu_Latn.

The table is recipes/fineweb2.tsv, which benchmarks/fineweb2_table.py makes of FineWeb-2's published configuration."""

import difflib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from wv_cli.errors import UsageError

# Scripts that have no blanks between words, and what of --tokenize cuts them.
SEGMENTERS: Mapping[str, str] = {"Hani": "jieba", "Jpan": "fugashi", "Thai": "pythainlp"}
UNSEGMENTED = frozenset({*SEGMENTERS, "Khmr", "Laoo", "Mymr", "Tibt"})


class LanguageRules(NamedTuple):
    """Bounds by statistic and comparison, such as `repeated-lines<=`; those that reject nothing are left out. In some
    languages hyphens join letters to one word, or a word begins behind an apostrophe."""

    bounds: Mapping[str, float]
    stop_words: tuple[str, ...]
    keeps_hyphens: bool
    cuts_apostrophes: bool


@cache
def _rows() -> tuple[list[str], dict[str, list[str]]]:
    """(names of the columns, cells of each language)."""
    text = (files("wv_cli.filtering") / "recipes" / "fineweb2.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]
    return rows[0][1:-2], {row[0]: row[1:] for row in rows[1:]}


def languages() -> list[str]:
    """The names of all languages."""
    return [*_rows()[1]]


def rules_of_language(name: str) -> LanguageRules:
    """Those of a language. Raises UsageError for an unknown one."""
    columns, rows = _rows()
    if name not in rows:
        raise UsageError(f"unknown language {name!r}; {_advise_language(name)}")
    *cells, rules, words = rows[name]
    bounds = {column: float(cell) for column, cell in zip(columns, cells, strict=True) if cell}
    return LanguageRules(bounds, tuple(words.split(" ")), "keep-hyphens" in rules, "cut-apostrophes" in rules)


def _advise_language(name: str) -> str:
    if name.lower()[:3] == "eng":
        return "FineWeb-2 has no English; its rules are --rules fineweb"
    code = name.partition("_")[0].lower()
    near = [each for each in languages() if each.startswith(f"{code}_")] if len(code) == 3 else []
    near = near or difflib.get_close_matches(name, languages(), n=3)
    near = near or [each for each in languages() if code and each.startswith(code)][:5]
    expected = "expected an ISO 639-3 code and a script, such as deu_Latn"
    return f"did you mean {', '.join(near)}?" if near else expected
