"""fastText's program: its commands by name, each in a module of its own kind."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from wv_cli.cli.compat import CompatCommand, tell

_COMMANDS = Path(__file__).with_name("fasttext.txt")
_MODULES = {
    "fasttext_training": ("supervised", "skipgram", "cbow"),
    "fasttext_quantize": ("quantize",),
    "fasttext_answers": ("test", "test-label", "predict", "predict-prob"),
    "fasttext_vectors": ("print-word-vectors", "print-sentence-vectors", "print-ngrams", "nn", "analogies", "dump"),
}


def main(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    for module, commands in _MODULES.items():
        if name in commands:
            run = getattr(import_module(f"wv_cli.cli.compat.{module}"), name.replace("-", "_"))
            return int(run(words[1:]))
    tell(_COMMANDS.read_text(encoding="utf-8"))
    return 1


command = CompatCommand(
    "fasttext",
    main,
    "fasttext COMMAND ...: fastText's own commands and flags; without any, their list.",
)
