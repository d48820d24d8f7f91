"""What fastText's commands that ask a model have in common: how it is opened, and the numbers K and TH."""

from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.cli.compat import abort

if TYPE_CHECKING:
    from wv_cli.vectors.fasttext import FastTextModel

_HEAD_BYTES = 1 << 10


def load(path: str) -> "FastTextModel":
    """The model at `path`. Aborts as fastText when it is not there or no model; raises BadFile for a damaged one."""
    from wv_cli.vectors.formats.fasttext_bin import load_model, sniff

    try:
        with Path(path).open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        abort(f"{path} cannot be opened for loading!")
    if not sniff(head):
        abort(f"{path} has wrong file format!")
    return load_model(path)


def require_count(k: int, *, all_labels: bool = False) -> None:
    """Aborts for a number of answers below 1; with `all_labels` -1 stands for every one."""
    if k < 1 and not (all_labels and k == -1):
        abort("k needs to be 1 or higher!")
