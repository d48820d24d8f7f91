"""Rules as they are written, and which documents they keep."""

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.commands.parts.filter_rules import Rules
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.filtering.flattening import FLATTENINGS, flatten
from wv_cli.filtering.judge import Judge
from wv_cli.filtering.parsing import merge_rules, parse_rule, parse_rules, require_different_names
from wv_cli.filtering.rule_files import read_rules
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.statistics import Histogram, RuleCounts, Totals

INF = float("inf")


@pytest.mark.parametrize(
    ("scorer", "text", "name", "subject", "low", "high", "is_open"),
    [
        ("words", "50..100000", "words", "words", 50, 100000, False),
        ("words", "50..", "words", "words", 50, INF, False),
        ("words", "..1e5", "words", "words", -INF, 1e5, False),
        ("words", "5..5", "words", "words", 5, 5, False),
        ("words", "..", "words", "words", -INF, INF, False),
        ("words", ">=50", "words", "words", 50, INF, False),
        ("words", "<50", "words", "words", -INF, 50, True),
        ("language", "lid.176.ftz:en,de>=0.65", "language", "lid.176.ftz:en,de", 0.65, INF, False),
        ("language", "lid.176.ftz:en=0.65..", "language", "lid.176.ftz:en", 0.65, INF, False),
        ("classifier", "q=m.bin:hq>0.5", "q", "m.bin:hq", 0.5, INF, True),
        ("classifier", "q=m.bin:hq=0.018112..0.9", "q", "m.bin:hq", 0.018112, 0.9, False),
        ("classifier", "q=a\nb.bin:hq>0.5", "q", "a\nb.bin:hq", 0.5, INF, True),
        ("perplexity", "a\nb.lm=..800", "perplexity", "a\nb.lm", -INF, 800, False),
        ("classifier", "a/b.bin:__label__x<=.5", "classifier", "a/b.bin:__label__x", -INF, 0.5, False),
    ],
)
def test_a_rule(scorer, text, name, subject, low, high, is_open):
    rule = parse_rule(scorer, text)
    assert (rule.name, rule.subject, rule.low, rule.high, rule.open) == (name, subject, low, high, is_open)
    assert rule.text == f"--{scorer} {text}"


@pytest.mark.parametrize(
    ("scorer", "text", "problem"),
    [
        ("words", "fifty", "expected a rule such as 50..100000"),
        ("words", "50", "expected a rule such as"),
        ("words", "9..5", "the range is empty"),
        ("words", "1..2..3", "expected a number, found '2..3'"),
        ("words", "e>=-", "expected a number, found '-'"),
        ("language", "lid.176.ftz:en", "such as 'lid.176.ftz:en>=0.5' (in quotes"),
        ("language", "lid.176.ftz", "expected a rule such as lid.176.ftz:en>=0.65"),
        ("contamination", "q.csv:question", "expected a comparison, such as 'q.csv:question<=0.5' (in quotes"),
        ("contamination", "b=q.csv:question", "expected a comparison, such as 'b=q.csv:question<=0.5' (in quotes"),
        ("contamination", "q.csv:question=0.5", "found =; write 'q.csv:question<=0.5' (in quotes"),
        ("contamination", "q.csv:q<=50%", "expected a number from 0 to 1 behind <=, such as 0.5; found '50%'"),
        ("contamination", "q.csv:q=..50%", "expected a number from 0 to 1 behind =.., such as 0.5; found '50%'"),
    ],
)
def test_what_is_no_rule(scorer, text, problem):
    with pytest.raises(UsageError) as error:
        parse_rule(scorer, text)
    assert problem in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("scorer", "text", "possible", "only_scores"),
    [
        ("words", "..", True, True),
        ("words", "0..", True, True),
        ("words", ">0", True, False),
        ("words", "<0", False, False),
        ("words", "<=0", True, False),
        ("classifier", "m.bin:baking>=2", False, False),
        ("classifier", "m.bin:baking>1", False, False),
        ("classifier", "m.bin:a>=1", True, False),
        ("classifier", "m.bin:a<=1", True, True),
        ("classifier", "m.bin:a<1", True, False),
        ("language", "m.bin:a=-1..0", True, False),
        ("perplexity", "m.arpa=0..", True, False),
        ("perplexity", "m.arpa=..", True, True),
        ("perplexity", "m.arpa<=-3", False, False),
    ],
)
def test_rules_that_keep_all_or_nothing(scorer, text, possible, only_scores, tmp_path, monkeypatch):
    """A text without a perplexity is kept by .. alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.bin").symlink_to(GOLDEN / "ft-labels.bin")
    rule = parse_rule(scorer, text)
    assert rule.only_scores is only_scores
    if possible:
        rule.require_possible()
        return
    with pytest.raises(UsageError, match=r"keeps no record; scores are 0 (to 1|or more), and the rule keeps "):
        rule.require_possible()


def test_a_perplexity_beyond_float32_is_infinite(tmp_path):
    """And no warning is given: words that a model does not know are nothing that a user can mend in the texts."""
    unigrams = "-1\t<s>\n-1\t</s>\n-1\tcat\n-100\t<unk>"
    (tmp_path / "m.arpa").write_text(f"\\data\\\nngram 1=4\n\n\\1-grams:\n{unigrams}\n\n\\end\\\n")
    scorer = parse_rule("perplexity", f"{tmp_path}/m.arpa<=1000").load_scorer(ScorerOptions())
    assert scorer([b"cat", b"zebra zebra"]).tolist() == [10, INF]


@pytest.mark.parametrize("text", ["q.csv:question<=50", "q.csv:question=..50"])
def test_a_share_is_no_percentage(text):
    with pytest.raises(UsageError, match=r"expected a bound from 0 to 1, found 50; write 0.5 for 50 %$"):
        parse_rule("contamination", text).require_possible()


def test_two_rules_need_two_names():
    with pytest.raises(UsageError, match="two rules are called language; give one a name: --language NAME="):
        require_different_names([parse_rule("language", "m:en>=1"), parse_rule("language", "m:de>=1")])
    require_different_names([parse_rule("language", "m:en>=1"), parse_rule("language", "other=m:de>=1")])


def test_the_first_rule_that_rejects_is_the_reason():
    rules = [parse_rule("words", "2.."), parse_rule("heuristic", "characters=..5")]
    texts = [b"a b", b"a", b"a bcdefg", "\N{LATIN SMALL LETTER E WITH ACUTE}t b".encode(), b""]
    for every in (False, True):
        found = Judge(rules, ScorerOptions()).score_batch(texts, every=every)
        assert found.reason.tolist() == [-1, 0, 1, -1, 0]
        assert found.scores["words"].tolist() == [2, 1, 2, 2, 0]
        assert found.scores["characters"].tolist() == [3, 1, 8, 4, 0]


def test_bounds():
    scores = np.array([1, 2, 3], np.float32)
    for text, kept in [
        ("2..", [0, 1, 1]),
        (">2", [0, 0, 1]),
        ("<2", [1, 0, 0]),
        ("..2", [1, 1, 0]),
        ("2..2", [0, 1, 0]),
    ]:
        assert parse_rule("words", text).accepts(scores).tolist() == [bool(stays) for stays in kept]
    assert parse_rule("words", ">=0.65").accepts(np.array([0.65], np.float32)).all()


def test_flattenings():
    """As each pipeline does it: str.splitlines and str.split know more than line ends in ASCII."""
    text = " A\nb\u2028c __label__x\r\n"
    wanted = {
        "space": " A b\u2028c __label__x\r ",
        "none": " Ab\u2028c __label__x\r",
        "strip-space": "A b\u2028c __label__x",
        "datatrove": "Ab\u2028c __label__x",
        "dclm": "A b c __label__x",
        "dolma": "a b\u2028c __label__x",
        "words": "A b c __label__x",
        "nemo": " A b\u2028c  x\r ",
    }
    assert set(wanted) == set(FLATTENINGS)
    for name, flat in wanted.items():
        assert flatten([text.encode(), b""], name).decode() == f"{flat}\n\n", name


def test_percentiles():
    """Whole numbers up to 65,536 as they are, others to 4 digits; added up in parts they are the same."""
    values = np.arange(101, dtype=np.float32)
    whole, parts = Histogram(), Histogram()
    whole.add(values)
    for part in np.array_split(values[::-1], 7):
        parts.add(part)
    assert whole.percentiles() == parts.percentiles() == values.tolist()
    assert Histogram.from_json(whole.to_json()).percentiles() == values.tolist()
    assert Histogram().percentiles() == []
    some = Histogram()
    some.add(np.array([-1000.5, 0, 0.65, 12345, 1003], np.float32))
    assert np.unique(some.percentiles()).tolist() == [-1000, 0, 0.65, 1003, 12345]
    merged = Histogram.from_json(some.to_json())
    merged.merge(whole)
    assert sum(merged.to_json().values()) == 106 and merged.percentiles()[50] == 50


def test_totals_are_saved_and_read_again():
    totals = Totals({"words": RuleCounts()}, 3, 2, 10, 5)
    totals.rules["words"].add(np.array([1, 2, np.inf], np.float32), np.array([True, False, True]))
    again = Totals.from_json(totals.to_json())
    assert again.to_dict() == totals.to_dict()
    assert (again.rules["words"].seen, again.rules["words"].rejected) == (3, 1)


def test_rules_in_a_file(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('words = "50.."\nheuristic = ["characters=5..", "mean-word-length=..9"]\nflatten = "dclm"\n')
    given = [("words", "50.."), ("heuristic", "characters=5.."), ("heuristic", "mean-word-length=..9")]
    assert read_rules(str(path), Rules.settings()) == (given, {"flatten": "dclm"})
    for text, problem in [
        ("words = ", "expected TOML"),
        ('nosuch = "1.."', "found 'nosuch'"),
        (r'"a\nb" = "1.."', r"found 'a\\nb'"),
        (f"unit = 0x{'f' * 5000}", "unit: expected text, found what is too large to show"),
        ("\xff", "expected TOML"),
    ]:
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(BadFile, match=problem):
            read_rules(str(path), Rules.settings())
    with pytest.raises(WvError, match="cannot read"):
        read_rules(str(tmp_path / "none"), {})


def test_a_rule_beside_a_recipe():
    """A stricter bound counts, and one without effect is refused; recipes may overlap."""

    def merged(*texts):
        return {rule.name: rule for rule in merge_rules([each for text in texts for each in parse_rules(*text)])}

    recipe, other = ("heuristic", "gopher-quality"), ("heuristic", "gopher-repetition")
    rule = merged(recipe, ("words", "60..500"))["words"]
    assert (rule.low, rule.high) == (60, 500)
    assert rule.text == "--heuristic gopher-quality (words=50..100000) --words 60..500"
    assert merged(recipe)["stop-words"].text == "--heuristic gopher-quality (stop-words=2..)"
    assert merged(("heuristic", "characters=300.."), other)["characters"].low == 300
    for texts, end in (
        (
            [recipe, ("words", "20..500")],
            "lower bound has no effect: all rules hold, and another one about words has 50;",
        ),
        ([("heuristic", "words=..200000"), recipe], "upper bound has no effect: .* has 100000;"),
    ):
        with pytest.raises(UsageError, match=end):
            merged(*texts)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("gopher-quality", "gopher-quality is a recipe of heuristics: --heuristic gopher-quality"),
        ("C4", "c4 is a recipe of heuristics: --heuristic c4"),
        ("FineWeb", "did you mean --rules fineweb[?]"),
        ("nosuch", "shipped rules are ccnet, fineweb"),
    ],
)
def test_a_name_of_no_file_of_rules(name, way):
    with pytest.raises(WvError, match=f"^{name}: cannot read: .*; {way}$"):
        read_rules(name, {})


def test_a_name_is_no_part_of_a_path(tmp_path, monkeypatch):
    """What stands before the first = is a name only if it is an identifier and no file has the whole name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order=3.bin").touch()
    for text, name, subject in (
        ("order=3.bin:hq>=0.5", "classifier", "order=3.bin:hq"),
        ("q=order=3.bin:hq>=0.5", "q", "order=3.bin:hq"),
        ("order=4.bin:hq>=0.5", "order", "4.bin:hq"),
        ("runs/k=3.bin:hq>=0.5", "classifier", "runs/k=3.bin:hq"),
        ("3=x.bin:hq>=0.5", "classifier", "3=x.bin:hq"),
    ):
        rule = parse_rule("classifier", text)
        assert (rule.name, rule.subject) == (name, subject), text
    assert parse_rule("perplexity", "order=3.bin<=9").subject == "order=3.bin"
    assert parse_rule("classifier", "order=3.bin:hq>=0.5").absolute().subject == f"{tmp_path}/order=3.bin:hq"
