"""Folders of models as their makers lay them out: where they are, their settings, and their modules.

A name may be a folder, SMALL for the static embedding that comes with the program (data/small), or a name in the local
hub cache, which Hugging Face's tools fill:

    HUB/models--ORG--NAME/refs/main             the revision
    HUB/models--ORG--NAME/snapshots/REVISION/   its files

HUB is $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. Nothing is ever downloaded.

modules.json lists what a text goes through (sentence-transformers). A module is known by the last part of its dotted
type, which has changed its place from version to version. One that is not known is refused: without it vectors would be
others.
"""

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wv_cli.errors import BadFile, WvError, cannot_read, show_value
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds

_LARGEST = 1 << 28  # bytes of a JSON file; tokenizers of 250,000 pieces have 17 MB
_KNOWN = ("Transformer", "Pooling", "Normalize", "StaticEmbedding")
SMALL = "wv/small"
USAGE = "config_sentence_transformers.json"
STATIC = "StaticEmbedding"  # the module of a static embedding
_FILES_OF_MODELS = ("model.safetensors", "tokenizer.json", "config.json", "modules.json")
_READ_OF_MODELS = frozenset((".safetensors", ".json", ".txt", ".model", ".onnx", ".hdf5"))  # endings of what is read
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FILE_NAME = re.compile(r".*\.[A-Za-z]\w*", re.ASCII)  # vectors.bin, but not the model bge-small-en-v1.5
_REVISION = re.compile(r"[\w.-]+", re.ASCII)


def find_folder(path: str | os.PathLike[str]) -> Path:
    """The path itself, the folder of the shipped model, or of the model of this name in the local hub cache. Raises
    WvError for a name such as `org/model`, not one such as `folder/vectors.bin`, that is none of these."""
    name, found = os.fspath(path), Path(path)
    if not _HUB_NAME.fullmatch(name) or found.exists() or found.parent.is_dir():
        return found
    if name == SMALL:
        from wv_cli.io.shipped import shipped_data

        return shipped_data() / "small"
    hub = _hub()
    place = hub / f"models--{name.replace('/', '--')}"
    main = place / "refs" / "main"
    try:
        revision = main.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        revision = ""
    snapshot = place / "snapshots" / revision
    if _REVISION.fullmatch(revision) and set(revision) != {"."} and snapshot.is_dir():
        return snapshot
    if place.is_dir():
        message = f"{name}: its folder in the local hub cache is not complete (expected the revision of {main} under "
        raise WvError(f"{message}{place / 'snapshots'}); download it again: hf download {name}")
    if _FILE_NAME.fullmatch(name):
        return found
    message = f"{name}: no file or folder of this name, and no model of this name in the local hub cache ({hub}); "
    raise WvError(f"{message}wv downloads nothing: hf download {name}")


def files_of_model(path: str | os.PathLike[str]) -> list[Path]:
    """The files from which a model is read: those of its folder and of the folders of its modules. Nothing for another
    file, and for a folder without the settings of a model, such as one of texts."""
    folder = Path(path)
    with contextlib.suppress(WvError):
        folder = find_folder(path)
    folder = folder.parent if folder.name in _FILES_OF_MODELS else folder
    try:
        if not any((folder / name).is_file() for name in _FILES_OF_MODELS) and not any(folder.glob("*.hdf5")):
            return []
        return [file for pattern in ("*", "*/*") for file in folder.glob(pattern) if file.suffix in _READ_OF_MODELS]
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return []


def _hub() -> Path:
    if named := os.environ.get("HF_HUB_CACHE"):
        return Path(named).expanduser()
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")  # noqa: PTH118
    return Path(home).expanduser() / "hub"


def read_bounded(path: Path) -> bytes:
    """The bytes of a JSON file. Raises BadFile for more than any model has, WvError."""
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            raise BadFile(path, f"expected JSON of at most {_LARGEST:,} bytes, found {size:,}; choose another file")
        return path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error


def read_json(path: Path, expected: str = "") -> Any:
    """Raises BadFile, WvError. `expected` is what the file should hold."""
    import json

    text = read_bounded(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        wanted = f"{expected} in JSON" if expected else "JSON"
        refuse_other_kinds(text[:HEAD_BYTES], path, wanted)
        problem = f"expected {wanted}, found something else; the file is damaged, or not what its name says"
        raise BadFile(path, problem) from None


class Settings:
    """The object of a JSON file, whose values are asked for with the type they must have."""

    def __init__(self, path: Path, *, required: bool = True) -> None:
        """Without `required` a file that is not there holds nothing. Raises BadFile, WvError."""
        self.path = path
        facts = read_json(path) if required or os.path.isfile(path) else {}  # noqa: PTH113 - False for any name
        if not isinstance(facts, dict):
            raise BadFile(path, f"expected an object of settings, found {show_value(facts)}")
        self.facts: dict[str, Any] = facts

    def part(self, name: str) -> "Settings":
        """The object of that name in this one. Raises BadFile when there is none."""
        facts = self.facts.get(name)
        if not isinstance(facts, dict):
            raise BadFile(self.path, f"{name}: expected an object of settings, found {show_value(facts)}")
        result = Settings.__new__(Settings)
        result.path, result.facts = self.path, facts
        return result

    def number(self, name: str, low: int, high: int, default: int | None = None) -> int:
        """Raises BadFile for a whole number that is not there, where there is no default, or beyond the bounds."""
        value = self.facts.get(name)
        if value is None and default is not None:
            return default
        if type(value) is not int or not low <= value <= high:
            raise BadFile(self.path, f"{name}: expected a whole number from {low} to {high}, found {show_value(value)}")
        return value

    def real(self, name: str, default: float) -> float:
        """`default` also for null. Raises BadFile as number()."""
        value = default if self.facts.get(name) is None else self.facts[name]
        if type(value) not in (int, float) or not 0 <= value < 1e30:
            raise BadFile(self.path, f"{name}: expected a number of 0 or more, found {show_value(value)}")
        return float(value)

    def yes(self, name: str) -> bool:
        """No where nothing is said. Raises BadFile as number()."""
        value = self.facts.get(name) or False
        if type(value) is not bool:
            raise BadFile(self.path, f"{name}: expected true or false, found {show_value(value)}")
        return value


def modules(path: Path) -> list[tuple[str, Path]]:
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
            raise BadFile(listed, f"expected the path of a module in the folder, found {show_value(place)}")
        found.append((name, path / place))
    return found


@dataclass(frozen=True)
class Usage:
    """How sentence-transformers uses a folder, by its config_sentence_transformers.json: of its `prompts`, that of
    `default_prompt_name` stands before every text, None: nothing. Of each vector the first `truncate_dim` numbers are
    kept, after a Normalize; None: all. `similarity` names how vectors are compared."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt_name: str | None = None
    truncate_dim: int | None = None
    similarity: str = "cosine"

    @property
    def prompt(self) -> str:
        """What stands before every text."""
        return self.prompts[self.default_prompt_name] if self.default_prompt_name is not None else ""

    @classmethod
    def from_folder(cls, path: Path) -> "Usage":
        """Raises BadFile, WvError."""
        settings = Settings(path / USAGE, required=False)
        name, listed = settings.facts.get("default_prompt_name"), settings.facts.get("prompts")
        listed = listed if isinstance(listed, dict) else {}
        prompts = {each: text for each, text in listed.items() if isinstance(text, str)}
        if name is not None and not (isinstance(name, str) and name in prompts):
            problem = f"default_prompt_name: expected a name among `prompts`, found {show_value(name)}"
            raise BadFile(settings.path, problem)
        most, similarity = settings.facts.get("truncate_dim"), settings.facts.get("similarity_fn_name")
        return cls(
            prompts,
            name,
            settings.number("truncate_dim", 1, 1 << 20) if most is not None else None,
            similarity if isinstance(similarity, str) else "cosine",
        )


NO_USAGE = Usage()


def static_root(path: Path) -> Path | None:
    """The folder with the table and the tokenizer of a static embedding, as modules.json says; None where it lists no
    static embedding. Raises BadFile for one that another module than Normalize follows."""
    listed = modules(path)
    if not any(kind == STATIC for kind, _ in listed):
        return None
    others = [kind for kind, _ in listed[1:] if kind != "Normalize"]
    if others or listed[0][0] != STATIC:
        problem = f"expected {STATIC} and nothing else but Normalize, found {', '.join(kind for kind, _ in listed)}"
        raise BadFile(path / "modules.json", problem)
    return listed[0][1]
