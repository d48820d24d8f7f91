"""What readers of ARPA files make of files and texts that are seldom seen."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.conftest import run_wv
from tests.peers import Answers, package, wv

UNIGRAMS = ["-1.0\t<unk>", "0\t<s>\t-0.3", "-0.6\t</s>", "-0.5\tthe\t-0.2", "-0.9\tking\t-0.1"]
BIGRAMS = ["-0.4\t<s> the", "-0.3\tthe king", "-0.2\tking </s>"]


def arpa(order: int = 2, *, unigrams: list[str] = UNIGRAMS, bigrams: list[str] = BIGRAMS, blank: str = " ") -> str:
    """An ARPA file; above order 2 every level repeats `the`."""
    levels = [unigrams, bigrams, *(["-0.1\t" + " ".join(["the"] * length)] for length in range(3, order + 1))][:order]
    if order > 2:
        levels[1:2] = [[*(f"{row}\t-0.1" for row in bigrams), "-0.7\tthe the\t-0.1"]]
        levels[2:-1] = [[f"{level[0]}\t-0.1"] for level in levels[2:-1]]
    counts = "".join(f"ngram{blank}{length}={len(level)}\n" for length, level in enumerate(levels, 1))
    parts = [f"\\{length}-grams:\n" + "".join(f"{row}\n" for row in level) for length, level in enumerate(levels, 1)]
    return f"\\data\\\n{counts}\n" + "\n".join(parts) + "\n\\end\\\n"


WORDS_ONLY = ["\t".join(row.split("\t")[:2]) for row in UNIGRAMS]
SPELLED = [row.replace("<unk>", "<UNK>") for row in UNIGRAMS]
# The file and the text, by question; without a text: can it be read?
CASES: dict[str, tuple[str, str | None]] = {
    "order 7": (arpa(7), None),
    "order 1": (arpa(1, unigrams=WORDS_ONLY), None),
    "`ngram  1=` with two blanks": (arpa(blank="  "), None),
    "a back-off of 0 behind the highest order": (arpa(bigrams=[f"{row}\t0" for row in BIGRAMS]), None),
    "a back-off of -0.1 behind the highest order": (arpa(bigrams=[f"{row}\t-0.1" for row in BIGRAMS]), None),
    "the score of an empty text": (arpa(), ""),
    "an unknown word": (arpa(), "queen"),
    "an unknown word, without `<unk>`": (arpa(unigrams=UNIGRAMS[1:]), "queen"),
    "an unknown word, with `<UNK>`": (arpa(unigrams=SPELLED), "queen"),
    "`<s>` within a text": (arpa(), "the <s> king"),
    "`</s>` within a text": (arpa(), "the </s> king"),
}


def answers(score: Callable[[Path, str], float | str]) -> Callable[[str], str]:
    """By a function that returns log10 of a text's probability, or how it is refused."""

    def answer(question: str) -> str:
        file, text = CASES[question]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.arpa"
            path.write_text(file, encoding="utf-8")
            found = score(path, "the king" if text is None else text)
        if isinstance(found, str):
            return found
        return "read" if text is None else f"{found:.2f}"

    return answer


def _kenlm(path: Path, text: str) -> float | str:
    import kenlm

    try:
        return float(kenlm.Model(str(path)).score(text))
    except OSError:
        return "refused"


def _arpa(path: Path, text: str) -> float | str:
    import arpa as library

    try:
        return float(library.loadf(str(path))[0].log_s(text))
    except Exception as error:
        return f"`{type(error).__name__}`"


def _wv(path: Path, text: str) -> float | str:
    ended = run_wv("lm", "score", path, "-", "--json", input=f"{text}\n")
    if ended.returncode:
        return "refused"
    return float(json.loads(ended.stdout)["log10"])


TABLE = Answers(
    "file or text",
    [*CASES],
    [package("kenlm==0.3.0", answers(_kenlm)), package("arpa==0.1.0b4", answers(_arpa)), wv(answers(_wv))],
)
