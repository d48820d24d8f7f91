"""One word2vec or fastText run from text to word vectors, for `wv train`: encode, train, checkpoint, save."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from wv_cli import formats
from wv_cli.cluster.ranks import agreeing
from wv_cli.cluster.training import of_all
from wv_cli.engine.run import Outcome
from wv_cli.engine.state import State, read_state, save_state
from wv_cli.formats import fasttext_bin
from wv_cli.formats.fasttext_files import save_files
from wv_cli.jobs.facts import Facts, corpus_facts, run_facts, tell_corpus
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.word2vec_options import Word2vecOptions
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.presets import Member
from wv_cli.models.rounds import rounds_facts
from wv_cli.models.subwords import Subwords, counts_with_line_end
from wv_cli.models.word2vec import Word2vec
from wv_cli.system.events import Log as Say
from wv_cli.system.matrices import Room
from wv_cli.system.output import check_writable, open_output, write_together
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.growing import decayed
from wv_cli.text.vocab import SENTENCE_END, read_vocab, write_vocab
from wv_cli.transforms.clusters import word_classes
from wv_cli.transforms.ensemble import as_long_as, joined, plus_contexts
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

if TYPE_CHECKING:
    from wv_cli.jobs.autotune_words import WordSearch
    from wv_cli.jobs.validation import Items, Validated

_BYTES_PER_TEXT_FLOAT = 10


@dataclass(frozen=True, kw_only=True)
class Word2vecSession(Word2vecOptions):
    """Reads the text, searches for options if asked, trains and saves."""

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        items = self._items()
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
        corpus = of_all(corpus, self.readers)
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
        validated = self._validated(model, items, say)
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

    def _items(self) -> "Items | None":
        """What epochs or trials are scored on. Evaluation is imported for it alone: most trainings score nothing."""
        path = self.validation or self.autotune_validation
        if path is None:
            return None
        from wv_cli.jobs.validation import Items

        return Items.read(path)

    def _validated(self, model: Word2vec | Ensemble, items: "Items | None", say: Say) -> "Validated | None":
        if not (self.validation and items and isinstance(model, Word2vec)):
            return None
        from wv_cli.jobs.validation import Validated

        return Validated(model, items, self.patience, say)

    def _search(self, config: Word2vecConfig, corpus: Corpus, items: "Items", init: Embeddings | None) -> "WordSearch":
        """The search for options. Raises WvError when the vectors cannot be scored, or not be written in the end."""
        from wv_cli.jobs.autotune_words import Task, WordSearch, space_of
        from wv_cli.jobs.trials import SearchPlan

        words = len(corpus.vocab)
        self.require_room(words * config.dim * 4)

        def model(chosen: Word2vecConfig) -> Word2vec:
            return self.kind(chosen, corpus, init)

        space = space_of(config, self.given, self.meaningful)
        task = Task(corpus, items, self.init, model, self.workers)
        return WordSearch(SearchPlan(**self.planned()), config, space, task)

    def _made(
        self, config: Word2vecConfig, corpus: Corpus, init: Embeddings | None, state: State | None, say: Say
    ) -> Word2vec | Ensemble:
        """The model, of this config, or the models of the preset, ready to be trained."""
        models = [config] if len(self.models) == 1 else self.models
        subwords = [Subwords.of(corpus.vocab.words, each) for each in models]
        room = self._predict(corpus, models, subwords, say)
        lockstep = {"meetings": self.meetings} if config.deterministic else {}
        made = [
            self.kind(each, corpus, init, its, state, self.rank, room, **lockstep)
            for each, its in zip(models, subwords, strict=True)
        ]
        if init is not None:
            say(f"{made[0].words_initialised:,} of {len(corpus.vocab):,} words start from {self.init}")
        return Ensemble(made) if self.members else made[0]

    def _predict(self, corpus: Corpus, models: list[Word2vecConfig], subwords: list[Subwords | None], say: Say) -> Room:
        """Says what the run will need and refuses what cannot work, before the matrices are allocated; where they will
        be."""
        words, dim = len(corpus.vocab), self.config.dim
        each = list(zip(models, subwords, strict=True))
        matrices = sum(self.kind.bytes_needed(config, words, its, corpus.tokens) for config, its in each)
        saved = sum(Word2vec.checkpoint_bytes(config, words, its) for config, its in each)
        room = self.room(say)
        if self.readers is not None:  # and the rows that the ranks agree upon (cluster.exchange)
            matrices += saved
        lower = "--dim or --threads" if self.config.threads > 1 else "--dim"  # each thread copies rows
        room.require(matrices, saved, f"lower {lower} or raise --min-count")
        saved *= 2 if self.validation else 1
        say(
            f"needs {matrices / 1e6:,.0f} MB for the model{'s' * (len(each) > 1)} and {corpus.nbytes / 1e6:,.0f} MB "
            f"for the text and its words, {saved / 1e6:,.0f} MB of disk for a checkpoint",
            model_bytes=matrices,
            text_bytes=corpus.nbytes,
            checkpoint_bytes=saved,
        )
        for path in self.outputs:
            check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8))
        if self.checkpoint_path:
            check_writable(self.checkpoint_path, saved)
        return room

    def _save(self, model: Word2vec | Ensemble) -> None:
        if isinstance(model, Ensemble):
            vectors = _joined(model, self.members, self.config.dim)
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
        if self.writes_model(path):
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


def _joined(ensemble: Ensemble, members: Sequence[Member], dim: int) -> Embeddings:
    """The vectors of several models as one of `dim` numbers a word."""
    rows = [model.embeddings().matrix for model in ensemble.models]
    parts = [
        plus_contexts(words, model.output_embeddings().matrix) if member.with_contexts else words
        for words, model, member in zip(rows, ensemble.models, members, strict=True)
    ]
    (lengths,) = (words for words, member in zip(rows, members, strict=True) if member.gives_length)
    return Embeddings(ensemble.models[0].corpus.vocab.words, as_long_as(joined(parts, dim), lengths))


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
