"""What the module `fasttext`, its forks and `wv_cli.fasttext` make of odd calls. Most forks have the module's name, so
that an environment has one of them. NumPy is 2.0 or newer."""

import functools
import importlib
import lzma
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.conftest import GOLDEN
from tests.peers import Answers, package, wv


@functools.cache
def _one_vs_all() -> str:
    with tempfile.NamedTemporaryFile(suffix=".bin", delete=False) as file:
        file.write(lzma.decompress((GOLDEN / "cook-ova.bin.xz").read_bytes()))
    return file.name


def answers(module: str) -> Callable[[str], str]:
    def load(path: str | Path) -> Any:
        return importlib.import_module(module).load_model(str(path))

    def ask(call: Callable[[Any], Any], path: str | Path = GOLDEN / "ft-labels.bin") -> str:
        try:
            return _shown(call(load(path)))
        except ValueError:
            return "`ValueError`"
        except AttributeError:
            return "no such method"

    def answer(question: str) -> str:
        match question:
            case '`predict("bread")`':
                return ask(lambda model: model.predict("bread"))
            case '`predict("")`':
                return ask(lambda model: model.predict(""))
            case '`predict("bread\\n")`':
                return ask(lambda model: model.predict("bread\n"))
            case '`predict(["bread", "knife"])`':
                return ask(lambda model: model.predict(["bread", "knife"]))
            case "the largest probability of one-vs-all":
                return ask(_largest, _one_vs_all())
            case "length of `get_word_vector`":
                return ask(lambda model: float(np.linalg.norm(model.get_word_vector("bread"))))
        raise AssertionError(question)

    return answer


def _largest(model: Any) -> float:
    found = (model.predict(word, k=1)[1][0] for word in ("bread", "sauce", "eggs", "chicken", "the", "wine", "oven"))
    return float(max(found))


def _shown(found: Any) -> str:
    if isinstance(found, float):
        return f"{found:.6g}"
    labels, scores = found
    if isinstance(labels, tuple):
        return f"a tuple and {type(scores).__name__}: {labels[0]} {float(scores[0]):.4f}"
    if len(scores) and isinstance(scores[0], str):
        return "the labels of each text, no numbers"
    return f"lists of {type(labels[0]).__name__} and of {type(scores[0]).__name__}"


TABLE = Answers(
    "call",
    [
        '`predict("bread")`', '`predict("")`', '`predict("bread\\n")`', '`predict(["bread", "knife"])`',
        "the largest probability of one-vs-all", "length of `get_word_vector`",
    ],
    [
        package("fasttext==0.9.3", answers("fasttext")),
        package("fasttext-turbo==0.1.0", answers("fasttext")),
        package("fasttext-community==0.11.9", answers("fasttext")),
        package("fasttext-predict==0.9.2.4", answers("fasttext")),
        wv(answers("wv_cli.fasttext"), "`wv_cli.fasttext`"),
    ],
)  # fmt: skip
