"""Checkpoints and the log of a search for options; models so small that they are trained after each reading."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz import seeds
from wv_cli.commands.autotune import LabelSearch, Plan
from wv_cli.commands.autotune_log import Trial, TrialLog
from wv_cli.hashing.biohash import BioHash
from wv_cli.hashing.bioword import Bioword
from wv_cli.hashing.config import BiowordConfig, HashConfig
from wv_cli.lm.sentences import encode_sentences
from wv_cli.models.config import NeuralConfig, SupervisedConfig, Word2vecConfig
from wv_cli.models.doc2vec import Doc2vec
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.model import Glove
from wv_cli.models.glove.record_files import Counts, CountsFile
from wv_cli.models.glove.tiles import TileStore
from wv_cli.models.neural import NeuralLm
from wv_cli.models.pairs import PairCorpus, PairModel
from wv_cli.models.pooled import Pooled
from wv_cli.models.pooled_files import save_pooled
from wv_cli.models.pooled_reader import Reading, read_features
from wv_cli.models.sentence_config import Doc2vecConfig, PairsConfig, PooledConfig
from wv_cli.models.supervised import Supervised
from wv_cli.models.training import checkpoint
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.labeled import LabeledCorpus, encode_labeled
from wv_cli.text.vocab import read_vocab
from wv_cli.vectors.formats.document_models import save_model
from wv_cli.words import WordList


@cache
def corpus() -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(seeds.text())
        return encode([str(path)], VocabConfig(min_count=2))


@cache
def documents() -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(seeds.text())
        return encode([str(path)], VocabConfig(min_count=2), every_line=True)


@cache
def labeled() -> LabeledCorpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(seeds.text())
        return encode_labeled([str(path)], VocabConfig(min_count=1), keep_dropped=True)


@cache
def pairs() -> PairCorpus:
    """12 pairs of texts of two tokens."""
    ids, texts = np.arange(48, dtype=np.int32) % 10, np.arange(24, dtype=np.int32)
    return PairCorpus(ids, np.arange(0, 50, 2, dtype=np.int64), texts, 2, 10, "digest")


@cache
def glove() -> tuple[Glove, TileStore]:
    with tempfile.TemporaryDirectory() as folder:
        records, words = Path(folder) / "records", Path(folder) / "words"
        records.write_bytes(seeds.records()[1])
        words.write_bytes(seeds.vocabularies()[0])
        vocab = read_vocab(str(words))
        counts = Counts([CountsFile(str(records), vocab)], VocabConfig(min_count=1))
        store = TileStore(counts.stream(1 << 24, None), len(vocab), None, 1 << 24)
    return Glove(GloveConfig(dim=4, iterations=3, threads=1), vocab, store, "digest"), store


def _words(**options: Any) -> Callable[[], Any]:
    return lambda: Word2vec(Word2vecConfig(dim=4, epochs=2, threads=1, **options), corpus())


@cache
def sentences() -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_bytes(seeds.text())
        return encode_sentences([str(path)], VocabConfig(min_count=2))


def _neural(**options: Any) -> Callable[[], Any]:
    return lambda: NeuralLm(NeuralConfig(dim=4, epochs=2, threads=1, **options), sentences())


# A model of every kind that trains by steps.
MODELS: dict[str, Callable[[], Any]] = {
    "skipgram": _words(),
    "cbow": _words(model="cbow", loss="hs"),
    "nce": _words(loss="nce"),
    "subwords": _words(minn=2, maxn=3, buckets=100),
    "supervised": lambda: Supervised(SupervisedConfig(dim=4, epochs=2, threads=1), 1, labeled()),
    "nplm": _neural(hidden=4, negative=5, direct=True),
    "lbl": _neural(model="lbl", loss="hs", tree="random", codes=2),
    "ivlbl": _neural(model="ivlbl", order=3, negative=5),
    "doc2vec": lambda: Doc2vec(Doc2vecConfig(dim=4, algorithm="dm_mean", epochs=2, threads=1), documents()),
    "pairs": lambda: PairModel(PairsConfig(dim=4, epochs=2, threads=1, batch=8), pairs()),
    "pooled": lambda: pooled(),
    "glove": lambda: glove()[0],
    "biohash": lambda: BioHash(
        np.ascontiguousarray(seeds.small().matrix), HashConfig(length=4, expansion=16, rule="sgd", epochs=2, threads=1)
    ),
    "bioword": lambda: Bioword(BiowordConfig(cells=16, length=4, epochs=2, threads=1, batch=50), corpus()),
}


@cache
def model(name: str) -> Any:
    return MODELS[name]()


@cache
def saved(name: str) -> list[bytes]:
    """Checkpoints of a model at its start and in the middle."""
    found = []
    for step in (0, model(name).steps // 2):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saved"
            checkpoint.save(path, model(name).identity(), {"next_step": step, "isa": ""}, model(name).arrays())
            found.append(path.read_bytes())
    return found


def go_on(name: str) -> Callable[[Path], object]:
    """Resumes and trains to the end, which must not be passed."""

    def use(path: Path) -> None:
        run = model(name)
        step = checkpoint.load(path, run.identity(), run.arrays(), steps=run.steps)["next_step"]
        assert type(step) is int and 0 <= step <= run.steps, f"going on at step {step}"
        train(Threads(run, first_step=step))

    return use


def _say(message: str, **facts: object) -> None:
    assert message


def search(log: Path) -> LabelSearch:
    plan = Plan(validation="lines.txt", duration=1e-9, log=str(log))
    return LabelSearch(plan, SupervisedConfig(dim=4, epochs=1, threads=1), 1, labeled(), None, [])


def go_on_searching(path: Path) -> None:
    """Takes up a search, for which there is no time left, and its best options."""
    taken_up = search(path)
    taken_up.run(_say, resume=True)
    taken_up.best_config()


@cache
def logs() -> list[bytes]:
    """A log with its header and three trials, of a search that goes on and of one that is over."""
    found = []
    for over in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            begun = search(path)
            log = TrialLog(str(path), begun.header(), begun.first)
            log.begin(_say, resume=False)
            log.add(Trial(0, {"lr": 0.1, "epochs": 2}, 2, 0.5, "", 1.5))
            log.add(Trial(1, {"lr": 0.2, "epochs": 2}, 2, 0.75, "", 2.5))
            log.add(Trial(2, {"lr": 0.3, "epochs": 2}, 2, None, "diverged", 3.5))
            log.close(over=over)
            found.append(path.read_bytes())
    return found


def pooled(*, pieces: bool = False, several: bool = False) -> Pooled:
    """A pooled classifier of words, or of pieces; of `several` questions."""
    named = "__label__x=1 __label__x=2 __label__y=a __label__y=b" if several else "__label__x __label__y"
    words, labels = (WordList.from_words(each.split()) for each in ("the of in a", named))
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "the": 1, "of": 2}, "unk_token": "[UNK]"}
    tokenizer = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}} if pieces else None
    reading = Reading(
        words=words,
        labels=labels,
        label_prefix="__label__",
        lowercase=False,
        word_ngrams=2,
        minn=0,
        maxn=0,
        buckets=100,
        max_length=8,
        tokenizer=tokenizer,
        tokens=3 if pieces else len(words),
        questions=(0, 2) if several else (),
    )
    text = b"__label__x the of the\n__label__y in a in\n__label__x of\n__label__y a\n"
    if several:
        text = text.replace(b"x", b"x=1").replace(b"y", b"y=b")
    config = PooledConfig(dim=4, ngram_dim=4, epochs=2, threads=1)
    return Pooled(config, *read_features(reading, [text], "text"))


@cache
def pooled_classifiers() -> list[bytes]:
    """Of words, of pieces, of several questions, and in bytes."""
    words, pieces = (pooled(pieces=each).model() for each in (False, True))
    models = (words, pieces, pooled(several=True).model())
    whole = [seeds.written(lambda path, model=model: save_pooled(path, model)) for model in models]  # type: ignore[misc]
    return [*whole, seeds.written(lambda path: save_pooled(path, pieces, quantized=True))]


@cache
def text_models() -> list[bytes]:
    """A doc2vec of each algorithm, trained."""
    made: list[Doc2vec] = []
    for options in ({}, {"loss": "hs"}, {"algorithm": "dm_mean"}, {"algorithm": "dm_concat", "window": 2}):
        made.append(Doc2vec(Doc2vecConfig(dim=4, epochs=2, threads=1, **options), documents()))  # type: ignore[arg-type]
    for each in made:
        train(Threads(each))
    return [seeds.written(lambda path, each=each: save_model(path, each.model())) for each in made]  # type: ignore[misc]
