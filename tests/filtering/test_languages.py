"""FineWeb-2's rules by language: the table, `--heuristic RECIPE:LANGUAGE`, and what is refused."""

import json
import lzma
import re

import pytest

import wv_cli
from tests.conftest import GOLDEN
from tests.reference.heuristics import REASONS
from wv_cli.commands.parts.filter_rules import Rules
from wv_cli.errors import UsageError
from wv_cli.filtering.heuristics import HEURISTICS, RECIPES, recipe_bounds, statistics
from wv_cli.filtering.judge import Judge
from wv_cli.filtering.languages import languages, rules_of_language
from wv_cli.filtering.parsing import merge_rules, parse_rules
from wv_cli.filtering.scorer_options import ScorerOptions

GERMAN = "Im Haus der Tante steht ein Tisch aus Holz, und die Katze schläft darunter. " * 2


# Those of datatrove's second and third filter. Each tells of the first bound that a document misses.
FINEWEB = {"lines", "terminal-lines", "repeated-characters", "newlines-per-word"}
GOPHER_QUALITY = {bound.heuristic for bound in RECIPES["gopher-quality"]}


def rules(*texts: str) -> Rules:
    return Rules(heuristic=texts)


def ranges(*texts):
    merged = merge_rules([rule for text in texts for rule in parse_rules("heuristic", text)])
    return {rule.name: (rule.low, rule.high, rule.language) for rule in merged}


def test_every_language_has_bounds_of_statistics_of_the_recipe():
    of_language = {bound.heuristic + bound.comparison for bound in RECIPES["fineweb2"] if bound.bound != bound.bound}
    assert len(languages()) == 1929
    used = set()
    for name in languages():
        bounds = rules_of_language(name).bounds
        used |= bounds.keys()
        assert bounds.keys() <= of_language and all(bound >= 0 for bound in bounds.values()), name
        assert len(recipe_bounds("fineweb2", name)) == len(RECIPES["fineweb2"]) - len(of_language) + len(bounds)
    assert used == of_language and {bound.heuristic for bound in RECIPES["fineweb2"]} <= HEURISTICS.keys()


def test_the_bounds_are_those_of_the_published_file():
    """configs/deu_Latn.yml: 0 is no bound where datatrove takes it so (least length of words, lines with marks)."""
    inf = float("inf")
    found = ranges("fineweb2:deu_Latn")
    assert {language for *_, language in found.values()} == {"deu_Latn"}
    assert "terminal-lines" not in found and "short-lines" not in found
    for name, low, high in (
        ("repeated-lines", -inf, 0.263),
        ("newlines-per-word", -inf, 0.152),
        ("mean-word-length", -inf, 15),
        ("words-with-letter", 0.774, inf),
        ("top-3-gram", -inf, 0.153),
        ("repeated-10-grams", -inf, 0.098),
        ("repeated-characters", -inf, 0.1),
        ("words", 50, 100_000),
        ("stop-words", 2, inf),
    ):
        assert found[name][:2] == (low, high), name
    words = "der und die in von im den des mit das er dem als wurde für"
    assert rules_of_language("deu_Latn").stop_words == tuple(words.split())
    assert ranges("fineweb2:chj_Latn")["repeated-10-grams"][1] == 0  # no character may be repeated


def test_words_and_stop_words_are_those_of_the_language():
    def scores(*texts):
        judged = Judge(rules(*texts).all_rules, ScorerOptions()).score_batch([GERMAN.encode()])
        return {name: values[0] for name, values in judged.scores.items()}

    assert scores("stop-words:deu_Latn=..", "words=..") == {"stop-words": 3, "words": 28}
    assert scores("stop-words=..", "words=..") == {"stop-words": 0, "words": 30}  # "Im" is "I'm" in English alone


def test_a_language_holds_for_all_rules_of_a_run():
    together = rules("gopher-quality:deu_Latn", "stop-words=3..")
    assert [rule.low for rule in together.all_rules if rule.name == "stop-words"] == [3]
    assert {rule.language for rule in together.all_rules if rule.name == "stop-words"} == {"deu_Latn"}
    together.check()


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        (["fineweb2"], "--heuristic fineweb2: expected a language, such as fineweb2:deu_Latn"),
        (["fineweb2:"], "--heuristic fineweb2:: expected a language, such as fineweb2:deu_Latn"),
        (["gopher-quality:"], "unknown language ''; expected an ISO 639-3 code and a script, such as deu_Latn"),
        (["fineweb2:deu"], "--heuristic fineweb2:deu: unknown language 'deu'; did you mean deu_Latn?"),
        (["fineweb2:deu_Latin"], "did you mean deu_Latn?"),
        (["fineweb2:cmn_Hans"], "unknown language 'cmn_Hans'; did you mean cmn_Hani?"),
        (["fineweb2:eng_Latn"], "unknown language 'eng_Latn'; FineWeb-2 has no English; its rules are --rules fineweb"),
        (["fineweb2:xx_Xxxx"], "expected an ISO 639-3 code and a script"),
        (["stop-words:klingon=2.."], "--heuristic stop-words:klingon=2..: unknown language 'klingon'"),
        (["stop-words:=2.."], "unknown language ''"),
        (["c4:deu_Latn"], "--heuristic c4:deu_Latn: is the same in every language; leave out :deu_Latn"),
        (["lines:deu_Latn=1.."], "is the same in every language; leave out :deu_Latn"),
        (["fineweb3:deu_Latn"], "expected NAME=LOW..HIGH, or a recipe"),
        (["fineweb2:deu_Latn", "fineweb2:fra_Latn"], "expected one language, found fra_Latn"),
        (["fineweb2:tha_Thai"], "tha_Thai has no blanks between words; add --tokenize pythainlp"),
        (["words:khm_Khmr=50.."], "khm_Khmr has no blanks between words; add --tokenize blanks"),
    ],
)
def test_what_is_refused(texts, problem):
    with pytest.raises(UsageError, match=re.escape(problem)):
        rules(*texts).check()


def test_scripts_without_blanks_take_what_tokenize_cuts():
    Rules(heuristic=("fineweb2:cmn_Hani",), scoring=ScorerOptions(tokenize="unicode")).check()


def golden_documents():
    return [json.loads(line) for line in lzma.open(GOLDEN / "fineweb2.jsonl.xz", "rt", encoding="utf-8")]


def test_decisions_and_reasons_are_those_of_datatrove():
    """All decisions, and all reasons but three: 2025-09-03 is one word in Portuguese and Dutch, to us five."""
    documents, others = golden_documents(), []
    assert len(documents) == 145 and len({each["language"] for each in documents}) == 13
    for document in documents:
        language, text = document["language"], document["text"].encode()
        found = statistics([text], list(HEURISTICS), None, language)
        first: dict[int, str] = {}
        for bound in recipe_bounds("fineweb2", language):
            if not bound.keeps(found[bound.heuristic])[0]:
                number = 1 if bound.heuristic in FINEWEB else 2 if bound.heuristic in GOPHER_QUALITY else 0
                first.setdefault(number, REASONS[bound.heuristic, bound.comparison])
        reasons = [first[number] for number in sorted(first)]
        assert (reasons == []) == (document["reasons"] == []), (language, document["text"])
        others += [language] if reasons != document["reasons"] else []
    assert others == ["por_Latn", "por_Latn", "nld_Latn"]


def test_a_file_of_rules_and_python_take_a_language(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text('heuristic = "fineweb2:deu_Latn"\n', encoding="utf-8")
    german = [each for each in golden_documents() if each["language"] == "deu_Latn"]
    kept = [each["reasons"] == [] for each in german]
    assert any(kept) and not all(kept)
    for judge in (wv_cli.Filter(file), wv_cli.Filter(heuristic="fineweb2:deu_Latn")):
        assert [*judge([each["text"] for each in german]).keep] == kept
    with pytest.raises(UsageError, match="unknown language 'de'"):
        wv_cli.Filter(heuristic="fineweb2:de")
