"""An encoder's folder as its makers lay it out: the small JSON files, and what they say of length, pooling and modules.

    config.json                                  the network: sizes, layers, kind
    modules.json                                 what follows it: Pooling, Normalize (sentence-transformers)
    1_Pooling/config.json                        how tokens are joined: booleans, in newer files one word
    sentence_bert_config.json, tokenizer_config.json  how many tokens are read

Only config.json must be there. wv_cli/io/folders.py reads the modules. Nothing outside the folder is read, and
nothing is ever downloaded.
"""

from dataclasses import dataclass
from pathlib import Path

from wv_cli.errors import BadFile, show_value
from wv_cli.io.folders import STATIC, Settings, modules, static_root

_POOLINGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "sqrt-len",
}
_WORDS = {"mean": "mean", "cls": "cls", "max": "max", "mean_sqrt_len_tokens": "sqrt-len"}


def is_elmo(path: Path) -> bool:
    return any(path.glob("*options.json"))


def is_static(path: Path) -> bool:
    """Raises BadFile for files that cannot be read."""
    if static_root(path) is not None:
        return True
    return Settings(path / "config.json", required=False).facts.get("model_type") == "model2vec"


def is_transformer(path: Path) -> bool:
    return (path / "config.json").is_file() or (path / "modules.json").is_file()


@dataclass(frozen=True)
class Folder:
    """`pooling` is a name of encoders/pooling.py, and without `pools_prompt` it leaves out the tokens of a prompt;
    `max_length` None where no file says."""

    path: Path
    modules: tuple[str, ...]
    root: Path
    pooling: str
    normalize: bool
    max_length: int | None
    pools_prompt: bool = True

    @classmethod
    def open(cls, path: Path) -> "Folder":
        """Raises BadFile for settings that cannot be, or that ask for what this program does not do."""
        listed = modules(path)
        root = next((at for kind, at in listed if kind in ("Transformer", STATIC)), path)
        pooled = next((at for kind, at in listed if kind == "Pooling"), path / "1_Pooling")
        return cls(
            path,
            tuple(kind for kind, _ in listed),
            root,
            _pooling_word(pooled / "config.json"),
            any(kind == "Normalize" for kind, _ in listed),
            _max_length(path, root),
            Settings(pooled / "config.json", required=False).facts.get("include_prompt", True) is not False,
        )

    def find(self, name: str) -> Path | None:
        """The file where sentence-transformers looks for it: beside config.json or, of ONNX, in onnx/."""
        places = [self.root / name, *([self.root / "onnx" / name] if name.endswith(".onnx") else [])]
        return next((place for place in places if place.is_file()), None)


def _pooling_word(path: Path) -> str:
    settings = Settings(path, required=False)
    if "pooling_mode" in settings.facts:
        word = settings.facts["pooling_mode"]
        if not isinstance(word, str) or word not in _WORDS:
            raise BadFile(path, f"pooling_mode: expected one of {', '.join(_WORDS)}, found {show_value(word)}")
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
