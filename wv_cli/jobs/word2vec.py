"""One word2vec or fastText run from text to word vectors, for `wv train`: encode, train, checkpoint, save."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from wv_cli import formats
from wv_cli.cluster.ranks import agreeing
from wv_cli.cluster.training import of_all
from wv_cli.config import flag_of, require
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Say
from wv_cli.engine.state import State, read_state, save_state
from wv_cli.errors import UsageError
from wv_cli.formats import fasttext_bin
from wv_cli.formats.fasttext_files import save_files
from wv_cli.jobs.autotune_words import Task, WordSearch, space_of
from wv_cli.jobs.autotuned import AutotunedSession
from wv_cli.jobs.facts import Facts, corpus_facts, run_facts, tell_corpus
from wv_cli.jobs.growing import GrowingSession
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Observe, Reading, VocabularySession
from wv_cli.jobs.shared import SharedSession
from wv_cli.jobs.trials import SearchPlan
from wv_cli.jobs.validation import Items, Validated
from wv_cli.models.config import PRESETS, Word2vecConfig
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.layers import LAYERS
from wv_cli.models.rounds import DeterministicWord2vec, rounds_facts
from wv_cli.models.subwords import Subwords, counts_with_line_end
from wv_cli.models.word2vec import Word2vec
from wv_cli.system import memory
from wv_cli.system.compression import inner_name
from wv_cli.system.output import check_writable, open_output, write_together
from wv_cli.text.corpus import Corpus, Marked, encode
from wv_cli.text.growing import decayed
from wv_cli.text.vocab import SENTENCE_END, read_vocab, write_vocab
from wv_cli.transforms.clusters import word_classes
from wv_cli.transforms.ensemble import joined
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

_BYTES_PER_TEXT_FLOAT = 10
_OF_ONE_PROCESS = ("validation", "autotune_validation", "continue_", "save_state")
_LEAST_DIM = 100  # of a model among several


@dataclass(frozen=True, kw_only=True)
class Word2vecSession(AutotunedSession, GrowingSession, SharedSession, VocabularySession, PhrasesSession):
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
        "validation": "epochs>0 and preset!=quality and not autotune_validation",
        "autotune_validation": "epochs>0 and preset!=quality",
        "patience": "validation",
        "decay": "continue_",
        "vocab": "not continue_ and not keep_words",
        "keep_words": "init and not phrases and not learn_phrases",
        "init": "not continue_ and preset!=quality",
        # What tells the models of a preset apart, or belongs to one model.
        **dict.fromkeys(("loss", "minn", "maxn", "save_output_vectors", "save_state"), "preset!=quality"),
        "continue_": "preset!=quality and not autotune_validation",
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

    def _of_one_process(self) -> list[tuple[str, bool]]:
        """Fields that ranks cannot do together, and whether they are asked for."""
        given = [(field, bool(getattr(self, field))) for field in _OF_ONE_PROCESS]
        own = [("dedup", self.vocab_config.dedup), ("deterministic", self.config.deterministic)]
        return [*given, ("preset", len(self.models) > 1), *own]

    def check_options(self) -> None:
        super().check_options()
        for model in self.models:
            model.validate()
        if len(self.models) > 1:
            message = f"--preset {self.preset} trains skip-gram and CBOW; leave --model {self.config.model} out"
            require(self.config.model == "skipgram", message)
            message = f"--to {self.to}: of --preset {self.preset} come vectors, no model; choose a format of vectors"
            require(self.to != fasttext_bin.FORMAT.name, message)
        for field, asked in self._of_one_process():
            if asked and self.ranks is not None:
                raise UsageError(f"{flag_of(field)} is for one process, not for {self.ranks.size} ranks; leave it out")
        if self.phrase_learning.learn_phrases and self.ranks is not None:
            message = (
                f"--learn-phrases is for one process, not for {self.ranks.size} ranks; find them before with "
                "`wv phrases --save-phrases FILE` and give --phrases FILE"
            )
            raise UsageError(message)
        if self.fasttext_files and self.ranks is not None:
            raise UsageError(f"fastText's command line is for one process, not for {self.ranks.size}; use `wv train`")
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
            if self._writes_model(path):
                self._require_model(path)
            else:
                formats.format_for_output(path, self.to)
        if self.output_vectors and not self.fasttext_files:
            formats.format_for_output(self.output_vectors, self.format_asked)

    def _check_search(self) -> None:
        """Raises UsageError when there is nothing to search for, or when what is found decided a file's format."""
        space = space_of(self.config, self.given, self._meaningful)
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
    def _meaningful(self) -> tuple[str, ...]:
        """The options named, but for those that a search may give a meaning: it may find subwords, for `buckets`."""
        finds = self.autotune_validation and not {"minn", "maxn"} & set(self.given)
        return tuple(name for name in self.named if not (finds and name == "buckets"))

    def refuse_idle(self) -> None:
        super(Word2vecSession, replace(self, named=self._meaningful)).refuse_idle()

    @cached_property
    def models(self) -> list[Word2vecConfig]:
        """What is trained: `config`, or every model of the preset, what the user named in the place of its own. Each
        has as many numbers as make `dim` together, but not so few that it learns little."""
        several = PRESETS.find(self.preset).models
        if not several:
            return [self.config]
        dim = max(_LEAST_DIM, -(-self.config.dim // len(several)))
        own = [{name: value for name, value in model.items() if name not in self.named} for model in several]
        return [replace(self.config, **{**model, "dim": dim}) for model in own]

    @property
    def _kind(self) -> type[Word2vec]:
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

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        validation = self.validation or self.autotune_validation
        items = Items.read(validation) if validation else None
        init = formats.load(self.init) if self.init else None
        state = read_state(self.continue_, Word2vec.state_layout(config)) if self.continue_ else None
        corpus = encode(
            self.texts(say),
            self.vocab_config,
            vocab=read_vocab(self.vocab) if self.vocab else None,
            marked=self.marked,
            also=init.words if init is not None and self.keep_words else None,
            older=decayed(state.vocab, self.share) if state is not None else None,
            phrases=self.phrases_to_join(say),
            memory=self.ids_memory,
            spool_beside=self.beside,
            progress=reading,
            pooled=self.pooled,
        )
        corpus = of_all(corpus, self.ranks)
        tell_corpus(corpus, say, time.monotonic() - begin)
        if self.save_vocab:
            write_vocab(self.save_vocab, corpus.vocab)
        if self.fasttext_files:
            words, labels = len(counts_with_line_end(corpus.vocab)[0]) - corpus.added, len(corpus.labels)
            tokens = corpus.vocab.tokens_read + corpus.vocab.lines
            say(
                f"{words:,} words in the model, `</s>` among them, and {labels:,} labels",
                tokens=tokens,
                vocabulary=words,
                labels=labels,
            )
        if state is not None:
            self.going_on(state.options, len(state.vocab), len(corpus.vocab), say)
            config = self.with_rate(config, state.options, corpus.tokens)
        search = self._search(config, corpus, items, init) if items and self.autotune_validation else None
        if search is not None:
            stopped = self.search(search, say)
            if stopped is not None:
                return stopped, {}
            config = search.best_options()
        with agreeing(self.ranks):
            model = self._made(config, corpus, init, state, say)
        del state  # as large as the model
        advice = f"lower --lr (now {config.start_lr:g})" + ("" if config.cbow_mean else " or use --cbow-mean")
        watched = items if self.validation else None
        validated = Validated(model, watched, self.patience, say) if watched and isinstance(model, Word2vec) else None
        trained, after_epoch = (validated, validated.after_epoch) if validated else (model, None)
        first_step = self.first_step(trained, say)
        outcome = self.train(trained, first_step, observe, advice, after_epoch)
        facts = run_facts(
            self,
            {**asdict(config), "lr": config.start_lr},
            corpus_facts(corpus),
            outcome,
            first_step=first_step,
            begin=begin,
            **({"models": [asdict(each) for each in self.models]} if len(self.models) > 1 else {}),
            **(rounds_facts() if config.deterministic else {}),
        )
        if outcome.finished:
            if validated:
                facts["validation"] = validated.keep_best()
            if search is not None:
                facts["autotune"] = search.facts()
                say(f"{self.autotune_validation} chose the options: score the vectors on other data")
            self._save(model)
            self.finish(self.results(), facts)
        return outcome, facts

    def _search(self, config: Word2vecConfig, corpus: Corpus, items: Items, init: Embeddings | None) -> WordSearch:
        """The search for options. Raises WvError when the vectors cannot be scored, or not be written in the end."""
        words = len(corpus.vocab)
        self.require_room(words * config.dim * 4)

        def model(chosen: Word2vecConfig) -> Word2vec:
            return self._kind(chosen, corpus, init)

        space = space_of(config, self.given, self._meaningful)
        task = Task(corpus, items, self.init, model, self.workers)
        return WordSearch(SearchPlan(**self.planned()), config, space, task)

    def _writes_model(self, path: str) -> bool:
        """Vectors with subwords go to .bin as a whole fastText model, unless `to` says otherwise: word2vec's format
        would lose the subwords."""
        if self.classes:
            return False
        if self.to is not None:
            return self.to == fasttext_bin.FORMAT.name
        return self.config.maxn > 0 and inner_name(path).endswith(".bin")

    def _require_model(self, path: str) -> None:
        """Raises UsageError when there is no model to write, or no place for one."""
        formats.refuse_terminal(path)
        if LAYERS[self.config.loss].fasttext is None:
            message = f"{path}: fastText's models know no --loss {self.config.loss}; leave --to out or use --loss ns"
            raise UsageError(message)

    def _made(
        self, config: Word2vecConfig, corpus: Corpus, init: Embeddings | None, state: State | None, say: Say
    ) -> Word2vec | Ensemble:
        """The model, of this config, or the models of the preset, ready to be trained."""
        models = [config] if len(self.models) == 1 else self.models
        subwords = [Subwords.of(corpus.vocab.words, each) for each in models]
        self._predict(corpus, models, subwords, say)
        kind = self._kind
        made = [kind(each, corpus, init, its, state, self.rank) for each, its in zip(models, subwords, strict=True)]
        if init is not None:
            say(f"{made[0].words_initialised:,} of {len(corpus.vocab):,} words start from {self.init}")
        return made[0] if len(made) == 1 else Ensemble(made)

    def _predict(self, corpus: Corpus, models: list[Word2vecConfig], subwords: list[Subwords | None], say: Say) -> None:
        """Says what the run will need and refuses what cannot work, before the matrices are allocated."""
        words, dim = len(corpus.vocab), self.config.dim
        each = list(zip(models, subwords, strict=True))
        matrices = sum(self._kind.bytes_needed(config, words, its) for config, its in each)
        saved = sum(Word2vec.checkpoint_bytes(config, words, its) for config, its in each)
        if self.ranks is not None:  # and the rows that the ranks agree upon (cluster.exchange)
            matrices += saved
        saved *= 2 if self.validation else 1
        memory.require(matrices, "training", "lower --dim or raise --min-count")
        say(
            f"needs {matrices / 1e6:,.0f} MB for the model{'s' * (len(each) > 1)} and {4 * len(corpus.ids) / 1e6:,.0f} "
            f"MB for the text, {saved / 1e6:,.0f} MB of disk for a checkpoint",
            model_bytes=matrices,
            text_bytes=4 * len(corpus.ids),
            checkpoint_bytes=saved,
        )
        for path in self.outputs:
            check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8))
        if self.checkpoint_path:
            check_writable(self.checkpoint_path, saved)

    def _save(self, model: Word2vec | Ensemble) -> None:
        if isinstance(model, Ensemble):
            first = model.models[0].embeddings()
            rows = joined(model.matrices(), self.config.dim)
            vectors = Embeddings(first.words, rows)
            each = ((path, partial(self._save_vectors, vectors)) for path in self.outputs)
            write_together([*self.phrases_writers(), *each])
            return
        if self.fasttext_files:
            save_files(self.outputs, model.fasttext_model(self.vocab_config.min_count))
            return
        writers: list[tuple[str, Callable[[str], None]]]
        writers = [(path, partial(self._save_words, model)) for path in self.outputs]
        if self.output_vectors:
            save = partial(formats.save, embeddings=model.output_embeddings(), format=self.format_asked)
            writers.append((self.output_vectors, save))
        if self.save_state:
            config = model.config
            left = self.left_behind(config.model, config, config.start_lr, config.epochs * model.corpus.tokens)
            state = model.state(left)
            writers.append((self.save_state, partial(save_state, state=state)))
        write_together([*self.phrases_writers(), *writers])

    def _save_words(self, model: Word2vec, path: str) -> None:
        if self._writes_model(path):
            fasttext_bin.save_model(path, model.fasttext_model(self.vocab_config.min_count))
            return
        self._save_vectors(model.embeddings(), path)

    def _save_vectors(self, vectors: Embeddings, path: str) -> None:
        if self.line_ends:
            vectors = with_line_end(vectors, self.config.seed)
        if self.classes:
            _save_classes(path, vectors, self.classes)
        else:
            formats.save(path, vectors, format=self.to)


def with_line_end(vectors: Embeddings, seed: int) -> Embeddings:
    """The vectors after a row `</s>`, which is as random as all rows were at the start: word2vec trains none for it."""
    row = np.random.default_rng(seed + 1).random((1, vectors.dim), np.float32) - np.float32(0.5)
    blob, starts = SENTENCE_END + vectors.words.blob, vectors.words.starts - vectors.words.starts[0]
    words = WordList(blob, np.concatenate([[0], starts + len(SENTENCE_END)]))
    return Embeddings(words, np.concatenate([row / np.float32(vectors.dim), vectors.matrix]))


def _save_classes(path: str, embeddings: Embeddings, classes: int) -> None:
    assigned = word_classes(embeddings, classes)
    with open_output(path) as stream:
        for word, number in zip(embeddings.words, assigned, strict=True):
            stream.write(encode_word(word) + b" %d\n" % number)
