"""`wv convert`: vectors from one file format to another, to a static embedding's folder or to a fastText model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from wv_cli import formats
from wv_cli.config import flag_of
from wv_cli.errors import UsageError, WvError
from wv_cli.formats.base import BadRowsName, Split
from wv_cli.formats.skipping import keepable_rows, words_beyond_utf8
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.vectors import STATIC, VectorOutput, static_file
from wv_cli.jobs.run import Metadata, Run
from wv_cli.words import WordList

if TYPE_CHECKING:
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.fasttext import FastTextModel

_MODEL = "fasttext-bin"
# The options that such an output has no place for, and why.
_NO_PLACE = {
    STATIC: (("precision", "escape"), "a tokenizer keeps every word, safetensors every bit"),
    _MODEL: (("limit", "bad_rows", "precision", "escape", "unescape"), "a model is written whole and as it is"),
}


@dataclass(frozen=True, kw_only=True)
class ConvertInput(Part):
    """The vectors to convert. The first `limit` rows of the file `source`; None: all of them. `unescape` undoes the
    escape of an output."""

    source: str
    from_format: str | None = None
    limit: int | None = None
    bad_rows: BadRowsName = "error"
    unescape: bool = False

    def reads(self) -> list[str]:
        return [self.source]

    def load(self) -> "Embeddings":
        return formats.load(
            self.source, format=self.from_format, limit=self.limit, unescape=self.unescape, bad_rows=self.bad_rows
        )

    def load_keepable(self, refused: Callable[[WordList], Iterator[tuple[int, str]]] | None) -> "Embeddings":
        """The same; bad rows are also those whose words are `refused` by the output."""
        vectors = self.load()
        if refused is None or self.bad_rows == "error":
            return vectors
        return keepable_rows(vectors, refused(vectors.words), self.source)

    def load_model(self) -> "FastTextModel":
        """Raises WvError for vectors alone."""
        from wv_cli.vectors.fasttext import FastTextModel

        model = formats.open_vectors(self.source, format=self.from_format)
        if not isinstance(model, FastTextModel):
            message = f"{self.source}: expected a fastText model, found vectors alone; a model cannot be made of them"
            raise WvError(message)
        return model


@dataclass(frozen=True, kw_only=True)
class StaticOptions(Part):
    """How a static embedding splits text; `counts`, a vocabulary file, gives its words weights."""

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("lowercase", "split", "counts"), f"to_format={STATIC}")

    lowercase: bool | None = None
    split: Split = "blanks"
    counts: str | None = None


@dataclass(frozen=True, kw_only=True)
class ConvertJob(Job):
    """The job of `wv convert`. It writes no sidecars."""

    REPLACES_INPUT: ClassVar[bool] = True

    source: ConvertInput
    output: VectorOutput
    static: StaticOptions = field(default_factory=StaticOptions)

    @property
    def output_format(self) -> str | None:
        to_format = self.output.to_format
        return None if to_format in _NO_PLACE else to_format

    def results(self) -> list[str]:
        files = super().results()
        return [static_file(path) for path in files] if self.output.to_format == STATIC else files

    def check(self) -> None:
        format, explicit = self.output.to_format, self.invocation.explicit
        names, why = _NO_PLACE.get(format or "", ((), ""))
        for name in names:
            if name in explicit:
                raise UsageError(f"{flag_of(name)} and --to {format} cannot be used together: {why}")
        if format not in _NO_PLACE:
            self.output.chosen_format(explicit)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Reads the vectors and writes them, and tells how many there are."""
        if self.output.to_format == STATIC:
            return None, self._write_static(run)
        if self.output.to_format == _MODEL:
            return None, self._write_model(run)
        row = self.output.chosen_format(())
        vectors = self.source.load_keepable(row.refused_words)
        self.output.save(vectors)
        run.log(f"{self._called()}: {len(vectors)} rows of {vectors.dim} numbers, {row.name}")
        return None, {"rows": len(vectors), "dim": vectors.dim, "format": row.name}

    def _write_static(self, run: Run) -> Metadata:
        """Tells how text is taken apart, too."""
        from wv_cli.formats.static_folder import save_folder
        from wv_cli.text.vocab import read_vocab
        from wv_cli.transforms.sentences import sif_weights

        vectors, static, folder = self.source.load_keepable(words_beyond_utf8), self.static, str(self.output.output)
        weights = sif_weights(vectors.words, read_vocab(static.counts)) if static.counts is not None else None
        made = save_folder(folder, vectors, lowercase=static.lowercase, split=static.split, weights=weights)
        how = f"text is cut at {'blanks' if static.split == 'blanks' else 'blanks and punctuation'}"
        how += " and made lower case" if made.lowercase else ", upper and lower case differ"
        run.log(f"{folder}: {made.tokens:,} words of {vectors.dim} numbers, static; {how}")
        if made.repeated:
            run.log(f"{made.repeated:,} rows were left out: earlier ones have their words")
        if made.unreachable:
            run.log(f"{made.unreachable:,} words hold blanks; no text will have them")
        return {"rows": made.tokens, "dim": vectors.dim, "format": STATIC}

    def _write_model(self, run: Run) -> Metadata:
        """The model is not quantized, and in the newest layout."""
        from wv_cli.formats.fasttext_bin import dense, save_model

        model = dense(self.source.load_model(), self.source.source)
        save_model(str(self.output.output), model)
        words, rows = f"{len(model.words)} words, {len(model.labels)} labels", model.input.shape[0]
        run.log(f"{self._called()}: {words}, {rows} rows of {model.dim} numbers, {_MODEL}")
        return {"rows": rows, "dim": model.dim, "format": _MODEL}

    def _called(self) -> str:
        return "standard output" if self.output.output == "-" else str(self.output.output)
