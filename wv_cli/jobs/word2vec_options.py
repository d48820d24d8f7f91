"""The options of one word2vec or fastText run: what goes together, and what comes of them before the text is read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from wv_cli import formats
from wv_cli.cluster.inputs import refuse_fasttext_for_ranks, refuse_for_ranks
from wv_cli.config import require
from wv_cli.errors import UsageError
from wv_cli.formats import fasttext_bin
from wv_cli.jobs.autotuned import AutotunedSession
from wv_cli.jobs.growing import GrowingSession
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.shared import SharedSession
from wv_cli.jobs.training_session import VocabularySession
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.presets import WORD_PRESETS, Member
from wv_cli.models.rounds import DeterministicWord2vec
from wv_cli.models.word2vec import Word2vec
from wv_cli.system.compression import inner_name
from wv_cli.text.corpus import Marked

_LEAST_DIM = 100  # of a model among several
_ONE_MODEL = "preset=" + "|".join(name for name, preset in WORD_PRESETS.items() if not preset.members)


@dataclass(frozen=True, kw_only=True)
class Word2vecOptions(AutotunedSession, GrowingSession, SharedSession, VocabularySession, PhrasesSession):
    """`classes` > 0 writes that many word classes instead of vectors. `to` is the format of the outputs, whatever their
    names; fasttext-bin writes the model itself, and context vectors as their name says. With `line_ends` the vectors
    begin with `</s>`, which is not trained, as word2vec's do. With `validation`, a file of pairs or analogies, the best
    epoch is kept, and `patience` epochs without a better one end the run (jobs.validation). A `preset` of several
    models trains them one after the other; the vectors are theirs, joined. A search for options is
    jobs.autotune_words'.

    With `fasttext_files` the outputs are those of a fastText run (formats.fasttext_files). What is `marked` is no word;
    with `keep_words` the words of `init` are in the model, whether the text has them or not."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **AutotunedSession.SEARCH_CONDITIONS,
        "to": "not classes",
        "validation": f"epochs>0 and {_ONE_MODEL} and not autotune_validation",
        "autotune_validation": f"epochs>0 and {_ONE_MODEL}",
        "patience": "validation",
        "decay": "continue_",
        "vocab": "not continue_ and not keep_words",
        "keep_words": "init and not phrases and not learn_phrases",
        "init": f"not continue_ and {_ONE_MODEL}",
        # What tells the models of a preset apart, or belongs to one model.
        **dict.fromkeys(("loss", "minn", "maxn", "save_output_vectors", "save_state"), _ONE_MODEL),
        "continue_": f"{_ONE_MODEL} and not autotune_validation",
    }
    FIXED: ClassVar[tuple[str, ...]] = ("loss", "dim", "minn", "maxn", "buckets")

    config: Word2vecConfig
    init: str | None = None
    output_vectors: str | None = None
    classes: int = 0
    preset: str = "word2vec"
    validation: str | None = None
    patience: int = 0
    to: str | None = None
    line_ends: bool = False
    fasttext_files: bool = False
    marked: Marked | None = None
    keep_words: bool = False

    @property
    def whole_lines(self) -> bool:
        return super().whole_lines or self.joins

    def check_options(self) -> None:
        super().check_options()
        for model in self.models:
            model.validate()
        if len(self.models) > 1:
            message = f"--preset {self.preset} trains skip-gram and CBOW; leave --model {self.config.model} out"
            require(self.config.model == "skipgram", message)
            message = f"--to {self.to}: of --preset {self.preset} come vectors, no model; choose a format of vectors"
            require(self.to != fasttext_bin.FORMAT.name, message)
        refuse_for_ranks(
            self.ranks,
            deterministic=self.config.deterministic,
            validation=self.validation,
            autotune_validation=self.autotune_validation,
            continue_=self.continue_,
            save_state=self.save_state,
            preset=len(self.models) > 1,
            dedup=self.vocab_config.dedup,
            learn_phrases=self.phrase_learning.learn_phrases,
        )
        refuse_fasttext_for_ranks(self.ranks, self.fasttext_files)
        if "patience" in self.named and self.patience < 1:
            raise UsageError(f"--patience must be at least 1, not {self.patience}")
        if self.output_vectors and LAYERS[self.config.loss].tree:
            loss = f"--loss {self.config.loss}"
            message = f"--save-output-vectors: with {loss} the output rows are tree nodes, not words; use --loss ns"
            raise UsageError(message)
        if self.classes < 0 or (self.classes and len(self.outputs) != 1):
            message = "--classes takes a positive number and exactly one -o, which gets the classes"
            raise UsageError(message)
        if self.autotune_validation:
            self._check_search()
        for path in self.outputs if not (self.classes or self.fasttext_files) else ():
            if self.writes_model(path):
                self._require_model(path)
            else:
                formats.format_for_output(path, self.to)
        if self.output_vectors and not self.fasttext_files:
            formats.format_for_output(self.output_vectors, self.format_asked)

    def _check_search(self) -> None:
        """Raises UsageError when there is nothing to search for, or when what is found decided a file's format."""
        from wv_cli.jobs.autotune_words import space_of

        space = space_of(self.config, self.given, self.meaningful)
        if self.to or self.classes or not any("maxn" in move.names for move in space):
            return
        for path in self.outputs:
            if inner_name(path).endswith(".bin"):
                message = (
                    f"{path}: word2vec's format or, if subwords are found, fastText's? Say --to word2vec-binary or "
                    "fasttext-bin, give --maxn, or name the output NAME.vec"
                )
                raise UsageError(message)

    @property
    def meaningful(self) -> tuple[str, ...]:
        """The options named, but for those that a search may give a meaning: it may find subwords, for `buckets`."""
        finds = self.autotune_validation and not {"minn", "maxn"} & set(self.given)
        return tuple(name for name in self.named if not (finds and name == "buckets"))

    def refuse_idle(self) -> None:
        super(Word2vecOptions, replace(self, named=self.meaningful)).refuse_idle()

    @property
    def members(self) -> tuple[Member, ...]:
        """The models of the preset; none: there is one, of `config`."""
        return WORD_PRESETS.find(self.preset).members

    @cached_property
    def models(self) -> list[Word2vecConfig]:
        """What is trained: `config`, or every model of the preset, what the user named in the place of its own. Each
        has as many numbers as make `dim` together, but not so few that it learns little."""
        if not self.members:
            return [self.config]
        dim = max(_LEAST_DIM, -(-self.config.dim // len(self.members)))
        own = [{name: value for name, value in each.changes.items() if name not in self.named} for each in self.members]
        return [replace(self.config, **{**model, "dim": dim}) for model in own]

    @property
    def first_rows(self) -> tuple[str | None, ...]:
        return (*super().first_rows, self.init)

    @property
    def kind(self) -> type[Word2vec]:
        return DeterministicWord2vec if self.config.deterministic else Word2vec

    @property
    def workers(self) -> int:
        """How many steps run at once: of a deterministic run one, which all threads train."""
        return 1 if self.config.deterministic else super().workers

    @property
    def format_asked(self) -> str | None:
        return self.to if self.to != fasttext_bin.FORMAT.name else None

    def read(self) -> list[str]:
        return super().read() + [path for path in (self.init, self.validation) if path]

    def results(self) -> list[str]:
        return super().results() + ([self.output_vectors] if self.output_vectors else [])

    def writes_model(self, path: str) -> bool:
        """Whether a fastText model goes there."""
        return not self.classes and fasttext_bin.is_model(path, self.to, subwords=self.config.maxn > 0)

    def _require_model(self, path: str) -> None:
        """Raises UsageError when there is no model to write, or no place for one."""
        formats.refuse_terminal(path)
        if LAYERS[self.config.loss].fasttext is None:
            message = f"{path}: fastText's models know no --loss {self.config.loss}; leave --to out or use --loss ns"
            raise UsageError(message)
