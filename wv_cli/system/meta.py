"""Sidecars: NAME.meta.json tells how NAME was made."""

import json
import os
import platform
import resource
import time
from collections.abc import Mapping
from typing import Any

from wv_cli import __version__, _cpu
from wv_cli.system.output import open_output

ENDING = ".meta.json"


def sidecar_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)}{ENDING}"


def write(path: str | os.PathLike[str], argv: list[str], facts: Mapping[str, Any]) -> None:
    """Writes the sidecar of `path`: version, command line, instruction set, machine, time, and `facts`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    record = {
        "wv": __version__,
        "argv": argv,
        "isa": _cpu.name(),
        "machine": platform.machine(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_memory_bytes": usage.ru_maxrss * (1 if platform.system() == "Darwin" else 1024),
        **facts,
    }
    with open_output(sidecar_path(path)) as stream:
        stream.write(json.dumps(record, indent=1).encode() + b"\n")
