"""The class of fastText's models: methods, arguments and answers of its Python module."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.fasttext.meter import _Meter
from wv_cli.fasttext.mistakes import FastTextError, as_fasttext
from wv_cli.vectors.fasttext import END_OF_LINE, DenseMatrix, FastTextModel
from wv_cli.vectors.formats.fasttext_bin import load_model, save_model, sniff
from wv_cli.vectors.quantizer import QuantMatrix
from wv_cli.words import WordList, encode

if TYPE_CHECKING:
    from wv_cli.evaluation.labels import Counts
    from wv_cli.models.classifier import Classifier
    from wv_cli.vectors.neighbors.exact import Neighbors

Vector = NDArray[np.float32]
_TOKENS = re.compile(rb"[^ \n\r\t\v\f\0]+|\n")
_HEAD_BYTES = 1 << 10
_LEAST_ROWS = 256  # of a matrix that becomes codes
_LOADED_LR = 0.05  # fastText's default: a file holds none
# The arguments that are attributes of a model just trained.
_ATTRIBUTES = (
    *("lr", "dim", "ws", "epoch", "minCount", "minCountLabel", "minn", "maxn", "neg", "wordNgrams", "loss", "bucket"),
    *("thread", "lrUpdateRate", "t", "label", "verbose", "pretrainedVectors"),
)


class _FastText:
    """A fastText model. load_model and the trainings make it. Raises ValueError where fastText's does."""

    def __init__(self, model_path: str | PathLike[str] | None = None, args: Any = None) -> None:
        self._name = "the model" if model_path is None else fspath(model_path)
        self._label_prefix = b"__label__"
        if model_path is not None:
            self._model = _read(self._name)
        self.set_args(args)

    def set_args(self, args: Any = None) -> None:
        """Takes the arguments of a training as attributes."""
        if args is not None:
            self._model = args.trained
            self._label_prefix = encode(args.label)
            for name in _ATTRIBUTES:
                setattr(self, name, getattr(args, name))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made of the model when it is first needed."""
        return {name: value for name, value in vars(self).items() if name not in _MADE_LATER}

    def _replace(self, model: FastTextModel) -> None:
        self._model = model
        for name in _MADE_LATER:
            vars(self).pop(name, None)

    @property
    def f(self) -> NoReturn:
        """Raises AttributeError."""
        message = "f is an object of fastText's C++; call the model's methods, as is_quantized() for f.isQuant()"
        raise AttributeError(message)

    # What the model is.

    def is_quantized(self) -> bool:
        return isinstance(self._model.input, QuantMatrix)

    def get_dimension(self) -> int:
        """The numbers of a vector."""
        return self._model.dim

    @cached_property
    def words(self) -> list[str]:
        return _decode(self._model.words, "strict")

    @cached_property
    def labels(self) -> list[str]:
        return _decode(self._model.labels, "strict") if self._model.is_classifier else self.words

    @cached_property
    def _label_names(self) -> NDArray[np.object_]:
        return np.array(self.labels, object)

    def get_words(self, include_freq: bool = False, on_unicode_error: str = "strict") -> Any:
        """The words, the most frequent first, or with `include_freq` (words, their counts)."""
        words = _decode(self._model.words, on_unicode_error)
        return (words, np.array(self._model.counts, np.int64)) if include_freq else words

    def get_labels(self, include_freq: bool = False, on_unicode_error: str = "strict") -> Any:
        """The labels as get_words has the words, which are the labels of word vectors."""
        if not self._model.is_classifier:
            return self.get_words(include_freq, on_unicode_error)
        labels = _decode(self._model.labels, on_unicode_error)
        return (labels, np.array(self._model.label_counts, np.int64)) if include_freq else labels

    def __contains__(self, word: object) -> bool:
        return word in self._model.words

    def get_word_id(self, word: str) -> int:
        """The number of a word; labels follow the words; -1 for what is neither."""
        found = self._model.words.find(word)
        if found < 0 <= (label := self._model.labels.find(word)):
            return label + len(self._model.words)
        return found

    def get_label_id(self, label: str) -> int:
        """The number of a label, -1 for what is neither label nor word; words have numbers below."""
        found = self.get_word_id(label)
        return found if found < 0 else found - len(self._model.words)

    def get_input_matrix(self) -> Vector:
        """(words and buckets, dim), a copy. Raises ValueError for a quantized model."""
        return self._copy_matrix(self._model.input)

    def get_output_matrix(self) -> Vector:
        """(labels, dim), of word vectors (words, dim), a copy. Raises ValueError for a quantized model."""
        return self._copy_matrix(self._model.output)

    def _copy_matrix(self, matrix: Any) -> Vector:
        if self.is_quantized():
            raise FastTextError("Can't get quantized Matrix")
        copied: Vector = np.ascontiguousarray(matrix.take(np.arange(matrix.shape[0])))
        return copied

    def get_input_vector(self, ind: int) -> Vector:
        """A row of the input matrix. Raises IndexError."""
        rows = self._model.input.shape[0]
        if not 0 <= ind < rows:
            raise IndexError(f"row {ind} of an input matrix of {rows}")
        row: Vector = self._model.input.take(np.array([ind]))[0]
        return row

    def set_matrices(self, input_matrix: NDArray[Any], output_matrix: NDArray[Any]) -> None:
        """Gives the model other matrices with as many rows, which may have another dimension. Raises ValueError."""
        model = self._model
        matrices = [np.ascontiguousarray(each, np.float32) for each in (input_matrix, output_matrix)]
        for given, own in zip(matrices, (model.input, model.output), strict=True):
            if given.ndim != 2 or given.shape != (own.shape[0], matrices[0].shape[1]):
                raise FastTextError(f"a matrix of {given.shape} does not fit {own.shape[0]} rows")
        args = replace(model.args, dim=matrices[0].shape[1])
        self._replace(replace(model, args=args, input=DenseMatrix(matrices[0]), output=DenseMatrix(matrices[1])))

    # Words.

    def get_word_vector(self, word: str) -> Vector:
        """The vector of a word, of its n-grams if it is not known; zero if these are not, either."""
        with as_fasttext():
            return self._model.word_vector(word)

    def __getitem__(self, word: str) -> Vector:
        return self.get_word_vector(word)

    def get_sentence_vector(self, text: str) -> Vector:
        """The vector of a line. Raises ValueError for a line end inside."""
        _require_one_line(text, "predict")
        return self._model.sentence_vector(text)

    def get_subwords(self, word: str, on_unicode_error: str = "strict") -> tuple[list[str], NDArray[np.int64]]:
        """(parts, their rows): the word, if it is known, and its n-grams."""
        own = self._model.words.find(word)
        parts = [(encode(word), own)] if own >= 0 else []
        parts += self._model.ngrams(word)
        rows = np.array([row for _, row in parts], np.int64)
        return [part.decode("utf-8", on_unicode_error) for part, _ in parts], rows

    def get_subword_id(self, subword: str) -> int:
        """The row of an n-gram. Raises ValueError for a model without n-grams."""
        buckets = self._model.args.buckets
        if buckets < 1:
            raise FastTextError("the model has no rows of n-grams")
        listed = WordList.from_words([subword])
        return len(self._model.words) + int(_subwords.word_hashes(listed.blob, listed.starts)[0]) % buckets

    @cached_property
    def _neighbors(self) -> "Neighbors":
        from wv_cli.vectors.neighbors.exact import Neighbors

        return Neighbors(self._model.all_word_vectors())

    def get_nearest_neighbors(
        self, word: str, k: int = 10, on_unicode_error: str = "strict"
    ) -> list[tuple[float, str]]:
        """The `k` words with the largest cosines with `word`, as (cosine, word); a `k` below 0 stands for all."""
        return self._nearest(self.get_word_vector(word), [word], k, on_unicode_error)

    def get_analogies(
        self, wordA: str, wordB: str, wordC: str, k: int = 10, on_unicode_error: str = "strict"
    ) -> list[tuple[float, str]]:
        """The same for the unit vectors A - B + C; none of the three is an answer."""
        vectors = map(self.get_word_vector, (wordA, wordB, wordC))
        a, b, c = (vector / (np.linalg.norm(vector) + 1e-8) for vector in vectors)
        return self._nearest((a - b + c).astype(np.float32), [wordA, wordB, wordC], k, on_unicode_error)

    def _nearest(self, query: Vector, asked: Sequence[str], k: int, on_unicode_error: str) -> list[tuple[float, str]]:
        words = self._model.words
        own = [row for row in map(words.find, asked) if row >= 0]
        k = len(words) if k < 0 else min(k, len(words))
        if k == 0:
            return []
        hits, cosines = self._neighbors.top_k(query[None], k, exclude=[own])
        found = zip(cosines[0].tolist(), hits[0].tolist(), strict=True)
        return [(cosine, words.bytes_at(row).decode("utf-8", on_unicode_error)) for cosine, row in found if row >= 0]

    # Lines.

    @staticmethod
    def tokens(text: str | bytes) -> Iterator[bytes]:
        """The words of a text, and `</s>` for each line end."""
        found = _TOKENS.finditer(encode(text) if isinstance(text, str) else text)
        return (END_OF_LINE if each[0] == b"\n" else each[0] for each in found)

    def get_line(self, text: Any, on_unicode_error: str = "strict") -> tuple[list[Any], list[Any]]:
        """(words, known labels) of a line, or lists of these for a list. Raises ValueError for a line end inside."""
        if type(text) is list:
            for each in text:
                _require_one_line(each, "get_line")
            lines = [self.get_line(each, on_unicode_error) for each in text]
            return [words for words, _ in lines], [labels for _, labels in lines]
        _require_one_line(text, "get_line")
        words, labels = [], []
        for token in self.tokens(text + "\n"):
            if self._model.words.find(token) >= 0:
                words.append(token)
            elif self._model.labels.find(token) >= 0:
                labels.append(token)
            elif not token.startswith(self._label_prefix):
                words.append(token)
            if token == END_OF_LINE:
                break
        return [each.decode("utf-8", on_unicode_error) for each in words], [
            each.decode("utf-8", on_unicode_error) for each in labels
        ]

    @cached_property
    def _classifier(self) -> "Classifier":
        from wv_cli.models.classifier import Classifier

        if not self._model.is_classifier:
            raise FastTextError("Model needs to be supervised for prediction!")
        with as_fasttext():
            return Classifier(self._model, self._name)

    @overload
    def predict(
        self, text: list[str], k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ) -> tuple[list[list[str]], list[Vector]]: ...
    @overload
    def predict(
        self, text: str, k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict"
    ) -> tuple[tuple[str, ...], NDArray[np.float64]]: ...
    def predict(self, text: Any, k: int = 1, threshold: float = 0.0, on_unicode_error: str = "strict") -> Any:
        """(labels, probabilities) of a line, the best `k` of those that are at least as probable as `threshold`; a `k`
        of -1 stands for all. For a list of lines both are lists. Raises ValueError for a line end inside."""
        if on_unicode_error == "strict":
            names = self._label_names
        else:
            names = np.array(self.get_labels(False, on_unicode_error), object)
        if type(text) is list:
            return self._predict_lines(text, k, threshold, names)
        if not isinstance(text, str):
            message = f"text: expected a line as str, or a list of lines, found {type(text).__name__}"
            raise TypeError(message)
        if "\n" in text:
            _require_one_line(text, "predict")
        if k < 1:
            _require_count(k)
        labels, probabilities = self._classifier.answer_line(encode(text + "\n"), k, threshold)
        return tuple([names[label] for label in labels]), np.array(probabilities)

    def _predict_lines(
        self, lines: list[str], k: int, threshold: float, names: NDArray[np.object_]
    ) -> tuple[list[list[str]], list[Vector]]:
        text = "\n".join([*lines, ""])
        if text.count("\n") != len(lines):
            for each in lines:
                _require_one_line(each, "predict")
        _require_count(k)
        all_labels: list[list[str]] = []
        all_probabilities: list[Vector] = []
        for answered in self._classifier.answers([encode(text)] if lines else [], k, threshold):
            most = int(answered.found.max())
            scores = answered.scores[:, :most]
            # NumPy makes the lists and the rows of a whole block: Python's own loop takes as long as the arithmetic.
            labels: list[list[str]] = names[answered.labels[:, :most]].tolist()
            probabilities = list(np.exp(scores, dtype=np.float64).astype(np.float32))
            for line in np.flatnonzero(answered.found < most).tolist():
                found = answered.found[line]
                labels[line], probabilities[line] = labels[line][:found], probabilities[line][:found]
            all_labels += labels
            all_probabilities += probabilities
        return all_labels, all_probabilities

    # Labeled files.

    def _counts(self, path: str, k: int, threshold: float) -> "Counts":
        from wv_cli.evaluation.labels import Counts, count

        _require_test_file(path)
        _require_count(k)
        if not self._model.is_classifier:
            return Counts.none(0)
        return count(self._classifier, [path], k, threshold, bare_end=True)

    def test(self, path: str, k: int = 1, threshold: float = 0.0) -> tuple[int, float, float]:
        """(lines, precision, recall) on the labeled lines of a file."""
        counts = self._counts(path, k, threshold)
        precision, recall, _ = counts.micro()
        return counts.lines, precision, recall

    def test_label(self, path: str, k: int = 1, threshold: float = 0.0) -> dict[str, dict[str, float]]:
        """For every label its precision, recall and f1score on the labeled lines of a file."""
        from wv_cli.evaluation.labels import scores

        counts = self._counts(path, k, threshold)
        found = {}
        for row, label in enumerate(self.labels if len(counts.gold) else ()):
            precision, recall, f1 = scores(*(int(each[row]) for each in (counts.right, counts.predicted, counts.gold)))
            found[label] = {"precision": precision, "recall": recall, "f1score": f1}
        return found

    def get_meter(self, path: str, k: int = -1) -> _Meter:
        """Precision and recall at every threshold on the labeled lines of a file."""
        _require_test_file(path)
        _require_count(k)
        return _Meter(self.get_label_id, self._classifier, path, k)

    # Files.

    def save_model(self, path: str | PathLike[str]) -> None:
        """Writes the model, whole or not at all."""
        with as_fasttext():
            save_model(path, self._model)

    def quantize(
        self,
        input: str | None = None,
        qout: bool = False,
        cutoff: int = 0,
        retrain: bool = False,
        epoch: int | None = None,
        lr: float | None = None,
        thread: int | None = None,
        verbose: int | None = None,
        dsub: int = 2,
        qnorm: bool = False,
    ) -> None:
        """Makes the model smaller: of its rows `cutoff` are kept, and the numbers become codes. Raises ValueError."""
        from wv_cli.commands.retrain import retrainer
        from wv_cli.io.host import processors
        from wv_cli.transforms.config import QuantizeConfig
        from wv_cli.transforms.quantize import quantize

        if retrain and not input:
            raise FastTextError("Need input file path if retraining")
        model, rows = self._model, self._model.input.shape[0]
        if not model.is_classifier:
            raise FastTextError("For now we only support quantization of supervised models")
        pruned = 0 < cutoff < rows
        if (cutoff if pruned else rows) < _LEAST_ROWS or (qout and len(model.labels) < _LEAST_ROWS):
            raise FastTextError(f"Matrix too small for quantization, must have at least {_LEAST_ROWS} rows")
        config = QuantizeConfig(
            cutoff=cutoff if pruned else 0,
            dsub=dsub,
            qnorm=qnorm,
            qout=qout,
            retrain=retrain and pruned,
            epochs=epoch or model.args.epochs,
            lr=lr or float(getattr(self, "lr", _LOADED_LR)),
            threads=max(1, min(thread or processors(), processors())),
            seed=0,
        )
        with as_fasttext():
            config.validate()
            retraining = retrainer([str(input)], config) if config.retrain else None
            self._replace(quantize(model, config, retraining))


_MADE_LATER = ("words", "labels", "_label_names", "_neighbors", "_classifier")


def _read(path: str) -> FastTextModel:
    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise FastTextError(f"{path} cannot be opened for loading!") from error
    if not sniff(head):
        raise FastTextError(f"{path} has wrong file format!")
    with as_fasttext():
        return load_model(path)


def _decode(words: WordList, errors: str) -> list[str]:
    if errors == "surrogateescape":
        return list(words)
    return [words.bytes_at(row).decode("utf-8", errors) for row in range(len(words))]


def _require_one_line(text: str, function: str) -> None:
    if text.find("\n") != -1:
        raise FastTextError(f"{function} processes one line at a time (remove '\\n')")


def _require_count(k: int) -> None:
    if k < 1 and k != -1:
        raise FastTextError("k needs to be 1 or higher!")


def _require_test_file(path: str) -> None:
    if not Path(path).is_file():
        raise FastTextError("Test file cannot be opened!")
