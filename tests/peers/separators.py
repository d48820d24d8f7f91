"""What parts the words of a line: a question is a kind of character between two words."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.peers import Answers, executable, package, wv

CHARACTERS = {
    "blank, tab": " \t",
    "CR": "\r",
    "vertical tab, form feed": "\v\f",
    "NUL": "\0",
    "U+001C to U+001F": "\x1c\x1d\x1e\x1f",
    "U+0085 (next line)": "\x85",
    "U+00A0 (no-break space)": "\xa0",
    "U+2028, U+2029": "\u2028\u2029",
    "U+3000 and other wide or narrow blanks": "\u3000\u2003\u1680\u202f\u205f",
    "U+200B, U+FEFF": "\u200b\ufeff",
}


def answers(words_of: Callable[[Path], list[str]]) -> Callable[[str], str]:
    """What becomes of the two words, by a function that returns the words of a file."""

    def answer(question: str) -> str:
        seen = []
        for character in CHARACTERS[question]:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "text.txt"
                path.write_text(f"aa{character}bb\n" * 5, encoding="utf-8", newline="")
                words = {word for word in words_of(path) if word != "</s>"}
            kinds = {("aa", "bb"): "two words", (f"aa{character}bb",): "one word", ("aabb",): "one word without it"}
            kinds[("aa",)] = "the second word is lost"
            seen.append(kinds[tuple(sorted(words))])
        assert len(set(seen)) == 1, seen
        return seen[0]

    return answer


def _gensim(path: Path) -> list[str]:
    from gensim.models.word2vec import LineSentence

    return [word for line in LineSentence(str(path)) for word in line]


def _word2vec(path: Path) -> list[str]:
    saved = path.with_name("vocab")
    command = [os.environ["WORD2VEC"], "-train", path, "-save-vocab", saved, "-min-count", "1"]
    subprocess.run(command, check=True, capture_output=True)
    return [line.rsplit(" ", 1)[0] for line in saved.read_text(encoding="utf-8").split("\n")[:-1]]


def _fasttext(path: Path) -> list[str]:
    import fasttext

    return list(fasttext.tokenize(path.read_bytes().decode()))


def _wv(path: Path) -> list[str]:
    import wv_cli

    wv_cli.build_vocab([path], output=path.with_name("vocab"), min_count=1)
    return [line.rsplit(" ", 1)[0] for line in path.with_name("vocab").read_text(encoding="utf-8").split("\n")[:-1]]


TABLE = Answers(
    "between two words",
    [*CHARACTERS],
    [
        executable("word2vec 20c129a", "WORD2VEC", answers(_word2vec)),
        package("fasttext==0.9.3", answers(_fasttext), "fastText"),
        package("gensim==4.4.0", answers(_gensim), "gensim"),
        wv(answers(_wv)),
    ],
)
