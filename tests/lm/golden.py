"""KenLM's files in tests/golden/lm, and the models that are to equal them."""

import lzma
import tarfile
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import GOLDEN
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import count
from wv_cli.lm.estimate import Estimate, estimate
from wv_cli.lm.model import Ngrams
from wv_cli.lm.model import unpack_model as in_memory
from wv_cli.text.source import Source

FOLDER = GOLDEN / "lm"
TINY = FOLDER / "tiny.train.txt.xz"
SENTENCES = FOLDER / "sentences20.txt"
VARIANTS = {
    "micro.o3": LmConfig(order=3),
    "micro.o3.iu0": LmConfig(order=3, interpolate_unigrams=False),
    "micro.o3.pad1000": LmConfig(order=3, vocab_pad=1000),
    "micro.o3.prune1": LmConfig(order=3, prune="1"),
    "micro2.o3": LmConfig(order=3, lmplz_last=True),
    "fallback.o2": LmConfig(order=2, discount_fallback=True),
}


@dataclass(frozen=True)
class Answer:
    """What KenLM's query says of a word or the end of a sentence."""

    oov: bool
    length: int
    score: float


def trained(path: Path, config: LmConfig, vocabulary=None) -> Estimate:
    return estimate(count([str(path)], config), config, vocabulary)


def text_of(name: str) -> Path:
    return FOLDER / f"{name.partition('.')[0]}.train.txt"


def entries(given: Ngrams) -> dict[str, tuple[float, float]]:
    """log10 p and back-off of every n-gram."""
    model = in_memory(given)
    trie, found = model.trie, {}
    for length in range(1, trie.order + 1):
        first = trie.level(length).start
        for node, row in enumerate(trie.rows(length).tolist(), first):
            backoff = float(model.backoff[node]) if length < trie.order else 0.0
            found[" ".join(trie.words[word] for word in row)] = (float(model.prob[node]), backoff)
    return found


def golden_entries(name: str) -> dict[str, tuple[float, float]]:
    lines = [line.split("\t") for line in (FOLDER / f"{name}.arpa").read_text().splitlines()]
    return {line[1]: (float(line[0]), float(line[2]) if len(line) > 2 else 0.0) for line in lines if len(line) > 1}


def answers(name: str) -> list[list[Answer]]:
    """What query printed, a list for each line of its input."""
    text = b"".join(Source([str(FOLDER / name)])).decode()
    lines = [line.split("\t") for line in text.splitlines() if "Total:" in line]
    return [[_answer(field) for field in line if not field.startswith("Total")] for line in lines]


def _answer(field: str) -> Answer:
    number, length, score = field.rpartition("=")[2].split()
    return Answer(number == "0", int(length), float(score))


def kenlm_files(folder: Path) -> Path:
    """KenLM's binary files and what they were made of, unpacked."""
    with tarfile.open(FOLDER / "kenlm.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def unpacked(path: Path, folder: Path) -> Path:
    """An .xz file as it was."""
    out = folder / path.stem
    out.write_bytes(lzma.decompress(path.read_bytes()))
    return out
