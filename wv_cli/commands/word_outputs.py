"""The output files of word-vector training: vectors, context vectors, word classes, fastText's files. word2vec_run.py
writes them."""

from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.commands.parts.outputs import outputs_option, to_option
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.models.config import Word2vecConfig

if TYPE_CHECKING:
    from wv_cli.words import WordList


@frozen
class WordOutputs(Part):
    """The output files of word-vector training. `to` is the format of the `outputs`, whatever their names;
    fasttext-bin writes the model itself. `classes` > 0 writes that many word classes instead of vectors.
    `save_output_vectors` gets the context vectors, in the format that its name says. With `line_ends` the vectors
    begin with `</s>`, which is not trained, as word2vec's do. With `fasttext_files` the outputs are those of a
    fastText run (wv_cli.vectors.formats.fasttext_write)."""

    group: ClassVar[str] = "Output"

    outputs: tuple[str, ...] = outputs_option("Output file, whose ending chooses the format; may be given twice.")
    to: str | None = to_option()
    classes: int = option(0, "Write K word classes (k-means) instead of vectors.", low=0, metavar="K", shown="none")
    save_output_vectors: str | None = option(None, "Also save the context vectors.", role="result")
    line_ends: bool = internal(False)
    fasttext_files: bool = internal(False)

    @property
    def format(self) -> str | None:
        """The format of all vector files; None: their endings choose it."""
        from wv_cli.vectors.formats import fasttext_bin

        return self.to if self.to != fasttext_bin.FORMAT.name else None

    def check(self) -> None:
        if self.classes and len(self.outputs) != 1:
            message = "--classes takes exactly one -o, which gets the classes"
            raise UsageError(message)

    def check_formats(self, config: Word2vecConfig) -> None:
        """Raises UsageError for a file that cannot hold what is trained."""
        from wv_cli.models.layers import LAYERS
        from wv_cli.vectors import formats

        loss = config.loss
        if self.save_output_vectors and LAYERS[loss].tree:
            message = (
                f"--save-output-vectors: with --loss {loss} the output rows are tree nodes, not words; use --loss ns"
            )
            raise UsageError(message)
        for path in self.outputs if not (self.classes or self.fasttext_files) else ():
            if not self.writes_model(path, config):
                formats.format_for_output(path, self.to)
                continue
            formats.refuse_terminal(path)
            if LAYERS[loss].fasttext is None:
                raise UsageError(f"{path}: fastText's models know no --loss {loss}; leave --to out or use --loss ns")
        if self.save_output_vectors and not self.fasttext_files:
            formats.format_for_output(self.save_output_vectors, self.format)

    def check_words(self, words: "WordList") -> None:
        """Raises UsageError for more classes than words."""
        from wv_cli.transforms.clusters import require_classes

        if self.classes:
            require_classes(self.classes, len(words) + self.line_ends)

    def writes_model(self, path: str, config: Word2vecConfig) -> bool:
        """Whether a fastText model goes there."""
        from wv_cli.vectors.formats import fasttext_bin

        return not self.classes and fasttext_bin.is_model(path, self.to, subwords=config.maxn > 0)
