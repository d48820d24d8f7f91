"""The vectors that words of a training begin with."""

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option
from wv_cli.models.presets import WORD_PRESETS
from wv_cli.vectors.file_options import BadRowsName

ONE_MODEL = "preset=" + "|".join(name for name, preset in WORD_PRESETS.items() if not preset.members)
_BAD_ROWS = "Rows of --init or --pretrained that cannot be read: stop, or count and skip them."
_KEEP_WORDS = "Keep words of --init or --pretrained that INPUT lacks."
_INIT = "Start words from the vectors of this file; for pairs also a static embedding (wv/small)."


def init_option(*, only: str = "") -> str | None:
    return option(None, _INIT, role="read", group="Input", only=only, common=True)


def bad_first_rows_option(*, only: str) -> BadRowsName:
    return option("error", _BAD_ROWS, group="Input", only=only)


def _keep_words_option(of: str) -> bool:
    return option(False, _KEEP_WORDS, off=None, group="Input", only=f"{of} and not phrases and not learn_phrases")


@frozen
class InitialVectors(Part):
    """Words that the file `init` lists start from its vectors; with `keep_words` its other words are in the model,
    too."""

    init: str | None = init_option(only=f"not continue_ and {ONE_MODEL}")
    keep_words: bool = _keep_words_option("init")
    bad_rows: BadRowsName = bad_first_rows_option(only="init")

    def begins_with(self) -> list[str]:
        return self.reads()


@frozen
class PretrainedVectors(Part):
    """The same for the words of a classifier's text."""

    pretrained: str | None = option(
        None,
        "Classifier: initialize words of INPUT from the vectors of this file.",
        role="read",
        group="Classifier",
        only="not continue_",
    )
    keep_words: bool = _keep_words_option("pretrained")
    bad_rows: BadRowsName = bad_first_rows_option(only="pretrained")

    def begins_with(self) -> list[str]:
        return self.reads()
