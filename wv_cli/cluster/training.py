"""What the ranks of a run share beside the training itself: the options, the vocabulary, the checkpoint."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from wv_cli import __version__
from wv_cli.cluster.ranks import Ranks, agree
from wv_cli.engine.saved_run import Checkpointed, SavedRun
from wv_cli.errors import UsageError, WvError
from wv_cli.system.events import Log
from wv_cli.text.corpus import Corpus, Pooled
from wv_cli.text.labelled import LabelledCorpus
from wv_cli.text.vocab import Tally, add_up

Made = TypeVar("Made")


def require_same(ranks: Ranks, options: Mapping[str, object], version: str = __version__) -> None:
    """Raises WvError, or UsageError, on all ranks when one has another version of wv or other options than rank 0."""
    names = ranks.gather(ranks.name)
    versions = ranks.gather(version)
    shown = ranks.gather({name: repr(value) for name, value in options.items()})
    with agree(ranks):
        for name, installed, each in zip(names, versions, shown, strict=True):
            if installed != versions[0]:
                message = f"{name} has wv {installed}, {names[0]} has {versions[0]}; install the same one everywhere"
                raise WvError(message)
            for option in sorted({*shown[0], *each}):
                own, first = each.get(option, "nothing"), shown[0].get(option, "nothing")
                if own != first:
                    message = f"{name} has {option} {own}, {names[0]} has {first}; start all with the same command line"
                    raise UsageError(message)


def pooled_by(ranks: Ranks) -> Pooled:
    """How the ranks make one vocabulary of what each has counted, the same as one process would have."""

    def pooled(own: Tally, made: Callable[[Tally], Made]) -> Made:
        whole = ranks.reduce(own, lambda one, other: add_up([one, other]))
        answer: Made | WvError | None = None
        try:
            if whole is not None:
                answer = made(whole)
        except WvError as error:
            answer = error
        shared = cast("Made | WvError", ranks.broadcast(answer))
        with agree(ranks):  # the text is that of all, and so is what is wrong with it
            if isinstance(shared, WvError):
                raise shared
        return shared

    return pooled


def of_all(corpus: Corpus, ranks: Ranks | None) -> Corpus:
    """A rank's corpus that says of the text what is so for all ranks: how many words and lines there are, and a digest
    that does not depend on their number."""
    if ranks is None:
        return corpus
    sizes = ranks.gather((corpus.tokens, corpus.lines, corpus.tokens_read))
    tokens, lines, read = (sum(each) for each in zip(*sizes, strict=True))
    return replace(corpus, tokens=tokens, lines=lines, tokens_read=read, digest=corpus.counted)


def labelled_of_all(corpus: LabelledCorpus, ranks: Ranks | None) -> LabelledCorpus:
    """The same of a labelled text, whose words and labels are pooled already."""
    return corpus if ranks is None else replace(corpus, lines=sum(ranks.gather(corpus.lines)))


class RankPeers:
    """Ranks as a model sees them. Satisfies wv_cli.engine.peers.Peers."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self.index, self.count = ranks.rank, ranks.size

    def union(self, own: NDArray[np.int32]) -> NDArray[np.int32]:
        """See Peers."""
        ranks = self._ranks
        return ranks.broadcast(ranks.reduce(own, lambda one, other: np.concatenate([one, other[~np.isin(other, one)]])))

    def total(self, own: int) -> int:
        """See Peers."""
        return sum(self._ranks.gather(own))


def first_part(saved: SavedRun, model: Checkpointed, ranks: Ranks, log: Log) -> int:
    """Where to begin, in the steps of the model: what SavedRun.first_step says on rank 0, whose rows all ranks then
    have."""
    with agree(ranks):
        own = saved.first_step(model, log) if ranks.rank == 0 else 0
    part = ranks.broadcast(own)
    if part:
        for _, array in sorted(model.arrays().items()):
            ranks.broadcast_array(array)
    return part
