"""An encoder's folder as its makers lay it out: the small JSON files, and what they say of length, pooling and modules.

    config.json                                  the network: sizes, layers, kind
    modules.json                                 what follows it: Pooling, Normalize (sentence-transformers)
    1_Pooling/config.json                        how tokens are joined: booleans, in newer files one word
    sentence_bert_config.json, tokenizer_config.json  how many tokens are read

Only config.json must be there. A module is known by the last part of its dotted type, which has changed its place from
version to version. Nothing outside the folder is read, and nothing is ever downloaded.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wv_cli.errors import BadFile, WvError, reason

_LARGEST = 1 << 24  # bytes of a JSON file of settings
_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "sqrt-len",
}
_WORDS = {"mean": "mean", "cls": "cls", "max": "max", "mean_sqrt_len_tokens": "sqrt-len"}
_KNOWN = ("Transformer", "Pooling", "Normalize", "StaticEmbedding")


def is_elmo(path: Path) -> bool:
    return any(path.glob("*options.json"))


def is_static(path: Path) -> bool:
    """Raises BadFile for files that cannot be read."""
    if any(kind == "StaticEmbedding" for kind, _ in _modules(path)):
        return True
    return Settings(path / "config.json", required=False).facts.get("model_type") == "model2vec"


def is_transformer(path: Path) -> bool:
    return (path / "config.json").is_file() or (path / "modules.json").is_file()


def read_json(path: Path) -> Any:
    """Raises BadFile, WvError."""
    try:
        size = path.stat().st_size
        text = path.read_bytes() if size <= _LARGEST else b""
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadFile(
            path, "expected JSON, found something else; the file is damaged, or not what its name says"
        ) from None


class Settings:
    """The object of a JSON file, whose values are asked for with the type they must have."""

    def __init__(self, path: Path, *, required: bool = True) -> None:
        """Without `required` a file that is not there holds nothing. Raises BadFile, WvError."""
        self.path = path
        facts = read_json(path) if required or os.path.isfile(path) else {}  # noqa: PTH113 - False for any name
        if not isinstance(facts, dict):
            raise BadFile(path, f"expected an object of settings, found {str(facts)[:40]!r}")
        self.facts: dict[str, Any] = facts

    def part(self, name: str) -> "Settings":
        """The object of that name in this one. Raises BadFile when there is none."""
        facts = self.facts.get(name)
        if not isinstance(facts, dict):
            raise BadFile(self.path, f"{name}: expected an object of settings, found {str(facts)[:40]!r}")
        result = Settings.__new__(Settings)
        result.path, result.facts = self.path, facts
        return result

    def number(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Raises BadFile for a whole number that is not there, where there is no default, or beyond the bounds."""
        value = self.facts.get(name)
        if value is None and default is not None:
            return default
        if type(value) is not int or not low <= value <= high:
            raise BadFile(self.path, f"{name}: expected a whole number from {low} to {high}, found {value!r}")
        return value

    def real(self, name: str, default: float) -> float:
        """`default` also for null. Raises BadFile as number()."""
        value = default if self.facts.get(name) is None else self.facts[name]
        if type(value) not in (int, float) or not 0 <= value < 1e30:
            raise BadFile(self.path, f"{name}: expected a number of 0 or more, found {value!r}")
        return float(value)

    def yes(self, name: str) -> bool:
        """No where nothing is said. Raises BadFile as number()."""
        value = self.facts.get(name) or False
        if type(value) is not bool:
            raise BadFile(self.path, f"{name}: expected true or false, found {value!r}")
        return value


@dataclass(frozen=True)
class Folder:
    """`pooling` is one of pooling.NAMES; `max_length` None where no file says."""

    path: Path
    modules: tuple[str, ...]
    root: Path
    pooling: str
    normalize: bool
    max_length: int | None

    @classmethod
    def open(cls, path: Path) -> "Folder":
        """Raises BadFile for settings that cannot be, or that ask for what this program does not do."""
        modules = _modules(path)
        root = next((at for kind, at in modules if kind in ("Transformer", "StaticEmbedding")), path)
        pooled = next((at for kind, at in modules if kind == "Pooling"), path / "1_Pooling")
        return cls(
            path,
            tuple(kind for kind, _ in modules),
            root,
            _pooling(pooled / "config.json"),
            any(kind == "Normalize" for kind, _ in modules),
            _max_length(path, root),
        )

    def find(self, name: str) -> Path | None:
        """The file where sentence-transformers looks for it: beside config.json or, of ONNX, in onnx/."""
        places = [self.root / name, *([self.root / "onnx" / name] if name.endswith(".onnx") else [])]
        return next((place for place in places if place.is_file()), None)


def _modules(path: Path) -> list[tuple[str, Path]]:
    """(kind, folder) of what modules.json lists, nothing when there is none."""
    listed = path / "modules.json"
    if not listed.is_file():
        return []
    rows = read_json(listed)
    found = []
    for row in rows if isinstance(rows, list) else [None]:
        place, kind = (row.get("path"), row.get("type")) if isinstance(row, dict) else (None, None)
        if not isinstance(place, str) or not isinstance(kind, str):
            raise BadFile(listed, "expected a list of modules with `path` and `type`, found something else")
        name = kind.rpartition(".")[2]
        if name not in _KNOWN:
            problem = f"the module {name} is none that this program has ({', '.join(_KNOWN)})"
            raise BadFile(listed, problem)
        if Path(place).is_absolute() or ".." in Path(place).parts:
            raise BadFile(listed, f"expected the path of a module in the folder, found {place!r}")
        found.append((name, path / place))
    return found


def _pooling(path: Path) -> str:
    settings = Settings(path, required=False)
    if "pooling_mode" in settings.facts:
        word = settings.facts["pooling_mode"]
        if not isinstance(word, str) or word not in _WORDS:
            raise BadFile(path, f"pooling_mode: expected one of {', '.join(_WORDS)}, found {word!r}")
        return _WORDS[word]
    chosen = [name for name in settings.facts if name.startswith("pooling_mode_") and settings.yes(name)]
    if len(chosen) > 1 or not set(chosen) <= set(_POOLINGS):
        problem = f"expected one of {', '.join(_POOLINGS)}, found {', '.join(chosen)}; choose another with --pooling"
        raise BadFile(path, problem)
    return _POOLINGS[chosen[0]] if chosen else "mean"


def _max_length(path: Path, root: Path) -> int | None:
    for folder in dict.fromkeys((path, root)):
        for name, key in (
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ):
            value = Settings(folder / name, required=False).facts.get(key)
            if isinstance(value, int | float) and 0 < value < 1e9:  # 1e30 is how some say that there is no limit
                return int(value)
    return None
