"""The options that scorers share."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from wv_cli.config import Options, frozen, option
from wv_cli.filtering.flattening import flatten_option, unit_option
from wv_cli.text.reading_config import OF_MODEL

_BY_WORDS = "language or classifier or perplexity and not tokenizer"  # rules that ask a model of words


@frozen
class ScorerOptions(Options):
    """What scorers share: the tokenizer and the normalization of language models, how documents become one line each,
    the words and units that classifiers get, the field of URLs, and what goes of a contaminated record."""

    group: ClassVar[str] = "Rules"

    tokenizer: str | None = option(None, "Sentencepiece model of the language model of --perplexity.", role="read")
    perplexity_of: str = option(
        "ccnet",
        "How a text is normalized and cut into sentences for --perplexity.",
        choices=("ccnet", "lines", "raw", "datatrove"),
        only="tokenizer",
    )
    flatten: str = flatten_option(only=_BY_WORDS)
    tokenize: str | None = option(
        None,
        "Cut texts into words: settings of wv tokenize, or model (for models, as trained).",
        metavar="[SETTINGS]", bare=OF_MODEL,
    )  # fmt: skip
    unit: str = unit_option(only=_BY_WORDS)
    url_field: str = option("url", "Field of the URL for --blocked-hosts.", metavar="NAME", only="blocked_hosts")
    decontaminate: str = option(
        "record",
        "Remove contaminated records, or only their lines with words of items.",
        choices=("record", "paragraph"),
        only="contamination",
    )

    @property
    def tokenize_words(self) -> str | None:
        """The settings for what is no model."""
        return None if self.tokenize == OF_MODEL else self.tokenize

    def absolute(self) -> "ScorerOptions":
        """The same for a process in another folder."""
        return self if self.tokenizer is None else replace(self, tokenizer=str(Path(self.tokenizer).absolute()))
