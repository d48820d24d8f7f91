"""The names of functions: what one does or returns, never a bare participle or adverb, and never `of`."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "wv_cli"
# Participles that do not end in -ed or -ing, and adverbs.
IRREGULAR = re.compile(
    "begun|bound|broken|built|chosen|done|drawn|found|given|gone|heard|held|kept|known|left|lost|made|met|said|seen|sent"
    "|shown|sought|spent|spoken|taken|told|written|above|again|ahead|alone|anew|apart|aside|away|behind|below|beyond"
    "|first|inside|last|later|most|of|once|only|others|outside|together"
)
NOUNS = re.compile("embed|embedding|encoding|feed|heading|need|pending|reading|seed|speed|string")
OTHERS = {"supervised"}  # of fastText's command of this name


def is_bare(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in OTHERS or NOUNS.fullmatch(word):
        return False
    return bool(IRREGULAR.fullmatch(word) or re.search("[^e]ed$|ing$", word))


def functions(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("name", ["kept", "_judged", "of", "joining", "_together"])
def test_what_is_bare(name: str) -> None:
    assert is_bare(name) and not any(map(is_bare, ("seed", "is_kept", "from_words", "encoding", "embed")))


def test_no_function_is_named_by_a_bare_participle_or_adverb() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name in functions(path)
        if is_bare(name)
    }
    assert found == set()
