"""Files of language models: whole ones to begin with, and what the commands ask of one that was read."""

import io
import tempfile
from functools import cache
from pathlib import Path

from tests.fuzz.seeds import golden, written
from tests.lm.golden import kenlm_files as golden_kenlm_files
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.lm import neural_files as container
from wv_cli.lm.asking import LanguageModel
from wv_cli.lm.config import LmConfig
from wv_cli.lm.count_files import load as load_counts
from wv_cli.lm.count_files import save as save_counts
from wv_cli.lm.count_files import sum_counts
from wv_cli.lm.counts import count
from wv_cli.lm.estimate import estimate
from wv_cli.lm.files import load, load_ngrams, save
from wv_cli.lm.generating import Generator
from wv_cli.lm.kenlm import KenlmModel
from wv_cli.lm.scoring import Scorer
from wv_cli.lm.sentences import encode_sentences
from wv_cli.models.config import NeuralConfig
from wv_cli.models.neural import NeuralLm
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.text.config import VocabConfig
from wv_cli.text.source import Source

TEXT = Path(__file__).parent.parent / "golden" / "lm" / "sentences20.txt"


def arpa_files() -> list[bytes]:
    """KenLM's, and one as other toolkits write them: spaces, no back-off of 0, CRLF, -99 for <s>."""
    kenlm = golden("lm/micro.o3.arpa", "lm/micro.o3.prune1.arpa", "lm/fallback.o2.arpa")
    other = kenlm[0].replace(b"\n0\t<s>", b"\n-99\t<s>").replace(b"\t0\n", b"\n").replace(b"\t", b" ")
    return [*kenlm, other.replace(b"\n", b"\r\n")]


@cache
def kenlm_files() -> list[bytes]:
    """KenLM's binaries: hashed, a trie, and one with all that can be made smaller."""
    with tempfile.TemporaryDirectory() as folder:
        files = golden_kenlm_files(Path(folder))
        return [(files / f"sri.{name}.bin").read_bytes() for name in ("probing", "trie", "trie-q4-a8")]


def kenlm_file(path: Path) -> None:
    model = load(path)
    ask(model)
    if isinstance(model, KenlmModel) and "trie" in model.type:
        save("/dev/null", model.unpack(), format="arpa")


@cache
def binary_files() -> list[bytes]:
    text = TEXT.with_name("micro.train.txt")
    made = []
    for config in (
        LmConfig(order=3),
        LmConfig(order=1, smoothing="katz", discount_fallback=True),
        LmConfig(order=2, smoothing="witten-bell", prune="1"),
    ):
        model = estimate(count([str(text)], config), config).model
        made.append(written(lambda path, model=model: save(str(path), model), "file.lm"))
    made.append(written(lambda path: save(str(path), model, quantize=2), "file.lm"))
    return [*made, *golden("lm/version-0.3.0.lm")]


@cache
def neural_files() -> list[bytes]:
    """One of each kind of output, of both models."""
    corpus = encode_sentences([str(TEXT.with_name("micro.train.txt"))], VocabConfig(min_count=1))
    made = []
    for config in (
        NeuralConfig(dim=3, hidden=4, order=3, negative=4, direct=True, epochs=1),
        NeuralConfig(model="lbl", loss="hs", dim=3, epochs=1),
        NeuralConfig(model="lbl", loss="hs", tree="random", codes=2, dim=3, epochs=1),
        NeuralConfig(model="lbl", loss="class", dim=3, context_matrices="diagonal", epochs=1),
        NeuralConfig(model="lbl", loss="softmax", dim=3, tie=True, epochs=1),
    ):
        model = NeuralLm(config, corpus)
        train(Threads(model))
        stream = io.BytesIO()
        container.write(stream, model.model())
        made.append(stream.getvalue())
    return made


def neural_file(path: Path) -> None:
    ask(load(path))


def count_files() -> list[bytes]:
    texts = [str(TEXT.with_name(f"{name}.train.txt")) for name in ("micro", "fallback")]
    made = [count([text], LmConfig(order=order)) for order, text in enumerate(texts, 2)]
    return [written(lambda path, counts=counts: save_counts(str(path), counts)) for counts in made]


def count_file(path: Path) -> None:
    counts = load_counts(path)
    config = LmConfig(order=counts.trie.order, smoothing="witten-bell")
    ask(estimate(sum_counts([counts, counts]), config).model)


def model_file(path: Path) -> None:
    model = load_ngrams(path)
    ask(model)
    save("/dev/null", model, format="arpa")
    save("/dev/null", model, format="binary")


def ask(model: LanguageModel) -> None:
    """What score, next and sample do."""
    for ends in (True, False):
        for _ in Scorer(model, ends=ends).read(Source([str(TEXT)])):
            pass
        generator = Generator(model, ends=ends)
        for start in ("", "a b", "the xyzzy a"):
            generator.next_words(start, 3)
        list(generator.sample(2, 1, start="a", max_words=5))


def perplexity(path: Path) -> None:
    """The text is damaged, the model is whole."""
    row, model = TASKS["perplexity"], path.with_name("model.lm")
    row.run([Vectors(str(model), lambda: load(model))], [str(path)], row.config(resamples=20))  # type: ignore[arg-type, return-value]
