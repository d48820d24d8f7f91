"""One classifier run, from labelled lines to a fastText model file, for `wv train --model supervised`."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from wv_cli import formats
from wv_cli.cluster.inputs import refuse_fasttext_for_ranks, refuse_for_ranks
from wv_cli.cluster.ranks import agreeing
from wv_cli.cluster.training import labelled_of_all
from wv_cli.engine.run import Outcome
from wv_cli.engine.state import State, read_state, save_state
from wv_cli.errors import UsageError
from wv_cli.formats.fasttext_files import save_files
from wv_cli.jobs.autotuned import AutotunedSession
from wv_cli.jobs.facts import Facts, number_of, run_facts
from wv_cli.jobs.growing import GrowingSession
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.shared import SharedSession
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.system.compression import inner_name
from wv_cli.system.events import Log as Say
from wv_cli.system.output import together, write_together
from wv_cli.system.places import is_stream
from wv_cli.text.config import VocabConfig
from wv_cli.text.growing import decayed
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.labelled import LabelledCorpus, encode_labelled
from wv_cli.text.labelled_growing import grown_labelled
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel

if TYPE_CHECKING:
    from wv_cli.jobs.autotune import Plan


@dataclass(frozen=True, kw_only=True)
class SupervisedSession(AutotunedSession, GrowingSession, SharedSession, PhrasesSession):
    """`pretrained` is a vector file: the words of the text that are in it start from its vectors; with `keep_words` its
    other words are in the model, too. With `fasttext_files` the outputs are those of a fastText run
    (formats.fasttext_files). A search for options is jobs.autotune's, and of one process."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **AutotunedSession.SEARCH_CONDITIONS,
        # The validation file would need its phrases joined, too.
        **dict.fromkeys(("phrases", "learn_phrases"), "not autotune_validation"),
        # Pruned models are retrained on the text as it is.
        **dict.fromkeys(("dedup", "min_line"), "not autotune_size"),
        "keep_words": "pretrained and not phrases and not learn_phrases",
        "decay": "continue_",
        "pretrained": "not continue_",
        # A search may end with a model that is pruned.
        "save_state": "not autotune_validation",
        **{f"autotune_{name}": "autotune_validation" for name in ("metric", "predictions", "size")},
    }

    FIXED: ClassVar[tuple[str, ...]] = (*("loss", "dim", "minn", "maxn", "word_ngrams", "buckets", "label_prefix"),)

    config: SupervisedConfig
    pretrained: str | None = None
    autotune_metric: str | None = None
    autotune_predictions: int | None = None
    autotune_size: int | None = None
    fasttext_files: bool = False
    keep_words: bool = False

    def check_options(self) -> None:
        ending = ".ftz" if self.autotune_size else ".bin"
        for path in self.outputs:
            if not (is_stream(path) or inner_name(path).endswith(ending) or self.fasttext_files):
                what = "quantised to --autotune-size " if self.autotune_size else ""
                message = f"{path}: a classifier {what}is written as a fastText model: name the output NAME{ending}"
                raise UsageError(message)
        super().check_options()
        refuse_for_ranks(
            self.ranks,
            autotune_validation=self.autotune_validation,
            continue_=self.continue_,
            save_state=self.save_state,
            dedup=self.vocab_config.dedup,
            learn_phrases=self.phrase_learning.learn_phrases,
        )
        refuse_fasttext_for_ranks(self.ranks, self.fasttext_files)
        if self.plan is not None:
            self.plan.validate()
            if self.autotune_size and "-" in self.inputs:
                message = "--autotune-size reads INPUT more than once, which standard input cannot do; give a file"
                raise UsageError(message)
        if self.vocab:
            message = "--vocab has no meaning for --model supervised: words and labels are counted in the text"
            raise UsageError(message)

    def refuse_idle(self) -> None:
        # A search may find word n-grams, whose buckets these are.
        named = self.named if self.plan is None else tuple(name for name in self.named if name != "buckets")
        super(SupervisedSession, replace(self, named=named)).refuse_idle()

    @property
    def whole_lines(self) -> bool:
        """A line is what is classified."""
        return True

    @property
    def first_rows(self) -> tuple[str | None, ...]:
        return (*super().first_rows, self.pretrained)

    def read(self) -> list[str]:
        return super().read() + ([self.pretrained] if self.pretrained else [])

    @property
    def plan(self) -> "Plan | None":
        """The search for options, if there is to be one."""
        if self.autotune_validation is None:
            return None
        from wv_cli.jobs.autotune import Plan

        return Plan(
            **self.planned(),
            metric=self.autotune_metric or Plan.metric,
            predictions=Plan.predictions if self.autotune_predictions is None else self.autotune_predictions,
            size=self.autotune_size or 0,
        )

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, searches for options if asked to, trains, saves."""
        begin, config = time.monotonic(), self.config
        plan = self.plan
        if plan is not None:
            expand_inputs(self.texts(say, plan.validation))
        with agreeing(self.ranks):
            vectors = formats.load(self.pretrained) if self.pretrained else None
        state = read_state(self.continue_, Supervised.state_layout(config), labelled=True) if self.continue_ else None
        corpus = self.corpus(say, reading, vectors, state)
        words, labels, lines = corpus.kept - corpus.added, len(corpus.labels), corpus.lines
        say(
            f"{corpus.tokens_read:,} tokens in {number_of(lines, 'line')}, {number_of(words, 'different word')} and "
            f"{number_of(labels, 'label')} ({time.monotonic() - begin:.1f} s to read)",
            tokens=corpus.tokens_read,
            lines=lines,
            vocabulary=words,
            labels=labels,
        )
        search, dsub = None, 2
        if plan is not None:
            from wv_cli.jobs.autotune import LabelSearch

            search = LabelSearch(plan, config, self.vocab_config.min_count, corpus, vectors, self.texts(say))
            stopped = self.search(search, say)
            if stopped is not None:
                return stopped, {}
            config, dsub = search.best_config()
            vectors = vectors if vectors is None or vectors.dim == config.dim else None
        if state is not None:
            self.going_on(state.options, len(state.vocab), corpus.kept, say)
            config = self.with_rate(config, state.options, len(corpus.ids))
        with agreeing(self.ranks):
            model = Supervised(config, self.vocab_config.min_count, corpus, vectors, state, self.ranks, self.room(say))
        del state  # as large as the model
        self._tell_model(model, say)
        first_step = self.first_step(model, say)
        outcome = self.train(model, first_step, observe, f"lower --lr (now {config.lr:g})")
        text: Facts = {
            "digest": corpus.digest,
            "tokens_read": corpus.tokens_read,
            "lines": lines,
            "words": words,
            "labels": labels,
        }
        rows = len(model.input)
        facts = run_facts(self, asdict(config), text, outcome, first_step=first_step, begin=begin, rows=rows)
        if outcome.finished and self.leads:
            trained = model.fasttext_model()
            if search is not None:
                trained = search.finished(trained, config, dsub)
                facts["autotune"] = search.facts()
            self._save(model, trained)
            self.finish(self.results(), facts)
        return outcome, facts

    def _save(self, model: Supervised, trained: FastTextModel) -> None:
        with together():
            if self.save_state:
                config = model.config
                left = self.left_behind("supervised", config, self.config.lr, config.epochs * len(model.corpus.ids))
                save_state(self.save_state, model.state(left))
            write_together(self.phrases_writers())
            save_files(self.outputs, trained)

    def corpus(
        self, say: Say, reading: Reading | None, vectors: Embeddings | None = None, state: State | None = None
    ) -> LabelledCorpus:
        also = vectors.words if vectors is not None and self.keep_words else None
        least, keep_dropped = self.config.min_count_label, self.config.uses_buckets or self.plan is not None
        grows = state is not None
        corpus = encode_labelled(
            self.texts(say),
            VocabConfig(min_count=1, lowercase=self.vocab_config.lowercase) if grows else self.vocab_config,
            label_prefix=self.config.label_prefix,
            min_count_label=0 if grows else least,
            fewest_labels=1 if grows else 2,
            keep_dropped=keep_dropped,
            also=also,
            phrases=self.phrases_to_join(say, apart=self.config.label_prefix),
            memory=self.ids_memory,
            spool_beside=self.beside,
            progress=reading,
            pooled=self.pooled,
        )
        if state is None or state.labels is None:
            return labelled_of_all(corpus, self.ranks)
        words, labels = (decayed(each, self.share) for each in (state.vocab, state.labels))
        return grown_labelled(
            corpus, words, labels, self.vocab_config, min_count_label=least, keep_dropped=keep_dropped
        )

    def _tell_model(self, model: Supervised, say: Say) -> None:
        """Says what the model takes and refuses a disk that cannot hold it."""
        corpus, examples = model.corpus, model.survey["examples"]
        if self.ranks is not None:
            examples = sum(self.ranks.gather(examples))
        size = model.input.nbytes + model.output.nbytes
        left_out = corpus.lines - examples
        say(
            f"{number_of(examples, 'line')} to learn from"
            + (f" ({left_out:,} have no label)" if left_out else "")
            + f"; needs {size / 1e6:,.0f} MB for the model, {corpus.nbytes / 1e6:,.0f} MB for the text and its words",
            examples=examples,
            rows=len(model.input),
            model_bytes=size,
            text_bytes=corpus.nbytes,
        )
        if self.pretrained and model.words_initialised:
            say(f"{model.words_initialised:,} of {corpus.kept:,} words start from {self.pretrained}")
        self.require_room(size)
