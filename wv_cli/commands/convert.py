"""`wv convert`: vectors from one file format to another, to a folder for other programs or to a model's file."""

from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.vectors import STATIC, VectorOutput, folder_name
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.config.wording import flag_of
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.folders import NO_USAGE, Usage
from wv_cli.io.places import is_stream, refuse_file
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Dtype, Precision, Split, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.fasttext import FastTextModel

_MODEL, _SPACY, _FLORET = "fasttext-bin", "spacy", "floret"
_TO_STATIC = f"to_format={STATIC}"
# The options that make words of the tokens of a static embedding; without them it keeps its tokenizer.
_WORDS_ONLY = ("lowercase", "split", "counts", "limit", "bad_rows", "unescape", "from_format")
# The options that such an output has no place for, and why.
_WHOLE_TABLE = "a table of floret is written whole and as it is"
_PARTS = ("limit", "dim", "bad_rows", "unescape")
_NO_PLACE = {
    STATIC: (("precision", "escape"), "a tokenizer keeps every word, safetensors every bit"),
    _SPACY: (("precision", "escape"), "a vocabulary keeps every word and every bit"),
    _MODEL: ((*_PARTS, "precision", "escape"), "a model is written whole and as it is"),
    _FLORET: ((*_PARTS, "precision", "escape", "from_format"), _WHOLE_TABLE),
}


@frozen
class ConvertInput(Part):
    """The vectors to convert. The first `limit` rows of the file `source`, the first `dim` numbers of each; None: all
    of them. `unescape` undoes the escape of an output."""

    group: ClassVar[str] = "Input"

    source: str = argument("IN", role="read")
    from_format: str | None = option(None, "Format of IN; by default its content tells.", metavar="FORMAT")
    bad_rows: BadRowsName = bad_rows_option()
    limit: int | None = option(None, "Take only the first ROWS rows.", low=1, metavar="ROWS")
    dim: int | None = option(None, "Keep the first N numbers of each row.", low=1, group="Options")
    unescape: bool = option(False, "Undo --escape while reading.", off=None, group="Options")

    def load(self, *, takes_table: bool = False) -> "Embeddings":
        """With `takes_table` also a table of floret, which is taken whole. Raises UsageError for a part of it."""
        from wv_cli.vectors import formats
        from wv_cli.vectors.embeddings import Embeddings

        vectors = formats.load(
            self.source, format=self.from_format, limit=self.limit, unescape=self.unescape, bad_rows=self.bad_rows
        )
        if takes_table and vectors.composes_only:
            if self.limit is not None or self.dim is not None or self.unescape:
                raise UsageError(f"{self.source}: {_WHOLE_TABLE}; leave out --limit, --dim and --unescape")
            return vectors
        vectors.require_listed(self.source)
        if self.dim is None:
            return vectors
        import numpy as np

        self.require_dim(vectors.dim)
        return Embeddings(vectors.words, np.ascontiguousarray(vectors.matrix[:, : self.dim]))

    def require_dim(self, dim: int) -> None:
        """Raises UsageError where there are fewer numbers than are to be kept."""
        if self.dim is not None and self.dim > dim:
            message = f"--dim {self.dim} is more than the {dim} numbers of {self.source}"
            raise UsageError(message)

    def load_text_words(self, *, takes_table: bool = False) -> "Embeddings":
        """The same; bad rows are also those whose words are not UTF-8."""
        from wv_cli.vectors.formats.skipping import keepable_rows, words_beyond_utf8

        vectors = self.load(takes_table=takes_table)
        if self.bad_rows == "error":
            return vectors
        return keepable_rows(vectors, words_beyond_utf8(vectors.words), self.source)

    def load_model(self) -> "FastTextModel":
        """Raises WvError for vectors alone."""
        from wv_cli.vectors import formats
        from wv_cli.vectors.fasttext import FastTextModel

        model = formats.open_vectors(self.source, format=self.from_format)
        if not isinstance(model, FastTextModel):
            message = f"{self.source}: expected a fastText model, found vectors alone; a model cannot be made of them"
            raise WvError(message)
        return model


@frozen
class StaticOptions(Part):
    """How a static embedding splits text; `counts`, a vocabulary file, gives its words weights. `dtype`: of its
    numbers."""

    lowercase: bool | None = option(
        None, "With --to static: lower-case text.", shown="if no word has a capital", only=_TO_STATIC
    )
    split: Split = option("blanks", "With --to static: split text at blanks, or also at punctuation.", only=_TO_STATIC)
    counts: str | None = option(
        None,
        "With --to static: SIF weights from these `word count` lines.",
        metavar="VOCAB", role="read", group="Input", only=_TO_STATIC,
    )  # fmt: skip
    dtype: Dtype = option("float32", "With --to static: type of the numbers.", only=_TO_STATIC)


@frozen
class ConvertOutput(VectorOutput):
    """The file, or the folder, that gets the vectors."""

    output: str = argument("OUT", role="result")
    to_format: str | None = option(
        None, "Format of OUT, or a folder: static, spacy; by default its ending chooses.", metavar="FORMAT"
    )
    precision: Precision = option(
        WORD2VEC_PRECISION,
        "Decimals of numbers in text; exact writes the shortest text that keeps every bit.",
        low=1, high=9, metavar="1-9|exact", shown="6, as word2vec",
    )  # fmt: skip
    escape: bool = option(False, "Write words that OUT cannot hold as new%20york instead of refusing them.", off=None)


@frozen
class ConvertJob(Job):
    """Convert the vectors of IN to OUT. Either may be -; OUT is compressed if it ends in .gz, .bz2, .xz or .zst.

    \b
    Formats and the endings that choose them for OUT:
      word2vec-text    .vec .txt  a header `rows dim`, then `word number ...`; also fastText's .vec
      word2vec-binary  .bin       a header `rows dim`, then `word ` and raw float32
      glove-text       .glove     no header, `word number ...`
      npy              .npy       a NumPy array; the words beside it in NAME.words.txt
      projector-tsv    .tsv       for TensorBoard's projector, words in NAME.metadata.tsv; only written
      parquet          .parquet   columns word and vector, a list of fixed size; needs pyarrow; only written
      sqlite           .sqlite .db  a table of words and blobs of float32, as sqlite-vec takes them; only written
      floret           .floret    floret's table, vectors for any word but no words; --to floret copies a table
      codes            .codes     codes from wv hash (codes-text: as text), vectors of 1 and -1 or 0; only read
      text-model       .d2v       word vectors of a doc2vec model; only read
      safetensors                 a model's matrix, words in tokenizer.json beside it, or a folder with both; only read
      static                      the folder OUT for model2vec and sentence-transformers: tokenizer.json,
                                  model.safetensors, config.json, modules.json; only by --to
      spacy                       the folder OUT of a vocabulary for spaCy: vectors, key2row, strings.json; only by
                                  --to, and needs the package spacy
      fasttext-bin                a fastText model, from a fastText model only: --to fasttext-bin dequantizes
                                  a .ftz and updates files of the oldest layout

    A static embedding as IN keeps its tokenizer with --to static, unless --lowercase, --split, --counts or --limit make
    words of its tokens. OUT then has the layout that most programs read. int8 is not for sentence-transformers.

    A fastText model (.bin, .ftz) as IN gives the vectors of its words, subwords included.

    Words are bytes and stay as they are. A word that is empty or contains a space, tab, newline or NUL fits none of
    these formats. --escape writes it as new%20york (and % as %25).
    """

    source: ConvertInput
    output: ConvertOutput
    static: StaticOptions = field(default_factory=StaticOptions)

    @property
    def output_format(self) -> str | None:
        to_format = self.output.to_format
        return None if to_format in _NO_PLACE else to_format

    def _folder_files(self) -> list[str]:
        """The files of the folder OUT, the main one first; none where OUT is a file."""
        from wv_cli.vectors.formats import beside

        names = {STATIC: (beside.MODEL, *beside.SETTINGS), _SPACY: beside.VOCABULARY}
        return [str(Path(self.output.output) / name) for name in names.get(self.output.to_format or "", ())]

    def results(self) -> list[str]:
        folder, files = self.output.output, self._folder_files()
        return (files[:1] if Path(folder).is_dir() else [folder_name(folder)]) if files else super().results()

    def replaceable(self) -> list[str]:
        reads = self.source.reads()
        return reads if self.output.to_format == _MODEL else self.output.replaceable(reads)

    def writes(self) -> list[str]:
        return [*super().writes(), *(self._folder_files()[1:] if Path(self.output.output).is_dir() else [])]

    def check(self) -> None:
        format, explicit = self.output.to_format, self.invocation.explicit
        names, why = _NO_PLACE.get(format or "", ((), ""))
        for name in names:
            if name in explicit:
                raise UsageError(f"{flag_of(name)} and --to {format} cannot be used together: {why}")
        if format in (STATIC, _SPACY):
            refuse_file(folder_name(self.output.output))
        if format not in _NO_PLACE:
            self.output.chosen_format(explicit)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Reads the vectors and writes them, and tells how many there are."""
        if self.output.to_format == STATIC:
            return None, self._write_static(run)
        if self.output.to_format == _SPACY:
            return None, self._write_spacy(run)
        if self.output.to_format == _MODEL:
            return None, self._write_model(run)
        if self.output.to_format == _FLORET:
            return None, self._write_floret(run)
        row = self.output.chosen_format(())
        vectors = self.source.load()
        self.output.save(vectors)
        run.log(f"{self._output_name()}: {len(vectors)} rows of {vectors.dim} numbers, {row.name}")
        return None, {"rows": len(vectors), "dim": vectors.dim, "format": row.name}

    def _write_static(self, run: Run) -> Metadata:
        """Tells how text is taken apart, too."""
        from wv_cli.text.vocab import read_vocab
        from wv_cli.vectors.formats.beside import static_folder
        from wv_cli.vectors.formats.static_folder import INT8_READERS, save_folder

        if self.static.dtype == "int8":
            run.log(f"{self.output.output}: {INT8_READERS}")
        kept = None if set(_WORDS_ONLY) & set(self.invocation.explicit) else static_folder(self.source.source)
        if kept is not None:
            return self._copy_static(run, kept)
        from wv_cli.transforms.sentences import sif_weights

        vectors, static, folder = self.source.load_text_words(), self.static, self.output.output
        weights = sif_weights(vectors.words, read_vocab(static.counts)) if static.counts is not None else None
        made = save_folder(
            folder, vectors, lowercase=static.lowercase, split=static.split, weights=weights, dtype=static.dtype
        )
        how = f"text is cut at {'blanks' if static.split == 'blanks' else 'blanks and punctuation'}"
        how += " and made lower case" if made.lowercase else ", upper and lower case differ"
        run.log(f"{folder}: {made.tokens:,} words of {vectors.dim} numbers, static; {how}")
        if made.repeated:
            run.log(f"{made.repeated:,} rows were left out: earlier ones have their words")
        if made.unreachable:
            run.log(f"{made.unreachable:,} words hold blanks; no text will have them")
        return {"rows": made.tokens, "dim": vectors.dim, "format": STATIC}

    def _copy_static(self, run: Run, source: Path) -> Metadata:
        """The table and the tokenizer of another static embedding, in the layout that most programs read."""
        import numpy as np

        from wv_cli.vectors.formats.static import StaticModel
        from wv_cli.vectors.formats.static_folder import save_model, without_mapping

        model = without_mapping(StaticModel.open(source))
        usage = Usage.from_folder(source) if model.counts_unknown else NO_USAGE
        matrix, folder = model.table.matrix, self.output.output
        self.source.require_dim(matrix.shape[1])
        table = replace(model.table, matrix=np.ascontiguousarray(matrix[:, : self.source.dim]))
        save_model(folder, replace(model, table=table), dtype=self.static.dtype, usage=usage)
        dim = table.matrix.shape[1]
        run.log(f"{folder}: {len(table):,} tokens of {dim} numbers, static; text is cut by the tokenizer of {source}")
        return {"rows": len(table), "dim": dim, "format": STATIC}

    def _write_model(self, run: Run) -> Metadata:
        """The model is not quantized, and in the newest layout."""
        from wv_cli.vectors.formats.fasttext_bin import dense, save_model

        model = dense(self.source.load_model(), self.source.source)
        save_model(self.output.output, model)
        words, rows = f"{len(model.words)} words, {len(model.labels)} labels", model.input.shape[0]
        run.log(f"{self._output_name()}: {words}, {rows} rows of {model.dim} numbers, {_MODEL}")
        return {"rows": rows, "dim": model.dim, "format": _MODEL}

    def _write_spacy(self, run: Run) -> Metadata:
        """A table of floret keeps its mode."""
        from wv_cli.vectors.formats.spacy_folder import require_spacy, save_vocabulary

        require_spacy()
        vectors, folder = self.source.load_text_words(takes_table=True), self.output.output
        save_vocabulary(folder, vectors)
        what = "a table of n-grams" if vectors.composes_only else f"{len(vectors):,} words"
        run.log(f"{folder}: {what} of {vectors.dim} numbers, spacy")
        return {"rows": len(vectors), "dim": vectors.dim, "format": _SPACY}

    def _write_floret(self, run: Run) -> Metadata:
        from wv_cli.vectors import formats
        from wv_cli.vectors.floret import FloretTable
        from wv_cli.vectors.formats.floret import save_table

        source = self.source.source
        if not is_stream(source) and (found := formats.sniff(source).name) != _FLORET:
            problem = f"expected a table of floret to copy, found {found}, of which none can be made"
            way = "floret trains one on a text, and --to spacy writes these vectors for spaCy"
            raise BadFile(source, f"{problem}; {way}")
        table = formats.load(source, format=_FLORET).subwords
        assert isinstance(table, FloretTable)
        save_table(self.output.output, table)
        rows, dim = table.matrix.shape
        run.log(f"{self._output_name()}: {rows:,} rows of {dim} numbers, {_FLORET}")
        return {"rows": rows, "dim": dim, "format": _FLORET}

    def _output_name(self) -> str:
        return "standard output" if self.output.output == "-" else self.output.output
