"""What is done with a file: it is read by the call that a command would make, and what it holds is used as a command
would use it, because that is where a number that was let in does its harm."""

import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from tests.fuzz import seeds
from tests.fuzz.seeds import small
from wv_cli.commands.align import align
from wv_cli.commands.pair_tables import Pieces
from wv_cli.commands.parts.filter_rules import Rules
from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode as encode_texts
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.filtering.decisions import NAME as DECISIONS
from wv_cli.filtering.decisions import Decisions, decide
from wv_cli.filtering.duplicates import ExactDuplicates
from wv_cli.filtering.known_texts import VerifiedDuplicates
from wv_cli.filtering.near_duplicates import NearDuplicates
from wv_cli.filtering.parsing import parse_rule
from wv_cli.filtering.part_keys import StoredKeys
from wv_cli.filtering.rule_files import read_rules
from wv_cli.hashing.bioword import load_hasher as load_bioword
from wv_cli.hashing.fit import load_hasher
from wv_cli.io.input import open_input
from wv_cli.models.classifier import Classifier, load_classifier
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.model import Glove
from wv_cli.models.glove.record_files import Counts, open_counts
from wv_cli.models.glove.tiles import TileStore
from wv_cli.models.pooled_files import question_names
from wv_cli.models.supervised import Supervised
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.retrieval.model import Model
from wv_cli.retrieval.query import Searcher, settings_of
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.labeled import encode_labeled
from wv_cli.text.records.kinds import written_name
from wv_cli.text.records.reading import Block, Column
from wv_cli.text.records.writing import add_fields
from wv_cli.text.source import Source
from wv_cli.text.stop_words import read_stop_words
from wv_cli.text.unigram import read_unigram
from wv_cli.text.vocab import merge_vocabs, read_vocab, write_vocab
from wv_cli.transforms.align import Named
from wv_cli.transforms.composition import composer, word_vectors
from wv_cli.transforms.config import AlignConfig, QuantizeConfig, WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.quantize import quantize
from wv_cli.transforms.whiten import Transform, fit
from wv_cli.vectors import formats
from wv_cli.vectors.codes import CodeVectors, rerank_codes
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.vectors.formats import checking
from wv_cli.vectors.formats.codes import save as save_codes
from wv_cli.vectors.formats.fasttext_bin import load_model
from wv_cli.vectors.formats.fasttext_dump import parts
from wv_cli.vectors.formats.fasttext_read import MAGIC
from wv_cli.vectors.formats.fasttext_write import save_model
from wv_cli.vectors.formats.streams import RowSource
from wv_cli.vectors.recognize import input_texts
from wv_cli.vectors.stored_index import SearchIndex

_ODD = ["the", "unseenword", "</s>", "", "\0", "naïve", "\udcff"]
SMALL = Word2vecConfig(dim=4, epochs=1, threads=1)


def ask(vectors: Embeddings) -> None:
    """What nn, analogy, vectors and hash ask of vectors."""
    word_vectors_of(vectors)
    if len(vectors) == 0:
        return
    word, last = vectors.words[0], vectors.words[len(vectors) - 1]
    vectors.neighbors([word, last], [word], k=3)
    vectors.similarity(word, last)
    assert word in vectors and "unseenword, surely" not in vectors.words
    if isinstance(vectors, CodeVectors) and vectors.dim <= 10_000:  # as vectors they take dim floats each
        codes = vectors.codes
        save_codes("/dev/null", codes, text=b"\t" not in codes.words.blob and b"\n" not in codes.words.blob)
        rerank_codes(vectors.search(threads=1), codes.words, Embeddings(codes.words, vectors.matrix.copy()), "x")


def encoder(path: Path) -> None:
    """The folder that the file stands in, as `wv vectors --encoder`."""
    source = open_encoder(path.parent, EncoderConfig(runtime="numpy"), ("layer:0",))
    pooling = Pooling.parse(source.pooling, source.layers, source.name)
    for each in encode_texts(source, ["the dog", "", "naïve \udcff"], [pooling]):
        assert np.isfinite(each.vectors).all()


def static(path: Path) -> None:
    """The folder that the file stands in, as vectors and as an encoder."""
    ask(formats.load(path.parent))
    encoder(path)


def word_vectors_of(vectors: Embeddings | FastTextModel) -> None:
    source = composer(vectors, "-")
    list(word_vectors(source, _ODD))
    source.lines(["the of and", "unseenword", ""])


def vector_file(path: Path) -> None:
    checking.check(path)
    ask(formats.load(path))
    ask(formats.load(path, mapped=True))
    formats.load(path, limit=2)
    word_vectors_of(formats.open_vectors(path))
    for block in RowSource(path).blocks() if formats.load(path, limit=1).dim <= 1000 else ():
        Moments.none(block.dim).with_rows(block.matrix)


def floret_table(path: Path) -> None:
    """It lists no words, and has a vector for any."""
    checking.check(path)
    assert len(formats.load(path)) == 0 and "word" in formats.load(path)
    formats.load(path)["word"]


def text_model(path: Path) -> None:
    vector_file(path)
    for mapped in (False, True):
        composer(formats.open_vectors(path, mapped=mapped), str(path)).lines(["the of unseenword and", "", "in in in"])


def pooled_classifier(path: Path) -> None:
    names: tuple[str, ...] | None = None
    with contextlib.suppress(WvError), open_input(path) as source:
        names = question_names(source)
    classifier = load_classifier(path)
    answers = list(classifier.answers([b"the of in\n__label__x a unseen\n\n"], -1))
    assert tuple(each.name for each in classifier.questions if each.name) == names
    for question in classifier.questions:
        assert answers[0].to(question).labels.shape == (3, len(question.labels))


def words_file(path: Path) -> None:
    """The words beside an array of numbers."""
    vector_file(path.with_name("file.npy"))


def model_file(path: Path) -> None:
    """A fastText model: what predict, dump, vectors, quantize and eval labels do with it."""
    checking.check(path)
    model = load_model(path)
    with np.errstate(all="ignore"):  # the numbers of a matrix that is mapped are not looked at before they are used
        model.word_vectors(_ODD)
        model.sentence_vector("the of unseenword __label__x and")
        model.ngrams("naïve")
        if model.is_classifier:
            list(Classifier(model, "file").answers([b"the salt and pepper __label__x\n\n"], 2))
    for what in ("args", "dict", "input", "output"):
        next(parts(model, what))
    stream = io.BytesIO()
    save_model(stream, model)
    data = path.read_bytes()
    # The oldest layout is renewed when it is written; every other file is itself again.
    assert stream.getvalue() == data or not data.startswith(MAGIC), "written differently"
    if len(model.words) < 2000 and model.input.shape[0] < 20_000 and model.dim <= 100:
        quantize(model, QuantizeConfig(cutoff=5))
    ask(formats.load(path))


def hasher(path: Path) -> None:
    made = load_hasher(path).encode(small())
    ask(CodeVectors(made))


def bioword_hasher(path: Path) -> None:
    made = load_bioword(str(path))
    codes = made.static()
    ask(CodeVectors(codes))
    ask(CodeVectors(made.dynamic(encode([str(text_file(path))], VocabConfig(), vocab=made.vocab))))


def text_file(path: Path) -> Path:
    found = path.with_name("text.txt")
    if not found.exists():
        found.write_bytes(seeds.text())
    return found


def near_duplicates(path: Path) -> None:
    known = NearDuplicates.load(path)
    known.first_seen(known.keys([b"one two three four five six seven"]))
    known.save("/dev/null")


def known_texts(path: Path) -> None:
    known = VerifiedDuplicates(0.72, ["b.jsonl"], [str(path)])
    known.first_seen(known.keys([b"one two three four five six seven"]), np.arange(1), 0, np.arange(1))
    known.save("/dev/null")


def part_keys(path: Path) -> None:
    parts = [StoredKeys(path)]
    rules = [ExactDuplicates(), VerifiedDuplicates(0.72, ["a", "b"])]
    with tempfile.TemporaryDirectory() as folder:
        decide(parts, [rule for rule in rules if rule.name in parts[0].rules], Path(folder), sparse=True)


def decisions(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / DECISIONS)
        found = Decisions(Path(folder))
        for number, name in enumerate(found.shards):
            for rule in found.rules([name]):
                assert found.shards[name].number == number
                rule.first_seen(None, np.arange(2), 0, np.arange(2))


def search_index(path: Path) -> None:
    with open_input(path) as source:
        found = SearchIndex.read(source)
    model = Model(str(path.with_name("vectors.vec"))) if found.model else None
    Searcher.from_index(found, model, 0.5, "file").answers("getUser of one", 3)
    found.require_whole()
    settings_of(found, "file")
    seeds.of_texts(found).save("/dev/null")


def moments(path: Path) -> None:
    found = Moments.load(path)
    both = found.merge(found).with_rows(np.ones((3, found.dim)))
    for config in (WhitenConfig(method="whiten"), WhitenConfig(method="pca"), WhitenConfig(method="abtt")):
        fit(both, config, "file").apply(np.ones((2, found.dim), np.float32))
    both.save("/dev/null")


def transform(path: Path) -> None:
    found = Transform.load(path)
    found.apply(small().matrix)
    found.save("/dev/null")


def vocabulary(path: Path) -> None:
    """Read, cut, summed, written, and trained with."""
    vocab = read_vocab(str(path))
    write_vocab("/dev/null", merge_vocabs([vocab, read_vocab(str(path))]))
    corpus = encode([str(text_file(path))], VocabConfig(min_count=1, max_vocab=500), vocab=vocab)
    trained(corpus)


def trained(corpus: Corpus) -> None:
    for loss in ("ns", "hs", "nce"):
        train(Threads(Word2vec(Word2vecConfig(dim=4, epochs=1, threads=1, loss=loss), corpus)))


def text(path: Path) -> None:
    trained(encode([str(path)], VocabConfig(min_count=1)))


def record_texts(path: Path) -> None:
    """Read, written again with a field, and read again: the texts are the same."""
    texts = input_texts([str(path)], log=lambda message: None)
    written = path.with_name(written_name(f"written.{path.name}"))
    found = [text for block in Source(texts).blocks(str(path), ()) for text in block.each]
    with written.open("wb") as file:
        kind = texts.records(str(path))
        assert kind is not None
        add_fields(Source(texts), kind, ("added",), _counted, file, 1)
    if found:
        again = Source(input_texts([str(written)], log=lambda message: None))
        assert found == [text for block in again.blocks(str(written), ()) for text in block.each]


def _counted(block: Block) -> dict[str, Column]:
    return {"added": Column("number", list(range(block.count)))}


def labeled(path: Path) -> None:
    config = SupervisedConfig(dim=4, epochs=1, threads=1, word_ngrams=2, minn=2, maxn=3, buckets=1000)
    corpus = encode_labeled([str(path)], VocabConfig(min_count=1), keep_dropped=True)
    model = Supervised(config, 1, corpus)
    train(Threads(model))
    list(Classifier(model.fasttext_model(), "file").answers([seeds.text()[:200]], -1))


def stop_words(path: Path) -> None:
    read_stop_words(str(path))


def counts(path: Path) -> None:
    """GloVe's records: alone, and summed with themselves over a smaller vocabulary."""
    vocab = str(path.with_name("vocab.txt"))
    for specs, most in (([str(path)], 0), ([str(path), str(path)], 20)):
        found = Counts(open_counts(specs, vocab), VocabConfig(min_count=1, max_vocab=most))
        with TileStore(found.stream(1 << 20, str(path)), len(found.vocab), str(path), 1 << 20) as store:
            train(Threads(Glove(GloveConfig(dim=4, iterations=1, threads=1), found.vocab, store, found.digest)))


def counts_vocabulary(path: Path) -> None:
    """The vocabulary beside GloVe's records."""
    open_counts([f"{path.with_name('records')}:{path}"], None)
    vocabulary(path)


def glove_start(path: Path) -> None:
    """GloVe's own files of vectors and squared gradients, without words."""
    model = _glove()[0]
    with np.errstate(under="ignore"):
        model.load_raw(str(path), None)
        train(Threads(model))
        model.load_raw(str(path), str(path))
        train(Threads(model))


@cache
def _glove() -> tuple[Glove, TileStore]:
    from tests.fuzz.checkpoints import glove

    return glove()


def task(name: str) -> Callable[[Path], object]:
    """An evaluation of the small vectors on a file."""

    def use(path: Path) -> None:
        row = TASKS[name]
        options: dict[str, object] = {"retrieval": {"neighbors": 5}}.get(name, {})
        if "threads" in row.config.options():
            options["threads"] = 1
        row.run([Vectors("small", _fresh)], [str(path)], row.config(**options))

    return use


def _fresh() -> Embeddings:
    return Embeddings(small().words, small().matrix.copy())


def labels_task(path: Path) -> None:
    row, model = TASKS["labels"], path.with_name("model.ftz")
    row.run([Vectors(str(model), _fresh)], [str(path)], row.config(per_label=True, threads=1))


def translation_task(path: Path) -> None:
    """Scores by a dictionary, then aligns by it."""
    row = TASKS["translation"]
    row.run([Vectors("small", _fresh)], [str(path)], row.config(target=str(path.with_name("target.vec")), threads=1))
    small_vectors = Named(_fresh(), "small")
    align(small_vectors, small_vectors, AlignConfig(dictionary=str(path), refine=1, threads=1))


def wic_task(path: Path) -> None:
    row = TASKS["wic"]
    row.run([Vectors("small", _fresh)], [str(path)], row.config(dev=str(path)))


def semeval(path: Path) -> None:
    task("sts")(path.with_name("STS.input.x.txt"))


def packed(path: Path) -> None:
    """A compressed text, and the same as a file of vectors."""
    from wv_cli.text.source import Source

    for _ in Source([str(path)]):
        pass
    formats.load(path)


def rules(path: Path) -> None:
    for scorer, rule in read_rules(str(path), Rules.settings())[0]:
        if len(rule) < 500:  # a message repeats it
            parse_rule(scorer, rule)


def pieces(path: Path) -> None:
    """A model of sentencepiece as the tokenizer of a static embedding and as the one of texts."""
    Pieces(str(path), None).words()
    read_unigram(path.read_bytes())
