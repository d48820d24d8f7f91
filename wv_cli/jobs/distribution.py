"""Distribution of a job over processes: the only module of this room that imports wv_cli.cluster.

A job that trains word vectors or a classifier can be shared by the processes that a launcher starts. Of all other jobs
several processes are refused. What needs no exchange can be done by the workers of a Dask cluster (`executor`).
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from wv_cli.config import flag_of
from wv_cli.errors import UsageError
from wv_cli.jobs.run import Metadata, OnTraining, Run
from wv_cli.system.events import Log, OnProgress
from wv_cli.system.launcher import refuse_processes, started_together

if TYPE_CHECKING:  # most jobs train nothing and do without
    from wv_cli.engine.asking import Answer, Asking, Question
    from wv_cli.engine.run import Outcome
    from wv_cli.engine.saved_run import Checkpointed, Savable, SavedRun
    from wv_cli.engine.trainer import Trainer
    from wv_cli.jobs.parts.reading import Reading
    from wv_cli.system.executor import Executor
    from wv_cli.text.corpus import Corpus
    from wv_cli.text.inputs import Texts
    from wv_cli.text.labelled import LabelledCorpus

LEAVE_OUT = "leave it out"
FIND_BEFORE = "find them before with `wv phrases --save-phrases FILE` and give --phrases FILE"


class Single(Protocol):
    """A job of one process."""

    def begin(self, run: Run, stack: ExitStack) -> Run:
        """Checks the job, and takes what the run needs for itself until `stack` ends."""
        ...


class SharedJob(Single, Protocol):
    """A job that several processes can share, each reading its part of the texts (wv_cli.jobs.job.Job)."""

    @property
    def config(self) -> Any: ...
    @property
    def reading(self) -> "Reading": ...
    @property
    def whole_lines(self) -> bool:
        """Whether no line is divided between processes."""
        ...

    def refuse_sharing(self, processes: int) -> None:
        """Raises UsageError for an option that so many processes cannot do together."""
        ...

    def identity(self) -> Mapping[str, object]:
        """The options that must be the same in all processes."""
        ...

    def work(self, run: Run) -> tuple["Outcome | None", Metadata]:
        """Does the job (wv_cli.jobs.job.Job.work)."""
        ...


AnyJob = TypeVar("AnyJob", bound=SharedJob)


class OneProcess:
    """This process does everything. Satisfies wv_cli.jobs.run.Processes."""

    is_main = True
    peers = None
    pooled = None

    def part(self, *, whole_lines: bool) -> None:
        return None

    def agreeing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def whole(self, corpus: "Corpus") -> "Corpus":
        return corpus

    def whole_labelled(self, corpus: "LabelledCorpus") -> "LabelledCorpus":
        return corpus

    def first_step(self, saved: "SavedRun", model: "Savable[Any]", log: Log) -> int:
        """It goes on where several processes were, too."""
        from wv_cli.engine.checkpoint import OtherRun
        from wv_cli.engine.peers import PARTS, InParts, Shareable

        try:
            return saved.first_step(model, log)
        except OtherRun as error:
            if error.steps != PARTS or not isinstance(model, Shareable):
                raise
            part = saved.first_step(InParts(model), log)
            return -(-part * model.steps // PARTS)

    def saved_as(self, model: "Savable[Any]") -> "Checkpointed":
        return model

    def trainer(self, model: "Savable[Any]", threads: int, first_step: int) -> "Trainer":
        from wv_cli.engine.threads import Threads

        return Threads(model, threads, first_step)

    def metadata(self) -> Metadata:
        return {}


def is_main() -> bool:
    """Whether this process is the one that writes and talks, of those that share a job. Raises WvError."""
    if started_together() == 1:
        return True
    from wv_cli.cluster.processes import place

    ranks = place().ranks
    return ranks is None or ranks.rank == 0


@contextmanager
def run_alone(job: Single, log: Log, on_progress: OnTraining | None, on_reading: OnProgress | None) -> Iterator[Run]:
    """The run of a job, checked. Raises what the checks raise, and WvError where a launcher has started several
    processes."""
    refuse_processes()
    with ExitStack() as stack:
        yield job.begin(Run(OneProcess(), log, on_progress, on_reading), stack)


@contextmanager
def run_shared(
    job: AnyJob, log: Log, on_progress: OnTraining | None, on_reading: OnProgress | None
) -> Iterator[tuple[AnyJob, Run]]:
    """The job as this process does it, checked, and its run. Raises what the checks raise, in all processes."""
    run = Run(OneProcess(), log, on_progress, on_reading)
    with ExitStack() as stack:
        if started_together() == 1:
            yield job, job.begin(run, stack)
            return
        from wv_cli.cluster.processes import RankProcesses, place, shared_texts

        here = place()
        if here.processes > 1:
            job = _with(job, config=replace(job.config, threads=here.threads(job.config.threads)))
            if here.ranks is None or here.ranks.rank == 0:
                threads = job.config.threads
                what = f"the {here.processes} processes of this machine work as one, with {threads} threads"
                log(f"{what} ({here.apart}: each by itself)", processes=here.processes, threads=threads)
        if here.ranks is None:
            yield job, job.begin(run, stack)
            return
        processes = RankProcesses(here.ranks)
        run = replace(run, processes=processes) if processes.is_main else Run(processes, _silent)

        def checked() -> "Texts":
            nonlocal run
            if processes.is_main:
                job.refuse_sharing(processes.count)
                run = job.begin(run, stack)
            return job.reading.texts(run.log)

        texts = stack.enter_context(shared_texts(here.ranks, job.identity(), checked, whole_lines=job.whole_lines))
        yield _with(job, reading=replace(job.reading, inputs=tuple(texts.inputs))), run


def _with(job: AnyJob, **changes: Any) -> AnyJob:
    made: AnyJob = replace(job, **changes)  # type: ignore[type-var]
    return made


def refuse_sharing(processes: int, values: Mapping[str, Any], one_process: Mapping[str, str]) -> None:
    """Raises UsageError for the first option with a value that only `one_process` can do; the text says what to do
    instead."""
    for name, instead in one_process.items():
        if values[name]:
            raise UsageError(f"{flag_of(name)} is for one process, not for {processes} ranks; {instead}")


def refuse_fasttext(processes: int) -> None:
    """Raises UsageError for several processes with the command line of fastText."""
    raise UsageError(f"fastText's command line is for one process, not for {processes}; use `wv train`")


@contextmanager
def executor(address: str, log: Log, *, same_kernels: bool = False) -> Iterator["Executor"]:
    """The workers of the Dask scheduler at `address`. With `same_kernels` all must compute the same bits. Raises
    WvError."""
    from wv_cli.cluster.dask_cluster import dask_cluster

    with dask_cluster(address, log, same_kernels=same_kernels) as cluster:
        yield cluster


def refuse_with_dask(dask: str | None, **asked: object) -> None:
    """Raises UsageError for the first option with a value that the workers of the cluster `dask` cannot do together;
    WvError where a launcher has started several processes."""
    if dask is None:
        return
    refuse_processes()
    instead = {"learn_phrases": FIND_BEFORE, "merge": "vocabularies are summed once"}
    for name, value in asked.items():
        if value:
            problem = f"{flag_of(name)} is for one process, not for a cluster (--dask)"
            raise UsageError(f"{problem}; {instead.get(name, LEAVE_OUT)}")


def ask(
    dask: str, log: Log, what: str, asked: "Asking[Question, Answer]", questions: "Iterable[Question]"
) -> "Iterator[Answer]":
    """What the workers of the scheduler at `dask` answer; see wv_cli.engine.asking.ask. A model that cannot be read
    here is refused before they are looked for."""
    from wv_cli.engine import asking

    asking.bytes_of(asked.file)
    with executor(dask, log, same_kernels=True) as found:
        yield from asking.ask(found, what, asked, questions)


def _silent(message: str, **facts: object) -> None:
    """The main process has said it."""
