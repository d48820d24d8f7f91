"""A classifier's answers: fastText's own, on every instruction set, for every layer and kind of file."""

import lzma
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from wv_cli import _cpu, _prediction
from wv_cli.errors import UsageError, WvError
from wv_cli.io import memory
from wv_cli.io.memory import pad_width, zeros
from wv_cli.models import classifier as module
from wv_cli.models import text_classifier
from wv_cli.models.classifier import ALL, Classifier, blocks_of_lines, load_classifier, tree
from wv_cli.vectors.fasttext import DenseMatrix, FastTextArgs, FastTextModel, SparseRows, tokens_of
from wv_cli.vectors.formats.fasttext_bin import load_model
from wv_cli.vectors.quantizer import QuantMatrix
from wv_cli.words import WordList

MODELS = ["cook-raw.ftz", "cook-hs", "cook-ova", "cook-ns"]


def unpacked(name):
    return lzma.decompress((GOLDEN / f"{name}.xz").read_bytes())


@pytest.fixture(scope="module", params=MODELS)
def golden(request, tmp_path_factory):
    """A model made by fastText, the lines it was asked, and what its predict-prob printed for k = 3."""
    name = request.param
    path = GOLDEN / name
    if not path.exists():
        path = tmp_path_factory.mktemp("golden") / f"{name}.bin"
        path.write_bytes(unpacked(f"{name}.bin"))
    expected = unpacked(f"{name}.predict-prob3.txt").decode().splitlines()
    text = b"".join(unpacked("cook.valid.txt").splitlines(keepends=True)[: len(expected)])
    return load_model(path), text, expected


def compare(printed, expected):
    printed = printed.splitlines()
    assert len(printed) == len(expected)
    for ours, theirs in zip((line.split() for line in printed), (line.split() for line in expected), strict=True):
        assert ours[::2] == theirs[::2]
        np.testing.assert_allclose([float(p) for p in ours[1::2]], [float(p) for p in theirs[1::2]], atol=1e-5)


def answered(classifier, text, k=3, **options):
    parts = classifier.answers([text], k, **options)
    return b"".join(part.lines(classifier.labels, True) for part in parts).decode()


def test_answers_are_fasttexts(golden):
    model, text, expected = golden
    compare(answered(Classifier(model), text), expected)


def test_codes_read_where_they_lie_give_the_same(golden, monkeypatch):
    """Quantized matrices too large to be made dense."""
    model, text, expected = golden
    dense = answered(Classifier(model), text)
    monkeypatch.setattr(module, "_DENSE_BYTES", 0)
    compare(answered(Classifier(model), text), expected)
    assert answered(Classifier(model), text) == dense


@pytest.mark.parametrize("dsub", [1, 2, 3, 7])
def test_codes_of_every_width(dsub, monkeypatch):
    """The last block is shorter, and norms stand apart."""
    model = load_model(GOLDEN / "ft-labels.bin")
    model = replace(model, input=QuantMatrix.fit(model.input, dsub, norms_apart=dsub > 1))
    text = b"the king of the north\none\n"
    dense = answered(Classifier(model), text)
    monkeypatch.setattr(module, "_DENSE_BYTES", 0)
    assert answered(Classifier(model), text) == dense


def test_a_long_line_is_answered_in_pieces(monkeypatch):
    """As it is answered at once, but for the order of the sum; where the text is cut changes nothing."""
    for name in ("ft-labels.bin", "ft-labels.ftz", "cook-raw.ftz"):
        classifier = load_classifier(GOLDEN / name)
        known = classifier._model.words
        label = classifier.labels[0].encode()
        words = [bytes(known[i % len(known)], "utf-8") if i % 5 else b"un%d" % i for i in range(9000)]
        long = b" ".join([*words, label, b"x" * 40_000, b"__label__none", *words[:50]])
        text = b"\n".join([b"one line", long, b"another", long + b" </s> " + long, b"", long])
        whole = classifier.answer(text, 2)
        with monkeypatch.context() as patch:
            patch.setattr(text_classifier, "_BLOCK", 700)
            for each in (module, text_classifier):
                patch.setattr(each, "LONG_LINE", 50_000)
            parts = [
                text_classifier.join_answers(
                    list(classifier.answers([text[i : i + size] for i in range(0, len(text), size)], 2))
                )
                for size in (997, 70_000, len(text))
            ]
        for part in parts:
            assert part.labels.tolist() == whole.labels.tolist() and part.seen.tolist() == whole.seen.tolist()
            assert part.true_labels.tolist() == whole.true_labels.tolist()
            assert part.true_starts.tolist() == whole.true_starts.tolist()
            assert part.scores.tolist() == parts[0].scores.tolist()
            np.testing.assert_allclose(part.scores, whole.scores, atol=1e-4)
        bare = list(classifier.answers([long], 2, bare_end=True))
        with monkeypatch.context() as patch:
            patch.setattr(text_classifier, "_BLOCK", 700)
            for each in (module, text_classifier):
                patch.setattr(each, "LONG_LINE", 50_000)
            bare += classifier.answers([long], 2, bare_end=True)
        np.testing.assert_allclose(bare[1].scores, bare[0].scores, atol=1e-4)


def test_threads_keep_the_order(golden, monkeypatch):
    model, text, expected = golden
    monkeypatch.setattr(text_classifier, "_BLOCK", 1000)
    chunks = [text[i : i + 777] for i in range(0, len(text), 777)]
    classifier = Classifier(model)
    parts = classifier.answers(chunks, 3, threads=4)
    compare(b"".join(part.lines(classifier.labels, True) for part in parts).decode(), expected)


def test_thresholds_and_all_labels(golden):
    model, text, _ = golden
    classifier = Classifier(model)
    everything = classifier.answer(text, ALL)
    assert everything.labels.shape[1] == len(model.labels)
    if model.args.loss != "hs":
        assert (everything.found == len(model.labels)).all()
    if model.args.loss == "softmax":
        np.testing.assert_allclose(everything.probabilities.sum(axis=1), 1, atol=2e-5 * len(model.labels))
    some = classifier.answer(text, ALL, 0.25)
    assert 0 < some.found.sum() < everything.found.sum()
    for line in range(0, len(some.found), 37):
        kept = some.probabilities[line, : some.found[line]]
        assert (kept >= 0.25).all() and (np.diff(kept) <= 0).all()
        assert some.found[line] == (everything.probabilities[line, : everything.found[line]] >= 0.25 + 1e-5).sum()


@pytest.mark.parametrize("count", [1, 2, 5, 64])
def test_answers_among_some_labels_are_those_of_all(golden, count):
    model, text, _ = golden
    whole, chosen = Classifier(model), np.random.default_rng(count).permutation(len(model.labels))[:count]
    narrow, threshold = whole.among(chosen.astype(np.int32)), 0.0 if count < 5 else 1e-3
    for asked in (narrow, pickle.loads(pickle.dumps(narrow))):
        found, everything = asked.answer(text, ALL, threshold), whole.answer(text, ALL, threshold)
        assert found.labels.shape[1] == min(count, len(model.labels))
        for line, size in enumerate(found.found.tolist()):
            own = np.isin(everything.labels[line], chosen) & (np.arange(len(model.labels)) < everything.found[line])
            expected = dict(
                zip(everything.labels[line, own].tolist(), everything.scores[line, own].tolist(), strict=True)
            )
            scores = found.scores[line, :size].tolist()
            assert dict(zip(found.labels[line, :size].tolist(), scores, strict=True)) == expected
            assert scores == sorted(scores, reverse=True)
    assert found.found.any()
    line = text.splitlines(keepends=True)[0]
    assert narrow.answer_line(line, ALL) == Classifier(model, among=chosen).answer_line(line, ALL)
    assert len(whole.answer_line(line, ALL)[0]) > len(narrow.answer_line(line, ALL)[0]) or model.args.loss == "hs"


def test_what_is_wanted_fits_the_labels(golden):
    model, text, _ = golden
    predictor = Classifier(model)._engine.predictor
    with pytest.raises(ValueError, match="wanted: expected"):
        predictor.predict_text(text, 1, 0.0, wanted=np.ones(len(model.labels) - 1, np.uint8))


words = st.sampled_from(
    [
        "how",
        "to",
        "bread",
        "</s>",
        "__label__bread",
        "__label__no",
        "été",
        "\udcff",
        "x" * 40,
        "a\tb",
        "do\0you",
        "",
        " ",
        "\r",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(words, max_size=12), min_size=1, max_size=6))
def test_lines_have_the_rows_the_model_gives_them(lines):
    for name in ("cook-raw.ftz", "ft-labels.bin", "ft-labels.ftz"):
        model = LOADED.setdefault(name, load_model(GOLDEN / name))
        classifier = LOADED.setdefault(name + "c", Classifier(model))
        raw = [" ".join(line).encode("utf-8", "surrogateescape") for line in lines]
        starts, rows, label_starts, labels, seen = classifier._engine.reader.read(
            b"".join(line + b"\n" for line in raw)
        )
        assert len(starts) == len(label_starts) == len(lines) + 1
        for i, line in enumerate(raw):
            tokens = list(tokens_of(line, classifier=True))
            if b"</s>" in tokens:
                tokens = tokens[: tokens.index(b"</s>")]
            assert rows[starts[i] : starts[i + 1]].tolist() == model.line_rows(tokens).tolist()
            known = [label for label in map(model.labels.find, tokens) if label >= 0]
            assert labels[label_starts[i] : label_starts[i + 1]].tolist() == known
            assert seen[i, 0] == len(tokens) - len(known) >= seen[i, 1]


LOADED: dict = {}


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 129, 300])
def test_every_instruction_set(isa, dim):
    """Softmax in float64 over unaligned rows that end with the file."""
    random = np.random.default_rng(dim)
    labels, size = int(random.integers(2, 40)), 50
    values = random.normal(0, 1, (size, dim)).astype(np.float32)
    block = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:].reshape(size, 4 * dim)
    output = zeros(labels, pad_width(dim))
    output[:, :dim] = random.normal(0, 1 / np.sqrt(dim), (labels, dim))
    starts = np.concatenate([[0], np.cumsum(random.integers(0, 9, 37))]).astype(np.int64)
    rows = random.integers(0, size, starts[-1]).astype(np.int32)
    sigmoid = module._sigmoid_table()
    softmax = FastTextArgs(loss="softmax")
    predictor = _prediction.Predictor(softmax, block, output, dim=dim, labels=labels, sigmoid=sigmoid, isa=isa)
    answers = predictor.predict(starts, rows, labels, 0.0)
    for line in range(37):
        mine = rows[starts[line] : starts[line + 1]]
        assert answers.found[line] == (labels if len(mine) else 0)
        if len(mine):
            scores = output[:, :dim].astype(float) @ values[mine].astype(float).mean(axis=0)
            p = np.exp(scores - scores.max())
            p /= p.sum()
            np.testing.assert_allclose(np.exp(answers.scores[line]), np.sort(p)[::-1] + 1e-5, rtol=1e-4)
            np.testing.assert_allclose(p[answers.labels[line]], np.sort(p)[::-1], rtol=1e-4)
    wanted = np.arange(labels) % 3 != 1
    some = predictor.predict(starts, rows, labels, 0.0, wanted=wanted.astype(np.uint8))
    for line in np.flatnonzero(np.diff(starts)).tolist():
        own, count = wanted[answers.labels[line]], int(wanted.sum())
        assert some.found[line] == count
        assert np.array_equal(some.labels[line, :count], answers.labels[line, own])
        assert np.array_equal(some.scores[line, :count], answers.scores[line, own])
    with pytest.raises(ValueError, match=f"wanted: expected {labels} entries"):
        predictor.predict(starts, rows, 1, 0.0, wanted=np.ones(labels + 1, np.uint8))
    with pytest.raises(ValueError):
        predictor.predict(starts, rows + size, 1, 0.0)
    for loss in ("hs", "nce"):
        with pytest.raises(ValueError, match=r"no such output layer|tree is missing|expected one of"):
            _prediction.Predictor(FastTextArgs(loss=loss), block, output, dim=dim, labels=labels, sigmoid=sigmoid)


@pytest.mark.parametrize("isa", _cpu.usable())
def test_kept_scores_of_rows_do_not_depend_on_what_was_asked_before(isa):
    """With few labels. The last line is summed as fastText sums, since it is very long."""
    random, size, dim = np.random.default_rng(1), 900, 50
    for labels, loss in ((1, "softmax"), (2, "softmax"), (5, "softmax"), (6, "ova")):
        values = random.normal(0, 1, (size, dim)).astype(np.float32)
        values[7] = 0  # its scores are 0, too
        output = zeros(labels, pad_width(dim))
        output[:, :dim] = random.normal(0, 1, (labels, dim))
        counts = [*random.integers(0, 40, 99).tolist(), 20_000]
        lines = [random.integers(0, size, count).astype(np.int32) for count in counts]
        lines[5] = np.full(9, 7, np.int32)

        def made(output=output, values=values, labels=labels, loss=loss):
            block = values.view(np.uint8).reshape(size, 4 * dim)
            options = {"dim": dim, "labels": labels, "sigmoid": module._sigmoid_table(), "isa": isa}
            return _prediction.Predictor(FastTextArgs(loss=loss), block, output, **options)

        def ask(predictor, order, lines=lines, labels=labels):
            starts = np.cumsum([0, *(len(lines[line]) for line in order)])
            return predictor.predict(starts, np.concatenate([lines[line] for line in order]), labels, 0.0)

        predictor, order = made(), random.permutation(len(lines))
        first, again, other = ask(predictor, range(100)), ask(predictor, range(100)), ask(made(), order)
        assert first.scores.tobytes() == again.scores.tobytes()
        assert first.scores[order].tobytes() == other.scores.tobytes()
        assert first.labels[order].tobytes() == other.labels.tobytes()
        for line in np.flatnonzero(counts) if loss == "softmax" else []:
            scores = output[:, :dim].astype(float) @ values[lines[line]].astype(float).mean(axis=0)
            p = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            np.testing.assert_allclose(np.exp(first.scores[line]) - 1e-5, p[first.labels[line]], atol=2e-6)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("dim", [1, 7, 16, 17, 33, 100, 300])
@pytest.mark.parametrize("quantized", [False, True])
def test_sums_of_words_are_the_sums_of_their_rows(isa, dim, quantized):
    """Words with character n-grams, known and unknown, again and again, beside word n-grams and words that are too long
    to be kept."""
    random, labels, buckets = np.random.default_rng(dim), 40, 300
    known = WordList.from_words([f"word{i}" for i in range(30)])
    names = WordList.from_words([f"__label__{i}" for i in range(labels)])
    reader = _prediction.LineReader(
        (known.blob, known.starts), (names.blob, names.starts), minn=2, maxn=3, word_ngrams=2, buckets=buckets,
        bucket_row=None, prefix=b"__label__",
    )  # fmt: skip
    matrix = DenseMatrix(random.normal(0, 1, (len(known) + buckets, dim)).astype(np.float32))
    rows = {"input": matrix.values.view(np.uint8)}
    if quantized:
        packed = QuantMatrix.fit(matrix, 2, norms_apart=True)
        rows = {
            "input": packed.codes,
            "quantizer": (packed.quantizer.dsub, packed.quantizer.centroids),
            "norms": (packed.norm_codes, packed.norm_quantizer.centroids),
        }
    output = zeros(labels, pad_width(dim))
    output[:, :dim] = random.normal(0, 1 / np.sqrt(dim), (labels, dim))
    options = {"dim": dim, "labels": labels, "sigmoid": module._sigmoid_table(), "isa": isa, "reader": reader, **rows}
    predictor = _prediction.Predictor(FastTextArgs(loss="softmax"), output=output, **options)
    words = [*known, *(f"other{i}" for i in range(20)), "x" * 40, "a", "</s>"]
    text = "".join(" ".join(random.choice(words, random.integers(0, 30))) + "\n" for _ in range(60)).encode()
    cut = text.index(b"\n", len(text) // 2) + 1
    starts, every_row, *_ = reader.read(text)
    by_rows = predictor.predict(starts, every_row, labels, 0.0)
    found = [predictor.predict_text(part, labels, 0.0) for part in (text[:cut], text[cut:], text)]
    lines = len(found[0][0].found)
    assert found[2][1][-1] < starts[-1] / 4  # far fewer rows
    assert found[2][0].scores.tobytes() == b"".join(part[0].scores.tobytes() for part in found[:2])
    assert 0 < lines < 60
    mine, theirs = np.zeros((60, labels)), np.zeros((60, labels))
    np.put_along_axis(mine, found[2][0].labels, np.exp(found[2][0].scores), 1)
    np.put_along_axis(theirs, by_rows.labels, np.exp(by_rows.scores), 1)
    np.testing.assert_allclose(mine, theirs, atol=2e-6)
    for line in (0, lines, 59):
        again = predictor.predict_line(text.split(b"\n")[line] + b"\n", labels, 0.0)
        assert again[0] == found[2][0].labels[line].tolist()
        np.testing.assert_allclose(np.log(again[1]), found[2][0].scores[line], atol=1e-6)


@pytest.mark.parametrize("isa", _cpu.usable())
@pytest.mark.parametrize("labels", [1, 2, 7, 61, 62, 200])
def test_a_tree_gives_the_products_of_its_branches(isa, labels):
    """Fewer and more nodes than are scored for all lines, in float64; of labels as probable, those further left."""
    random, size, dim = np.random.default_rng(labels), 60, 33
    values = random.normal(0, 1, (size, dim)).astype(np.float32)
    values[0] = 0
    output = zeros(max(1, labels - 1), pad_width(dim))
    output[: labels - 1, :dim] = random.normal(0, 1, (labels - 1, dim))
    left, right = tree(np.sort(random.integers(1, 50, labels))[::-1].astype(np.int64))
    starts, rows = np.arange(size + 1, dtype=np.int64), np.arange(size, dtype=np.int32)
    options = {"dim": dim, "labels": labels, "sigmoid": module._sigmoid_table(), "tree": (left, right), "isa": isa}
    block = values.view(np.uint8).reshape(size, 4 * dim)
    predictor = _prediction.Predictor(FastTextArgs(loss="hs"), block, output, **options)
    p, order = np.ones((2 * labels - 1, size)), []

    def walk(node):
        if left[node] < 0:
            return order.append(node)
        branch = 1 / (1 + np.exp(-values.astype(float) @ output[node - labels, :dim].astype(float)))
        p[left[node]], p[right[node]] = p[node] * (1 - branch + 1e-5), p[node] * (branch + 1e-5)
        walk(left[node])
        walk(right[node])

    walk(2 * labels - 2)
    for k in sorted({1, min(5, labels), labels}):
        answers = predictor.predict(starts, rows, k, 0.0)
        expected = -np.sort(-p[:labels], axis=0)[:k]
        assert answers.found.tolist() == (expected >= 1e-5).sum(axis=0).tolist()
        for line, found in enumerate(answers.found):
            np.testing.assert_allclose(np.exp(answers.scores[line, :found]), expected[:found, line], atol=2e-6)
            np.testing.assert_allclose(p[answers.labels[line, :found], line], expected[:found, line], atol=2e-6)
    alike = [label for label in order if p[label, 0] > 0.999 * p[:labels, 0].max()]
    assert predictor.predict(starts, rows, 1, 0.0).labels[0, 0] == alike[-1]
    some = predictor.predict(starts, rows, labels, 0.2)
    assert some.found.tolist() == (p[:labels] >= 0.2 + 1e-5).sum(axis=0).tolist()


def test_words_that_were_forgotten_are_read_the_same():
    others = b" ".join(b"word%05dword" % i for i in range(60_000)) + b"\n"
    for name in ("cook-raw.ftz", "ft-labels.bin"):
        classifier, text = (
            load_classifier(GOLDEN / name),
            unpacked("cook.valid.txt")[:20_000].rsplit(b"\n", 1)[0] + b"\n",
        )
        starts, rows, *_ = classifier._engine.reader.read(text)
        all_starts, all_rows, *_ = classifier._engine.reader.read(others + text)
        assert all_rows[all_starts[1] :].tolist() == rows.tolist() and len(starts) == len(all_starts) - 1
        first = classifier.answer(text).scores.tobytes()
        classifier.answer(others)
        assert classifier.answer(text).scores.tobytes() == first


def test_the_tree_is_the_one_of_the_paths():
    """Left is bit 0, right bit 1, of the codes that training uses."""
    from wv_cli._word2vec import huffman

    counts = np.array([90, 40, 40, 12, 5, 5, 5, 1, 1, 0], np.int64)
    left, right = tree(counts)
    start, node, code = huffman(counts)
    for label in range(len(counts)):
        at = 2 * len(counts) - 2
        for k in range(start[label], start[label + 1]):
            assert node[k] == at - len(counts)
            at = int((right if code[k] else left)[at])
        assert at == label


def test_models_that_cannot_answer():
    with pytest.raises(WvError, match=r"holds word vectors .* not a classifier"):
        Classifier(load_model(GOLDEN / "ft-words.bin"), "ft-words.bin")


def test_predict_gives_names_and_probabilities(golden):
    model, text, expected = golden
    classifier, lines = Classifier(model), text.decode().splitlines()
    found = classifier.predict(lines, 3)
    compare("".join(" ".join(f"{name} {p}" for name, p in each) + "\n" for each in found), expected)
    assert classifier.predict(lines[0], 3) == found[:1] and classifier.predict([]) == []
    assert classifier.predict(["", lines[1]], 3)[1] == found[1]
    assert classifier.predict(f"{lines[1]} \ud800") == classifier.predict(f"{lines[1]} \ufffd")
    assert all(0.25 <= p <= 1 for each in classifier.predict(lines, ALL, 0.25) for _, p in each)
    for options in ({"k": 0}, {"threshold": 1.5}):
        with pytest.raises(UsageError, match=next(iter(options))):
            classifier.predict(lines, **options)
    with pytest.raises(ValueError, match=r"without line ends, found .*; put blanks in their place, or split it"):
        classifier.predict(["one\ntwo"])


def test_a_classifier_is_loaded_from_its_file():
    assert load_classifier(GOLDEN / "ft-labels.bin").predict("the king")[0][0][0].startswith("__label__")
    with pytest.raises(WvError, match="not a classifier"):
        load_classifier(GOLDEN / "ft-words.bin")


def test_blocks_are_whole_lines():
    text = b"one\n" + b"x" * 600_000 + b"\ntwo\n\nlast"
    for size in (1, 7, 1 << 18, 1 << 20):
        chunks = [text[i : i + size] for i in range(0, len(text), size)] if size > 1 else [text]
        blocks = list(blocks_of_lines(chunks))
        assert b"".join(blocks) == text
        assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_last_line_without_a_line_end_may_lack_its_word_for_it():
    """As fastText reads it; else the same as with one."""
    classifier = load_classifier(GOLDEN / "ft-labels.bin")
    whole, cut, bare = (
        classifier.answer(text, bare_end=bare_end).scores.tolist()
        for text, bare_end in ((b"the\nthe king\n", True), (b"the\nthe king", False), (b"the\nthe king", True))
    )
    assert whole == cut
    assert bare[0] == whole[0] and bare[1] != whole[1]


def test_sparse_rows_answer_too(golden):
    """A model just trained, not yet in a file."""
    model, text, expected = golden
    rows = np.arange(model.input.shape[0])
    sparse = SparseRows(model.input.shape, rows, model.input.take(rows))
    compare(answered(Classifier(replace(model, input=sparse)), text), expected)


def test_rows_of_zeros_need_not_be_stored() -> None:
    rng = np.random.default_rng(3)
    words, buckets, dim = 40, 500, 20
    values = rng.standard_normal((words + buckets, dim)).astype(np.float32)
    values[rng.random(len(values)) < 0.6] = 0
    names = [b"w%d" % i for i in range(words)]
    model = FastTextModel(
        args=FastTextArgs(
            dim=dim, word_ngrams=2, buckets=buckets, minn=0, maxn=0, model="supervised", loss="softmax", min_count=1
        ),
        words=WordList.from_words(names),
        counts=np.ones(words, np.int64),
        labels=WordList.from_words([b"__label__%d" % i for i in range(5)]),
        label_counts=np.arange(5, 0, -1),
        tokens=words,
        kept_buckets=None,
        input=DenseMatrix(values),
        output=DenseMatrix(rng.standard_normal((5, dim)).astype(np.float32)),
    )
    lines = [b" ".join(rng.choice(names, rng.integers(0, 30))) + b" new\n" for _ in range(3000)]
    lines.append(b" ".join(rng.choice(names, 1000)) + b"\n")
    before = Classifier(model)
    once = before.answer(b"".join(lines), k=3)
    kept = np.flatnonzero(values.any(axis=1))
    after = Classifier(replace(model, input=SparseRows(values.shape, kept, values[kept])))
    answered = list(after.answers([b"".join(lines)] * 12, k=3))
    assert np.concatenate([part.scores for part in answered])[-len(lines) :].tolist() == once.scores.tolist()
    assert np.concatenate([part.labels for part in answered])[: len(lines)].tolist() == once.labels.tolist()


def test_a_table_of_buckets_that_memory_does_not_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(GOLDEN / "cook-raw.ftz")
    assert model.kept_buckets is not None
    monkeypatch.setattr(memory, "available", lambda: 4 * model.args.buckets - 1)
    with pytest.raises(WvError, match=f"a table of {model.args.buckets:,} buckets needs"):
        Classifier(model)
