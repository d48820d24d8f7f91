"""What a scorer is, and what scorers share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Scorer = Callable[[list[bytes]], Any]  # documents -> (documents,) float32


@dataclass(frozen=True)
class Setting:
    """What scorers share: how documents become one line each, the units that classifiers get, the tokenizer and
    the normalization of language models."""

    flatten: str = "space"
    unit: str = "document"
    tokenizer: str | None = None
    perplexity: str = "ccnet"
