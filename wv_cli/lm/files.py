"""The table of files that hold a language model, and reading and writing by it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from wv_cli.errors import BadFile, UsageError, shown
from wv_cli.lm import arpa, binary
from wv_cli.lm.model import LanguageModel
from wv_cli.registry import Registry
from wv_cli.system.compression import inner_name
from wv_cli.system.input import Input, open_input
from wv_cli.system.kinds import HEAD_BYTES, kind_of
from wv_cli.system.output import open_output


@dataclass(frozen=True)
class ModelFormat:
    """`looks_like` is given a file's first bytes; `endings` choose the format of a file to be written. `write` is told
    how many bits to quantise numbers to, None without quantising and where `quantises` is false."""

    summary: str
    endings: tuple[str, ...]
    looks_like: Callable[[bytes], bool]
    read: Callable[[Input], LanguageModel]
    write: Callable[[BinaryIO, LanguageModel, int | None], None]
    quantises: bool

    def require_quantise(self, bits: int | None) -> None:
        """Raises UsageError for quantising what is written digit by digit."""
        if bits is not None and not self.quantises:
            message = "--quantise makes binary files smaller; name the output .lm, or leave it out"
            raise UsageError(message)


MODEL_FORMATS: Registry[ModelFormat] = Registry(
    "model format",
    [
        ("arpa", ModelFormat("text, of every toolkit", (".arpa",), arpa.looks_like, arpa.read, arpa.write, False)),
        ("binary", ModelFormat("our own", (".lm",), binary.looks_like, binary.read, binary.write, True)),
    ],
)


def load(path: str | os.PathLike[str]) -> LanguageModel:
    """Reads a model from a file or `-`, plain or compressed, of any of MODEL_FORMATS. Raises BadFile with the line or
    byte of the first fault, WvError when the file cannot be read; warns with FormatWarning of what was mended."""
    with open_input(path, "a language model") as source:
        head = source.peek(HEAD_BYTES)
        for row in MODEL_FORMATS.values():
            if row.looks_like(head):
                return row.read(source)
        problem = f"expected a language model ({', '.join(MODEL_FORMATS)}), found {kind_of(head) or shown(head, 20)}"
        raise BadFile(source.name, problem, byte=0)


def format_for_output(path: str, format: str | None = None) -> ModelFormat:
    """The format to write `path` in: the one called `format`, else by the name's ending, else (`-`) ARPA. Raises
    UsageError."""
    if format is not None:
        return MODEL_FORMATS.find(format)
    if path == "-":
        return MODEL_FORMATS["arpa"]
    row = next((row for row in MODEL_FORMATS.values() if inner_name(path).endswith(row.endings)), None)
    if row is None:
        choices = ", ".join(f"{name} ({', '.join(row.endings)})" for name, row in MODEL_FORMATS.items())
        message = f"{path}: the ending names no format to write; choose one by --to or the ending: {choices}"
        raise UsageError(message)
    return row


def save(path: str, model: LanguageModel, *, format: str | None = None, quantise: int | None = None) -> None:
    """Writes a model, whole or not at all, compressed where the name ends so. `quantise`: probabilities and back-offs
    of each length take at most 2^quantise values. Raises UsageError, WvError."""
    row = format_for_output(path, format)
    row.require_quantise(quantise)
    with open_output(path) as stream:
        row.write(stream, model, quantise)
