"""How text is cut into chunks and read as tokens, and how the answers of BM25 and of vectors are joined."""

from typing import ClassVar, Literal

from wv_cli.config import Options, frozen, option


@frozen
class TextConfig(Options):
    """What an index keeps as its settings."""

    group: ClassVar[str] = "Input"

    chunks: Literal["paragraph", "line", "words"] = option(
        "paragraph", "What an answer is: a paragraph, a line, or a run of words."
    )
    words: int = option(
        200, "Most words of a chunk; longer paragraphs are cut.", low=1, high=10_000, only="chunks=paragraph|words"
    )
    field: str | None = option(None, "Read JSON lines, CSV, TSV, Parquet and Arrow by records; this field is the text.")
    stem: Literal["english", "none"] = option("english", "Reduce words to their English stems.")
    stop_words: Literal["drop", "keep"] = option("drop", "33 English stop words.")
    identifiers: Literal["split", "whole"] = option(
        "split", "Find get_user and getUser also by their parts, or only whole."
    )


@frozen
class FusionConfig(Options):
    """Of `wv search`."""

    vector_weight: float = option(
        0.5, "Weight of the vectors' scores against BM25's: 0 is BM25 alone, 1 vectors alone.", low=0, high=1
    )
