"""`wv_cli.load_encoder`: what `wv vectors --sentences` makes of texts, by a model that is opened once."""

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from wv_cli.cli.arguments import argument_names, read_arguments
from wv_cli.commands.parts.pooling import TextPooling
from wv_cli.config import arguments_in_errors, require
from wv_cli.encoders.config import EncoderConfig
from wv_cli.errors import UsageError
from wv_cli.io.arguments import list_texts, path_text, require_type, truth, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.encoders.base import Encoder

Case = Literal["fold-first", "lower", "none"]
Path = str | os.PathLike[str]
_OF_WORDS = ("mean", "sif", "idf")
_OPTIONS = {**TextPooling.options(), **EncoderConfig.options()}
_BATCH = 64  # encoders.base.SENTENCES, which imports numpy
_PRECISIONS = ("float32", "binary", "ubinary")


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """Encodes texts, with the argument names of sentence-transformers. `load_encoder` makes it. `name` is the model's
    path, `dim` how many numbers its vectors have."""

    name: str
    dim: int
    _vectors: "Callable[[list[str], int, bool], NDArray[np.float32]]"
    _prompts: Mapping[str, str] = field(default_factory=dict)
    _truncate_dim: int | None = None

    def get_sentence_embedding_dimension(self) -> int:
        """How many numbers of a vector encode gives."""
        return self._truncate_dim or self.dim

    get_embedding_dimension = get_sentence_embedding_dimension

    def encode(
        self,
        inputs: str | Iterable[str],
        *,
        batch_size: int = _BATCH,
        show_progress_bar: bool | None = None,
        precision: Literal["float32", "binary", "ubinary"] = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> "NDArray[Any]":
        """Vectors of texts in their order: (texts, dim) float32, of one str (dim,), of no text (0, dim).

        `normalize_embeddings` scales vectors to unit length; without it they are as the model's folder says.
        `truncate_dim` keeps the first numbers of each, before scaling. `precision` ubinary is the signs, 8 a byte, the
        first in the highest bit, and binary the same less 128 as int8. A network takes `batch_size` texts at once. A
        text without a known word has the zero vector. Raises TypeError, UsageError and WvError.
        """
        texts = list_texts(inputs, "inputs", "text")
        size = whole_number(batch_size, "batch_size")
        require(size >= 1, f"batch_size must be 1 or more, not {size}")
        require_type(precision, str, "precision", "a name as str")
        message = f"precision must be one of {', '.join(_PRECISIONS)}, not {precision}"
        reason = "; int8 and uint8 would depend on the other texts of the call" if "int8" in precision else ""
        require(precision in _PRECISIONS, message + reason)
        if not truth(convert_to_numpy, "convert_to_numpy") or truth(convert_to_tensor, "convert_to_tensor"):
            raise UsageError("the vectors are an array of NumPy; torch.from_numpy makes a tensor of it")
        require(not show_progress_bar, "show_progress_bar: the library prints nothing; leave it out")
        kept = self.get_sentence_embedding_dimension() if truncate_dim is None else self._require_dim(truncate_dim)
        scaled = truth(normalize_embeddings, "normalize_embeddings")
        with arguments_in_errors(argument_names(_OPTIONS)):
            vectors = self._vectors(texts, size, scaled and kept == self.dim)[:, :kept]
        if kept < self.dim and scaled:
            vectors = _unit_rows(vectors)
        if precision != "float32":
            vectors = _pack_signs(vectors, precision)
        return vectors[0] if isinstance(inputs, str) else vectors

    def _require_dim(self, truncate_dim: int) -> int:
        kept = whole_number(truncate_dim, "truncate_dim")
        require(1 <= kept <= self.dim, f"truncate_dim must be between 1 and the {self.dim} of the model, not {kept}")
        return kept

    def encode_query(self, inputs: str | Iterable[str], **options: Any) -> "NDArray[Any]":
        """encode. Raises UsageError where the model's folder has a prompt for queries."""
        return self._encode_without_prompt(("query",), inputs, options)

    def encode_document(self, inputs: str | Iterable[str], **options: Any) -> "NDArray[Any]":
        """encode. Raises UsageError where the model's folder has a prompt for documents."""
        return self._encode_without_prompt(("document", "passage", "corpus"), inputs, options)

    def _encode_without_prompt(
        self, names: tuple[str, ...], inputs: str | Iterable[str], options: dict[str, Any]
    ) -> "NDArray[Any]":
        prompt = next((self._prompts[name] for name in names if name in self._prompts), None)
        if prompt is not None:
            message = f"{self.name} has the prompt {prompt!r:.60} for such texts; begin them with it and call encode"
            raise UsageError(message)
        return self.encode(inputs, **options)

    def similarity_pairwise(self, first: Any, second: Any) -> "NDArray[np.float32]":
        """(rows,) cosines of the vectors in the same row. Raises ValueError for arrays of different sizes."""
        import numpy as np

        one, other = (_unit_rows(np.atleast_2d(np.asarray(each, np.float32))) for each in (first, second))
        if one.ndim != 2 or one.shape != other.shape:
            message = f"expected two arrays of the same shape, found {one.shape}, {other.shape}"
            raise ValueError(message)
        return np.asarray((one * other).sum(axis=1), np.float32)

    def similarity(self, first: Any, second: Any) -> "NDArray[np.float32]":
        """(rows of `first`, rows of `second`) cosines of vectors, 0 for a zero vector. One vector is one row. Raises
        ValueError for vectors of other lengths than each other."""
        import numpy as np

        one, other = (_unit_rows(np.atleast_2d(np.asarray(each, np.float32))) for each in (first, second))
        if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
            message = f"expected two arrays of vectors of the same length, found the shapes {one.shape}, {other.shape}"
            raise ValueError(message)
        return np.asarray(one @ other.T, np.float32)


def load_encoder(
    model: Path,
    *,
    pooling: str | None = None,
    counts: Path | None = None,
    case: Case = "fold-first",
    transform: Path | None = None,
    max_length: int = 0,
    dim: int = 0,
    normalize: bool | None = None,
    threads: int = 0,
    device: Literal["cpu"] | None = None,
    truncate_dim: int | None = None,
) -> TextEncoder:
    """The encoder of a file of vectors, a fastText or doc2vec model, or a folder of an encoder or static embedding.

    Its `encode` gives the vectors of `wv_cli.encode` with the same options. `transform` is a file of
    `wv whiten --save-transform`, which is applied to them. `truncate_dim` is that of `encode` for every call, and
    `device` can only be "cpu". Raises TypeError, UsageError, WvError.
    """
    rule = {"pooling": pooling, "counts": counts, "case": case}
    settings = {"max_length": max_length, "dim": dim, "normalize": normalize, "threads": threads}
    require(
        device in (None, "cpu"), f"device={device!r:.40} is not supported: texts are encoded on the CPU; leave it out"
    )
    path = path_text(model, "model")
    affine = path_text(transform, "transform") if transform is not None else None
    with arguments_in_errors(argument_names(_OPTIONS)):
        words = TextPooling(**read_arguments(rule, _OPTIONS, "load_encoder"))
        config = EncoderConfig(**read_arguments(settings, _OPTIONS, "load_encoder"))
        opened = _open(path, words, config)
        opened = _with_transform(opened, affine, config.threads) if affine is not None else opened
    return opened if truncate_dim is None else replace(opened, _truncate_dim=opened._require_dim(truncate_dim))


def _open(path: str, rule: TextPooling, config: EncoderConfig) -> TextEncoder:
    from wv_cli.encoders import encoder_folder

    config.validate()
    folder = encoder_folder(path)
    if folder is not None:
        rule.validate()
        require(rule.counts is None, f"--counts weighs words of vectors, and {path} is the folder of an encoder")
        return _of_folder(str(folder), rule.pooling, config)
    for name in ("max_length", "dim", "normalize"):
        is_default = getattr(config, name) == _OPTIONS[name].default
        require(is_default, f"{_OPTIONS[name].flag} needs the folder of an encoder, and {path} is none")
    require(
        rule.pooling in (None, *_OF_WORDS),
        f"--pooling must be one of {', '.join(_OF_WORDS)} for word vectors, not {rule.pooling}",
    )
    rule.validate()
    if rule.pooling is None:
        require(rule.counts is None, "--counts needs --pooling sif or idf")
        return _of_model(path)
    needs = "sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
    require(rule.counts is not None or rule.pooling != "sif", needs)
    require(rule.counts is None or rule.pooling != "mean", "--counts has no effect with --pooling mean; leave it out")
    return _of_words(path, rule, rule.pooling)


def _of_folder(folder: str, pooling: str | None, config: EncoderConfig) -> TextEncoder:
    from wv_cli.commands.sentences import OfEncoder
    from wv_cli.encoders.base import encode
    from wv_cli.io.folders import Usage

    asking = OfEncoder(file=folder, config=config, pooling=pooling, precision=6, as_json=False)
    source: Encoder = asking.open()
    chosen, own = asking.require_pooling(source), config.normalize
    unit = source.normalize if own is None else own

    def vectors(texts: list[str], batch_size: int, normalize: bool) -> "NDArray[np.float32]":
        scaled = unit or normalize
        return encode(
            source, texts, [chosen], normalize=scaled, threads=config.threads, batch_size=batch_size
        )[0].vectors  # fmt: skip

    return TextEncoder(folder, source.dim, vectors, Usage.from_folder(pathlib.Path(folder)).prompts)


def _of_model(path: str) -> TextEncoder:
    """By the own rule of a model or of vectors."""
    from wv_cli.transforms.composition import composer
    from wv_cli.vectors.formats import open_vectors
    from wv_cli.vectors.formats.lines import require_finite

    source = composer(open_vectors(path, mapped=True), path)

    def vectors(texts: list[str], batch_size: int, normalize: bool) -> "NDArray[np.float32]":
        found = source.lines(texts)
        require_finite(found, texts, path)
        return _unit_rows(found) if normalize else found

    return TextEncoder(path, source.dim, vectors)


def _of_words(path: str, rule: TextPooling, pooling: str) -> TextEncoder:
    """By another rule for words."""
    import numpy as np

    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.sentences import sentence_vectors
    from wv_cli.vectors.formats import load
    from wv_cli.vectors.lookup import Lookup

    words = load(path)
    lookup = Lookup(words, rule.case)
    vocab = read_vocab(rule.counts) if rule.counts is not None else None

    def vectors(texts: list[str], batch_size: int, normalize: bool) -> "NDArray[np.float32]":
        made, _ = sentence_vectors(texts, words, lookup, pooling, vocab=vocab)
        found = made.astype(np.float32)
        return _unit_rows(found) if normalize else found

    return TextEncoder(path, words.dim, vectors)


def _with_transform(source: TextEncoder, path: str, threads: int) -> TextEncoder:
    """Raises BadFile, WvError for a file that is no transform of such vectors."""
    from wv_cli.transforms.whiten import Transform
    from wv_cli.vectors.formats.lines import require_finite

    affine = Transform.load(path)
    affine.require_dim(source.dim, source.name)

    def vectors(texts: list[str], batch_size: int, normalize: bool) -> "NDArray[np.float32]":
        found = affine.apply(source._vectors(texts, batch_size, False), threads=threads)
        require_finite(found, texts, path)
        return _unit_rows(found) if normalize else found

    return TextEncoder(source.name, affine.new_dim, vectors, source._prompts)


def _unit_rows(vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    from wv_cli.encoders.base import unit_rows

    return unit_rows(vectors.astype(np.float64)).astype(np.float32)


def _pack_signs(vectors: "NDArray[np.float32]", precision: str) -> "NDArray[Any]":
    import numpy as np

    packed = np.packbits(vectors > 0, axis=1)
    return packed if precision == "ubinary" else (packed ^ 0x80).view(np.int8)
