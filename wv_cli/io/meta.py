"""Sidecars: NAME.meta.json tells how NAME was made."""

import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wv_cli import __version__, _cpu
from wv_cli.io import host
from wv_cli.io.output import open_output
from wv_cli.io.remote import show_names

ENDING = ".meta.json"


def sidecar_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)}{ENDING}"


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The sidecar of `path`, nothing where it has none that can be read."""
    try:
        text = Path(sidecar_path(path)).read_bytes()
    except (OSError, ValueError):
        return {}
    import json  # most files have no sidecar, and this takes a hundredth of a short run

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def tokenization(path: str | os.PathLike[str]) -> str | None:
    """How the text of `path` was cut into words (`--tokenize`), None where its sidecar does not say."""
    found = read(path).get("tokenize")
    return found if isinstance(found, str) else None


def label_prefix(path: str | os.PathLike[str]) -> str | None:
    """What labels began with in the text of the classifier `path` (`--label-prefix`), None where its sidecar does not
    say."""
    record = read(path)
    config = record.get("config")
    found = record.get("label_prefix", config.get("label_prefix") if isinstance(config, dict) else None)
    return found if isinstance(found, str) else None


def note_words(path: str | os.PathLike[str]) -> str | None:
    """What a command says of the model `path` that writes another file of it, without a sidecar: how texts become the
    words of its training. None where its sidecar does not say so."""
    if (recipe := tokenization(path)) is None:
        return None
    return f"{os.fspath(path)}: trained with --tokenize {recipe}; the output does not say so: give it with each text"


def joins_phrases(path: str | os.PathLike[str]) -> bool:
    """Whether phrases were joined in the text of `path`, as its sidecar says."""
    return "phrases" in read(path)


def write(path: str | os.PathLike[str], argv: list[str], metadata: Mapping[str, Any]) -> None:
    """Writes the sidecar of `path`: version, command line, instruction set, machine, time, and `metadata`."""
    write_record(sidecar_path(path), argv, metadata)


def write_record(path: str | os.PathLike[str], argv: list[str], metadata: Mapping[str, Any]) -> None:
    """Writes the same to a file of this name."""
    from wv_cli.io.json_text import to_json

    record = {
        "wv": __version__,
        "argv": argv,
        "isa": _cpu.name(),
        "machine": platform.machine(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu_seconds": round(time.process_time(), 3),
        "peak_memory_bytes": host.peak_memory(),
        **metadata,
    }
    with open_output(path) as stream:
        stream.write(show_names(to_json(record, indent=1)).encode() + b"\n")
