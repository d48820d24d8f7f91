"""The table of files that hold a model of n-grams, and reading and writing by it; reading neural models, too, which
`wv train` writes."""

import os
import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from wv_cli.errors import BadFile, UsageError, show_head
from wv_cli.io.compression import inner_name
from wv_cli.io.input import Input, open_input
from wv_cli.io.kinds import HEAD_BYTES, kind_of
from wv_cli.lm.asking import LanguageModel
from wv_cli.registry import Registry
from wv_cli.registry import load as load_place

if TYPE_CHECKING:
    from wv_cli.lm.model import Ngrams
    from wv_cli.lm.neural import NeuralModel


class ModelFormat(NamedTuple):
    """`begins` is a regular expression of a file's first bytes; `endings` choose the format of a file to be written.
    The module, which is imported for such a file, has `read` and `write`; a format without endings is only read."""

    summary: str
    endings: tuple[str, ...]
    begins: bytes
    module: str
    quantizes: bool = False

    def read(self, source: Input) -> LanguageModel:
        """Raises what `load` raises."""
        return cast(LanguageModel, load_place(f"{self.module}:read")(source))

    def write(self, stream: BinaryIO, model: "Ngrams", quantize: int | None) -> None:
        """`quantize` is how many bits numbers are quantized to, None without quantizing."""
        load_place(f"{self.module}:write")(stream, model, quantize)

    def require_quantize(self, bits: int | None) -> None:
        """Raises UsageError for quantizing what is written digit by digit."""
        if bits is not None and not self.quantizes:
            message = "--quantize makes binary files smaller; name the output .lm, or leave it out"
            raise UsageError(message)


# \data\ in a line of its own, with no NUL before it.
_ARPA = rb"(?:[^\0]*\n)?[ \t]*\\data\\[ \t\r]*(?:\n|\Z)"
_NEURAL = ModelFormat("neural", (), rb"wv neural-lm 1\n", "wv_cli.lm.neural_files")
MODEL_FORMATS: Registry[ModelFormat] = Registry(
    "model format",
    [
        (name, ModelFormat(summary, endings, begins, f"wv_cli.lm.{name}", quantizes))
        for name, summary, endings, begins, quantizes in [
            ("arpa", "text, of every toolkit", (".arpa",), _ARPA, False),
            ("binary", "our own", (".lm",), rb"wv (?:packed-)?ngrams 1\n", True),
            ("kenlm", "of KenLM's build_binary", (), rb"mmap lm http://kheafield\.com/code ", False),
        ]
    ],
)


def load(path: str | os.PathLike[str]) -> LanguageModel:
    """Reads a model from a file or `-`, plain or compressed: of n-grams, of any of MODEL_FORMATS, or neural. Raises
    BadFile with the line or byte of the first fault, WvError when the file cannot be read; warns with FormatWarning of
    what was mended."""
    with open_input(path, "a language model") as source:
        head = source.peek(HEAD_BYTES)
        for row in (_NEURAL, *MODEL_FORMATS.values()):
            if re.match(row.begins, head):
                return row.read(source)
        import wv_cli.vectors.heads  # noqa: F401  # by which kind_of names vectors, too

        found = kind_of(head) or show_head(head)
        problem = f"expected a language model ({', '.join([*MODEL_FORMATS, 'neural'])}), found {found}"
        raise BadFile(source.name, problem, byte=0)


def load_ngrams(path: str | os.PathLike[str]) -> "Ngrams":
    """The same of n-grams, to be written. Raises UsageError for a neural model, which no other format can hold, and for
    a KenLM file whose n-grams cannot be listed."""
    from wv_cli.lm.kenlm import KenlmModel
    from wv_cli.lm.neural import NeuralModel

    model = load(path)
    if isinstance(model, KenlmModel):
        return model.unpack()
    if isinstance(model, NeuralModel):
        message = f"{os.fspath(path)}: a neural model, which no other format can hold; give a model of n-grams"
        raise UsageError(message)
    return model


def load_neural(path: str | os.PathLike[str]) -> "NeuralModel":
    """The same of a neural model. Raises UsageError for one of n-grams."""
    from wv_cli.lm.neural import NeuralModel

    model = load(path)
    if not isinstance(model, NeuralModel):
        message = (
            f"{os.fspath(path)}: a model of n-grams, which has no vectors; give a neural model (wv train --model lbl)"
        )
        raise UsageError(message)
    return model


def format_for_output(path: str, format: str | None = None) -> ModelFormat:
    """The format to write `path` in: the one called `format`, else by the name's ending, else (`-`) ARPA. Raises
    UsageError."""
    if format is not None:
        chosen = MODEL_FORMATS.find(format)
        if not chosen.endings:
            message = f"--to {format}: wv reads files {chosen.summary} and does not write them; choose arpa or binary"
            raise UsageError(message)
        return chosen
    if path == "-":
        return MODEL_FORMATS["arpa"]
    row = next((row for row in MODEL_FORMATS.values() if row.endings and inner_name(path).endswith(row.endings)), None)
    if row is None:
        written = {name: row for name, row in MODEL_FORMATS.items() if row.endings}
        choices = ", ".join(f"{name} ({', '.join(row.endings)})" for name, row in written.items())
        message = f"{path}: the ending names no format to write; choose one by --to or the ending: {choices}"
        raise UsageError(message)
    return row


def save(path: str, model: "Ngrams", *, format: str | None = None, quantize: int | None = None) -> None:
    """Writes a model, whole or not at all, compressed where the name ends so. `quantize`: probabilities and back-offs
    of each length take at most 2^quantize values. Raises UsageError, WvError."""
    row = format_for_output(path, format)
    row.require_quantize(quantize)
    from wv_cli.io.output import open_output

    with open_output(path) as stream:
        row.write(stream, model, quantize)
