"""fastText's model files: read as fastText answers with them, written byte for byte, refused when damaged."""

import dataclasses
import gzip
import io
import random
import struct

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.reference import fasttext as reference
from wv_cli.errors import BadFile, WvError
from wv_cli.vectors.fasttext import DenseMatrix, FastTextModel, SparseRows
from wv_cli.vectors.formats import load, open_vectors, sniff
from wv_cli.vectors.formats.checking import check
from wv_cli.vectors.formats.fasttext_bin import dense, load_model, save_model
from wv_cli.vectors.quantizer import ProductQuantizer, QuantMatrix
from wv_cli.words import WordList

NAMES = ["ft-words.bin", "ft-labels.bin", "ft-labels.ftz"]
EVERY = pytest.mark.parametrize("name", NAMES)
HEADER = reference.HEADER


def written(model):
    stream = io.BytesIO()
    save_model(stream, model)
    return stream.getvalue()


def answers(name, separator):
    """(text, vector) of a file of fastText's answers."""
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines():
        text, _, numbers = line.partition(separator)
        yield text, np.array(numbers.split(), float)


@EVERY
def test_a_file_read_and_written_is_the_same_file(name, tmp_path):
    data = (GOLDEN / name).read_bytes()
    assert sniff(GOLDEN / name).name == "fasttext-bin"
    model = load_model(GOLDEN / name)
    assert written(model) == data
    save_model(tmp_path / "copy", model)
    assert (tmp_path / "copy").read_bytes() == data


@EVERY
def test_all_that_the_twin_reads(name):
    expected, model = reference.read((GOLDEN / name).read_bytes()), load_model(GOLDEN / name)
    assert list(map(model.words.bytes_at, range(len(model.words)))) == expected.words
    assert list(map(model.labels.bytes_at, range(len(model.labels)))) == expected.labels
    assert [*model.counts, *model.label_counts] == expected.counts
    assert [model.args.dim, model.args.sample] == [expected.args["dim"], expected.args["t"]]
    for matrix, values in ((model.input, expected.input), (model.output, expected.output)):
        assert matrix.shape == values.shape
        np.testing.assert_allclose(matrix.take(np.arange(len(values))), values, rtol=1e-6)
    for word in [*model.words[:50], "unseenword", "naïve", "", "x"]:
        np.testing.assert_allclose(model.word_vector(word), expected.vector(word.encode()), atol=1e-6)


@pytest.mark.parametrize("name", ["ft-words.bin", "ft-labels.ftz"])
def test_word_vectors_are_fasttexts(name):
    model = load_model(GOLDEN / name)
    pairs = list(answers(f"{name.removesuffix('.bin')}.word-vectors.txt", " "))
    for word, vector in pairs:
        np.testing.assert_allclose(model.word_vector(word), vector, atol=1e-6)
    together = model.word_vectors([word for word, _ in pairs])
    assert np.array_equal(together, [model.word_vector(word) for word, _ in pairs])


@EVERY
def test_sentence_vectors_are_fasttexts(name):
    model = load_model(GOLDEN / name)
    for line, vector in answers(f"{name.removesuffix('.bin')}.sentence-vectors.txt", "\t"):
        np.testing.assert_allclose(model.sentence_vector(line), vector, atol=1e-6)


@EVERY
def test_vectors_of_all_words(name):
    model, vectors = load_model(GOLDEN / name), load(GOLDEN / name)
    assert vectors.words == model.words
    assert np.array_equal(vectors.matrix, [model.word_vector(word) for word in model.words])
    assert np.array_equal(load(GOLDEN / name, limit=5).matrix, vectors.matrix[:5])


def test_words_that_are_not_listed():
    vectors = load(GOLDEN / "ft-words.bin")
    assert vectors.subwords is not None
    assert vectors.subwords.oov_vector("the") is None
    assert np.array_equal(
        vectors.subwords.oov_vector("unseenword"), load_model(GOLDEN / "ft-words.bin").word_vector("unseenword")
    )
    model = load_model(GOLDEN / "ft-labels.ftz")
    unknown = next(word for word in map(chr, range(97, 123)) if not model.ngrams(word))
    assert model.oov_vector(unknown) is None and not model.word_vector(unknown).any()
    assert load(GOLDEN / "ft-words.bin", limit=3).subwords.oov_vector("of") is None


def test_the_matrix_is_mapped_not_read(tmp_path):
    """A model of 40 GB, nearly all of it a hole, answers at once and without the memory."""
    model = load_model(GOLDEN / "ft-words.bin")
    kept = np.array([0, 1, 224, 225 + 2**27], np.int64)
    buckets = 200_000_000
    large = dataclasses.replace(
        model,
        args=dataclasses.replace(model.args, buckets=buckets),
        input=SparseRows((225 + buckets, 50), kept, np.ones((4, 50), np.float32)),
    )
    path = tmp_path / "large.bin"
    try:
        save_model(path, large)
    except WvError:
        pytest.skip("no room for a large file with holes")
    assert path.stat().st_size > 40e9 and path.stat().st_blocks * 512 < 10e6
    again = open_vectors(path)
    assert isinstance(again, FastTextModel) and not again.input.values.flags.owndata
    assert again.input.take(kept).min() == 1 and again.word_vector("unseenword").max() == 0


def test_sparse_rows_are_written_as_dense_ones(tmp_path):
    model = load_model(GOLDEN / "ft-words.bin")
    values = np.array(model.input.values)
    values[random.Random(1).sample(range(len(values)), 600)] = 0
    values[-3:] = 0
    whole = written(dataclasses.replace(model, input=DenseMatrix(values)))
    kept = np.flatnonzero(values.any(axis=1))
    for rows in (kept, np.arange(len(values)), kept[:0]):
        sparse = SparseRows(values.shape, rows, values[rows])
        expected = whole if len(rows) else written(dataclasses.replace(model, input=DenseMatrix(np.zeros_like(values))))
        assert written(dataclasses.replace(model, input=sparse)) == expected
        save_model(tmp_path / "x", dataclasses.replace(model, input=sparse))
        assert (tmp_path / "x").read_bytes() == expected
    # Stored backwards in wider rows.
    wide, source = np.zeros((len(kept), values.shape[1] + 3), np.float32), np.arange(len(kept), dtype=np.int32)[::-1]
    wide[source, :-3] = values[kept]
    backwards = SparseRows(values.shape, kept, wide[:, :-3], source)
    assert written(dataclasses.replace(model, input=backwards)) == whole
    some = np.array([0, 3, 3, len(values) - 1, int(kept[7])])
    for sparse in (SparseRows(values.shape, kept, values[kept]), backwards):
        assert np.array_equal(sparse.take(some), values[some])


@pytest.mark.parametrize("behind", [0, 1, 3])
@pytest.mark.parametrize("density", [0.3, 0.003, 0.0003])
def test_rows_on_both_sides_of_blocks_and_holes(density, behind, tmp_path):
    """Rows begin at any byte of the file, and some lie across the ends of its blocks."""
    model, rng = load_model(GOLDEN / "ft-labels.bin"), np.random.default_rng(behind)
    words, rows, dim = len(model.words), len(model.words) + 60_000, model.dim
    kept = np.flatnonzero(rng.random(rows) < density)
    values = np.zeros((rows, dim), np.float32)
    values[kept] = rng.normal(size=(len(kept), dim))
    model = dataclasses.replace(
        model,
        args=dataclasses.replace(model.args, buckets=rows - words),
        labels=WordList.from_words([f"{name}{'x' * (behind if i == 0 else 0)}" for i, name in enumerate(model.labels)]),
        input=SparseRows((rows, dim), kept, values[kept]),
    )
    whole = written(dataclasses.replace(model, input=DenseMatrix(values)))
    assert written(model) == whole
    save_model(tmp_path / "x", model)
    assert (tmp_path / "x").read_bytes() == whole


def test_a_model_with_few_buckets_takes_little_of_the_disk(tmp_path):
    """A thousand rows among two million: each lies in a page or two of its own."""
    model, rng = load_model(GOLDEN / "ft-words.bin"), np.random.default_rng(1)
    rows = len(model.words) + 2_000_000
    kept = np.sort(rng.choice(rows, 1000, replace=False))
    args = dataclasses.replace(model.args, buckets=2_000_000)
    sparse = SparseRows((rows, 50), kept, np.ones((1000, 50), np.float32))
    save_model(tmp_path / "x", dataclasses.replace(model, args=args, input=sparse))
    assert (tmp_path / "x").stat().st_size > 400e6
    assert (tmp_path / "x").stat().st_blocks * 512 < 20e6


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("dsub", [2, 3, 10, 16])
def test_quantized_matrices_of_all_shapes(norms, dsub):
    """Both matrices quantized, nothing pruned, blocks that do and do not divide the dimension."""
    model, rng = load_model(GOLDEN / "ft-labels.bin"), np.random.default_rng(dsub)

    def quantized(matrix):
        rows, dim = matrix.shape
        codes = rng.integers(0, 256, (rows, -(-dim // dsub))).astype(np.uint8)
        quantizer = ProductQuantizer(dim, dsub, rng.normal(size=256 * dim).astype(np.float32))
        if not norms:
            return QuantMatrix(codes, quantizer)
        norm_codes = rng.integers(0, 256, rows).astype(np.uint8)
        return QuantMatrix(
            codes, quantizer, norm_codes, ProductQuantizer(1, 1, rng.normal(size=256).astype(np.float32))
        )

    data = written(dataclasses.replace(model, input=quantized(model.input), output=quantized(model.output)))
    expected = reference.read(data)
    again = open_bytes(data)
    np.testing.assert_allclose(again.output.take(np.arange(168)), expected.output, rtol=1e-6)
    np.testing.assert_allclose(again.word_vector("unseenword"), expected.vector(b"unseenword"), atol=1e-5)
    assert written(again) == data
    plain = dense(again, "x")
    np.testing.assert_allclose(plain.word_vector("unseenword"), again.word_vector("unseenword"), atol=1e-6)
    assert written(open_bytes(written(plain))) == written(plain)


def open_bytes(data):
    from wv_cli.vectors.formats.fasttext_read import ModelReader

    return ModelReader("model", data).model()


@pytest.mark.parametrize("name", NAMES[:2])
def test_old_layouts(name, tmp_path):
    data = (GOLDEN / name).read_bytes()
    path = tmp_path / "old.bin"
    path.write_bytes(reference.oldest(data))
    assert sniff(path).name == "fasttext-bin"
    model = load_model(path)
    assert written(model) == data  # it becomes one of version 12
    path.write_bytes(data[:4] + struct.pack("<i", 11) + data[8:])
    eleven = load_model(path)
    assert written(eleven) == path.read_bytes()
    # Classifiers of version 11 knew no character n-grams, whatever their files say.
    assert eleven.char_ngrams == ((3, 6) if name == "ft-words.bin" else (0, 0))


def test_packed_files_and_pipes(wv, tmp_path):
    data = (GOLDEN / "ft-words.bin").read_bytes()
    (tmp_path / "x.gz").write_bytes(gzip.compress(data))
    assert written(load_model(tmp_path / "x.gz")) == data
    (tmp_path / "x.gz").write_bytes(gzip.compress(data)[:-2000])
    with pytest.raises(BadFile, match="get the file again"):
        load_model(tmp_path / "x.gz")


def test_floret_is_refused_by_name():
    for reader in (load_model, load, open_vectors):
        with pytest.raises(BadFile, match=r"floret\.bin: byte 0: this is a floret model"):
            reader(GOLDEN / "broken" / "floret.bin")
    assert check(GOLDEN / "broken" / "floret.bin").counts["unreadable"] == 1


# Where a number of the header stands, what it becomes, and what the message must say.
LIES = [
    (4, "<i", 13, "byte 4: expected a fastText model of version 11 and 12, found version 13"),
    (8, "<i", 0, "byte 8: expected dim of 1 to"),
    (8, "<i", 51, "expected an input matrix of 725 x 51, as the arguments promise, found 725 x 50"),
    (8, "<i", 10_000_000, "expected an input matrix of 725 x 10000000"),
    (32, "<i", 5, "byte 32: expected a loss of 1 to 4, found 5"),
    (36, "<i", 0, "byte 36: expected a model of 1 to 3, found 0"),
    (40, "<i", -1, "byte 40: expected buckets of 0 to"),
    (40, "<i", 2**31 - 1, "expected an input matrix of 2,147,483,872 x 50"),
    (48, "<i", 1000, "byte 48: expected maxn of 0 to 255, found 1000"),
    (56, "<d", float("nan"), "byte 56: expected a sampling threshold, found nan"),
    (64, "<i", 226, "byte 64: expected numbers of words and labels"),
    (64, "<2i", (2**31 - 1, 2**31 - 1), r"byte 92: expected 2,147,483,647 words and labels \(21,474,836,470 bytes\)"),
    (64, "<2i", (226, 226), "byte .*: expected .* found"),
    (64, "<3i", (225, 224, 1), "entry 225 of 225: expected a label and its count, found"),
    (76, "<q", -1, "byte 64: expected numbers of words and labels"),
    (84, "<q", 2**62, "byte 84: expected a number of kept buckets, found 4611686018427387904"),
    (84, "<q", 0, "a pruned model that is not quantized"),
    (84, "<q", -2, "byte 84: expected a number of kept buckets, found -2"),
    (96, "<q", -5, "entry 1 of 225: expected a word and its count, found 'the' with count -5"),
]


@pytest.mark.parametrize(("place", "layout", "value", "message"), LIES)
def test_numbers_that_lie(place, layout, value, message, tmp_path):
    data = bytearray((GOLDEN / "ft-words.bin").read_bytes())
    struct.pack_into(layout, data, place, *(value if isinstance(value, tuple) else (value,)))
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(BadFile, match=message):
        load_model(tmp_path / "x")
    assert check(tmp_path / "x").is_damaged


@EVERY
def test_cut_anywhere(name):
    data = (GOLDEN / name).read_bytes()
    source = random.Random(1)
    for size in [*range(1, 200), *source.sample(range(200, len(data)), 400), len(data) - 1]:
        with pytest.raises(BadFile, match=r"model: byte \d+: "):
            open_bytes(data[:size])
    with pytest.raises(BadFile, match=f"byte {len(data)}: expected the end of the file .* found 3 more bytes"):
        open_bytes(data + b"123")


def test_check_finds_numbers_that_are_not_finite(tmp_path):
    model = load_model(GOLDEN / "ft-labels.bin")
    input_, output = np.array(model.input.values), np.array(model.output.values)
    input_[3, 2], input_[1325 + 7, 0], output[1, 4] = np.nan, np.inf, -np.inf
    path = tmp_path / "x"
    save_model(path, dataclasses.replace(model, input=DenseMatrix(input_), output=DenseMatrix(output)))
    report = check(path)
    assert report.counts["not finite"] == 3
    texts = " ".join(problem.text for problem in report.problems)
    assert "input matrix, row 4" in texts and "bucket row 7" in texts and f"'{model.labels[1]}'" in texts
    with pytest.raises(BadFile, match="expected finite numbers, found"):
        load(path)


def test_check_finds_words_listed_twice(tmp_path):
    data = (GOLDEN / "ft-words.bin").read_bytes()
    second = data.index(b"of\0", HEADER)
    (tmp_path / "x").write_bytes(data[:second] + b"\xe9f\0" + data[second + 3 :].replace(b"\nand\0", b"\nthe\0", 1))
    report = check(tmp_path / "x")
    assert report.counts["bad UTF-8"] == 1 and report.problems[0].byte == second
    assert load(tmp_path / "x").words[1] == "\udce9f"


def test_odd_words(tmp_path):
    """Empty words and words with blanks stand in models that gensim wrote."""
    model = load_model(GOLDEN / "ft-words.bin")
    words = WordList.from_words([b"", b"new york", b"</s>", *map(model.words.bytes_at, range(3, 225))])
    save_model(tmp_path / "x", dataclasses.replace(model, words=words))
    again = load_model(tmp_path / "x")
    assert again.words == words and again.words.find("") == 0 and again.words.find("new york") == 1
    assert again.word_rows("</s>").tolist() == [2] and again.word_rows("")[0] == 0


def test_an_option_that_the_file_cannot_hold():
    """Such as --min-count of a run that goes on with the words of a state."""
    model = load_model(GOLDEN / NAMES[0])
    args = dataclasses.replace(model.args, min_count=2**31)
    with pytest.raises(WvError, match="no option above 2,147,483,647, found 2,147,483,648"):
        written(dataclasses.replace(model, args=args))


def test_what_cannot_be_written(tmp_path):
    model = load_model(GOLDEN / "ft-words.bin")
    (tmp_path / "x").write_bytes(b"before")
    words = WordList.from_words([b"a\0b", *map(model.words.bytes_at, range(1, 225))])
    with pytest.raises(WvError, match="NUL"):
        save_model(tmp_path / "x", dataclasses.replace(model, words=words))
    for wrong in (
        {"output": DenseMatrix(np.zeros((3, 50), np.float32))},
        {"kept_buckets": np.zeros((500, 2), np.int32)},
    ):
        with pytest.raises(ValueError, match=r"does not fit|pruned"):
            save_model(tmp_path / "x", dataclasses.replace(model, **wrong))
    with pytest.raises(WvError, match="pruned model"):
        dense(load_model(GOLDEN / "ft-labels.ftz"), "x.ftz")
    assert (tmp_path / "x").read_bytes() == b"before"


def small_model():
    """What a trainer hands over: few of many rows."""
    words = ["</s>", "the", "of", "naïve", "日本語"]
    rng = np.random.default_rng(3)
    golden = load_model(GOLDEN / "ft-words.bin")
    args = dataclasses.replace(golden.args, dim=10, buckets=5000)
    kept = np.sort(rng.choice(5005, 2000, replace=False)).astype(np.int64)
    return FastTextModel(
        args, WordList.from_words(words), np.array([9, 7, 5, 3, 2]), WordList.from_words([]), np.empty(0, np.int64), 26,
        None,
        SparseRows((5005, 10), kept, rng.normal(size=(2000, 10)).astype(np.float32)),
        SparseRows((5, 10), np.arange(5), rng.normal(size=(5, 10)).astype(np.float32)),
    )  # fmt: skip


def test_fasttext_reads_what_is_written(tmp_path):
    fasttext = pytest.importorskip("fasttext")
    save_model(tmp_path / "x.bin", small_model())
    ours, theirs = load_model(tmp_path / "x.bin"), fasttext.load_model(str(tmp_path / "x.bin"))
    assert theirs.get_words() == list(ours.words)
    for word in [*ours.words, "unseen", "日本", "naïvely"]:
        np.testing.assert_allclose(theirs.get_word_vector(word), ours.word_vector(word), atol=1e-6)
    np.testing.assert_allclose(theirs.get_sentence_vector("the 日本"), ours.sentence_vector("the 日本"), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_gensim_reads_what_is_written(tmp_path):
    gensim = pytest.importorskip("gensim.models.fasttext")
    save_model(tmp_path / "x.bin", small_model())
    ours, theirs = load_model(tmp_path / "x.bin"), gensim.load_facebook_vectors(str(tmp_path / "x.bin"))
    for word in ["the", "日本語", "unseen", "naïvely"]:
        np.testing.assert_allclose(theirs[word], ours.word_vector(word), atol=1e-6)
