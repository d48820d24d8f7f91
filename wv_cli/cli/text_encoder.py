"""`wv_cli.TextEncoder`: what `wv vectors --sentences` makes of texts, with the arguments of sentence-transformers."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from wv_cli.cli.arguments import argument_names
from wv_cli.cli.spoken import text_bar
from wv_cli.commands.parts.pooling import TextPooling
from wv_cli.config import require
from wv_cli.config.wording import arguments_in_errors
from wv_cli.encoders.config import EncoderConfig
from wv_cli.errors import UsageError
from wv_cli.io.arguments import list_texts, require_type, truth, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.io.events import OnProgress

OPTIONS = {**TextPooling.options(), **EncoderConfig.options()}
_BATCH = 64  # encoders.base.SENTENCES, which imports numpy
_PRECISIONS = ("float32", "binary", "ubinary")
# sentence-transformers has these of every model.
NO_PROMPTS: Mapping[str, str] = MappingProxyType({"query": "", "document": ""})


@dataclass(frozen=True)
class Pass:
    """How texts go through a model: `batch_size` of them at once, to unit length with `unit`. The `prompt` stands
    before each; None: that of the folder."""

    batch_size: int
    unit: bool
    prompt: str | None = None
    on_progress: "OnProgress | None" = None

    def add_prompt(self, texts: list[str]) -> list[str]:
        """The texts with the prompt, for models that have none of their own."""
        return [self.prompt + text for text in texts] if self.prompt else texts


@dataclass(frozen=True, eq=False)
class TextEncoder:
    """Encodes texts, with the arguments of sentence-transformers. `load_encoder` makes it. `name` is the model's
    path, `dim` how many numbers its vectors have, `prompts` are those of the folder by their names."""

    name: str
    dim: int
    _vectors: "Callable[[list[str], Pass], NDArray[np.float32]]"
    prompts: Mapping[str, str] = field(default_factory=lambda: NO_PROMPTS)
    similarity_fn_name: str = "cosine"
    _truncate_dim: int | None = None
    _open_again: "Callable[[], TextEncoder] | None" = field(default=None, repr=False)

    def __reduce__(self) -> "tuple[Callable[[], TextEncoder], tuple[()]]":
        """The call that opened it: another process opens the model by its path."""
        assert self._open_again is not None
        return self._open_again, ()

    def __copy__(self) -> "TextEncoder":
        return self  # it does not change

    def __deepcopy__(self, memo: dict[int, Any]) -> "TextEncoder":
        return self

    def get_sentence_embedding_dimension(self) -> int:
        """How many numbers of a vector encode gives."""
        return self._truncate_dim or self.dim

    get_embedding_dimension = get_sentence_embedding_dimension

    def encode(
        self,
        inputs: str | Iterable[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = _BATCH,
        show_progress_bar: bool | None = None,
        output_value: Literal["sentence_embedding"] = "sentence_embedding",
        precision: Literal["float32", "binary", "ubinary"] = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Literal["cpu"] | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> "NDArray[Any]":
        """Vectors of texts in their order: (texts, dim) float32, of one str (dim,), of no text (0, dim).

        The `prompt`, or that of `prompt_name` in `prompts`, stands before every text, in place of the folder's default.
        `normalize_embeddings` scales vectors to unit length; without it they are as the model's folder says.
        `truncate_dim` keeps the first numbers of each, before scaling. `precision` ubinary is the signs, 8 a byte, the
        first in the highest bit, and binary the same less 128 as int8. A network takes `batch_size` texts at once. A
        text without a known word has the zero vector. Raises TypeError, UsageError and WvError.
        """
        texts = list_texts(inputs, "inputs", "text")
        before = self._find_prompt(prompt_name, prompt)
        size = whole_number(batch_size, "batch_size")
        require(size >= 1, f"batch_size must be 1 or more, not {size}")
        require_type(precision, str, "precision", "a name as str")
        message = f"precision must be one of {', '.join(_PRECISIONS)}, not {precision}"
        reason = "; int8 and uint8 would depend on the other texts of the call" if "int8" in precision else ""
        require(precision in _PRECISIONS, message + reason)
        message = (
            f"output_value must be sentence_embedding, not {output_value!r:.40}; `wv vectors --encoder` gives tokens"
        )
        require(output_value == "sentence_embedding", message)
        if not truth(convert_to_numpy, "convert_to_numpy") or truth(convert_to_tensor, "convert_to_tensor"):
            raise UsageError("the vectors are an array of NumPy; torch.from_numpy makes a tensor of it")
        require_cpu(device)
        shows = show_progress_bar is not None and truth(show_progress_bar, "show_progress_bar")
        kept = self.get_sentence_embedding_dimension() if truncate_dim is None else self._require_dim(truncate_dim)
        scaled = truth(normalize_embeddings, "normalize_embeddings")
        with arguments_in_errors(argument_names(OPTIONS)), text_bar(len(texts), shown=shows) as on_progress:
            vectors = self._vectors(texts, Pass(size, scaled and kept == self.dim, before, on_progress))[:, :kept]
        if kept < self.dim and scaled:
            vectors = unit_vectors(vectors)
        if precision != "float32":
            vectors = _pack_signs(vectors, precision)
        return vectors[0] if isinstance(inputs, str) else vectors

    def _require_dim(self, truncate_dim: int) -> int:
        kept = whole_number(truncate_dim, "truncate_dim")
        require(1 <= kept <= self.dim, f"truncate_dim must be between 1 and the {self.dim} of the model, not {kept}")
        return kept

    def _find_prompt(self, name: str | None, prompt: str | None) -> str | None:
        """What stands before each text; None: the folder's default."""
        require_type(name, (str, type(None)), "prompt_name", "a name as str")
        require_type(prompt, (str, type(None)), "prompt", "a text as str")
        if name is None:
            return prompt
        require(prompt is None, "prompt and prompt_name say both what stands before a text; give one")
        message = f"prompt_name must be one of {', '.join(self.prompts)}, not {name!r:.40}; or give the text as prompt="
        require(name in self.prompts, message)
        return self.prompts[name]

    def encode_query(
        self, inputs: str | Iterable[str], prompt_name: str | None = None, prompt: str | None = None, *more: Any,
        **options: Any,
    ) -> "NDArray[Any]":  # fmt: skip
        """encode, where no prompt is given with that of the name query."""
        name = "query" if prompt_name is None and prompt is None else prompt_name
        return self.encode(inputs, name, prompt, *more, **options)

    def encode_document(
        self, inputs: str | Iterable[str], prompt_name: str | None = None, prompt: str | None = None, *more: Any,
        **options: Any,
    ) -> "NDArray[Any]":  # fmt: skip
        """encode, where no prompt is given with that of the name document. Raises UsageError where the folder has none
        of this name but one for passages, which sentence-transformers describes as a stand-in and does not use."""
        name = "document" if prompt_name is None and prompt is None else prompt_name
        if name == "document" != prompt_name and not self.prompts["document"]:
            other = next((each for each in ("passage", "corpus") if self.prompts.get(each)), None)
            message = f"{self.name} has no prompt for documents but one of the name {other}; give prompt_name={other!r}"
            require(other is None, f"{message}, or prompt='' for none")
        return self.encode(inputs, name, prompt, *more, **options)

    def similarity(self, first: Any, second: Any) -> "NDArray[np.float32]":
        """(rows of `first`, rows of `second`) similarities of vectors by `similarity_fn_name`, which the folder may
        say; cosines are 0 for a zero vector. One vector is one row. Raises ValueError for vectors of other lengths than
        each other, UsageError for an unknown measure."""
        from wv_cli.encoders.similarity import compare_all

        return compare_all(first, second, self._require_measure())

    def similarity_pairwise(self, first: Any, second: Any) -> "NDArray[np.float32]":
        """(rows,) similarities of the vectors in the same row. Raises as similarity."""
        from wv_cli.encoders.similarity import compare_pairs

        return compare_pairs(first, second, self._require_measure())

    def _require_measure(self) -> str:
        from wv_cli.encoders.similarity import SIMILARITIES

        found = self.similarity_fn_name
        known = ", ".join(SIMILARITIES)
        require(found in SIMILARITIES, f"{self.name}: similarity_fn_name must be one of {known}, not {found!r:.40}")
        return found


def require_cpu(device: object) -> None:
    """Raises UsageError for another device."""
    message = f"device={device!r:.40} is not supported: texts are encoded on the CPU; leave it out"
    require(device is None or str(device) == "cpu", message)


def unit_vectors(vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    from wv_cli.encoders.base import unit_rows

    return unit_rows(vectors.astype(np.float64)).astype(np.float32)


def _pack_signs(vectors: "NDArray[np.float32]", precision: str) -> "NDArray[Any]":
    import numpy as np

    packed = np.packbits(vectors > 0, axis=1)
    return packed if precision == "ubinary" else (packed ^ 0x80).view(np.int8)
