"""A job: one run of a command, from options to files, as a list of parts.

    command (click)  ->  options  ->  build(Kind, options)  ->  job.run(log, on_progress, on_reading)

A job has parts as fields (wv_cli.commands.part) and a function `work`. What it reads and writes is what its parts do,
one after the other. An option belongs to exactly one part because it is a field of it. A job prints nothing.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from wv_cli.commands.part import Invocation, Part, SidecarOption
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, OnTraining, Run
from wv_cli.config import (
    Option,
    Options,
    build_parts,
    conditions_of,
    field_names,
    frozen,
    options_of,
    parts_of,
    values_of,
)
from wv_cli.config.conditions import reject_ineffective
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, WvError
from wv_cli.io.events import Log, OnProgress
from wv_cli.io.places import is_stream, refuse_folder, refuse_reading, require_different
from wv_cli.io.remote import upload_outputs

if TYPE_CHECKING:
    from wv_cli.models.training.run import Outcome

Kind = TypeVar("Kind")
Writer = tuple[str, Callable[[str], None]]  # the name of a file and what writes it


class SidecarWarning(UserWarning):
    """Warning: the results are written, but a sidecar is not."""


@frozen
class Job(Options):
    """Base of all jobs: the options of a command as parts, and the work. CONDITIONS and `check` are about options of
    several parts. The docstring of a job is the help of its command."""

    IS_JOB: ClassVar[bool] = True
    CONDITIONS: ClassVar[Mapping[str, str]] = {}
    # What a bar counts and is called while the job reads, and whether one shows its training. Metadata for the report
    # only are not in the object of --json.
    READING: ClassVar[tuple[str, str] | None] = None
    SHOWS_TRAINING: ClassVar[bool] = False
    JSON_HELP: ClassVar[str] = "Print results as one JSON object on stdout, progress events on stderr."  # "": none
    # The arguments of the function that need no keyword, where they are not those of the command line and the output.
    FUNCTION_ARGUMENTS: ClassVar[tuple[str, ...]] = ()
    JSON_IS_ASCII: ClassVar[bool] = True
    ANSWERS: ClassVar[bool] = False  # queries, as commands.questions says
    # Its model reads a text that it is asked about as it is: its sidecar tells of --lowercase, too.
    READS_AS_IS: ClassVar[bool] = False

    invocation: Invocation = field(default_factory=Invocation)

    @classmethod
    def command_options(cls) -> Mapping[str, Option]:
        """The options of the command and its arguments, in their order."""
        return options_of(cls)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """The job with these options, each in the part that has a field of its name. Raises UsageError, WvError."""
        return build(cls, options)

    def report(self, metadata: Mapping[str, Any]) -> str:
        """What the command says when it is done, "" for nothing."""
        return ""

    def facts(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the command prints with --json."""
        return metadata

    def show(self, metadata: Mapping[str, Any]) -> str:
        """The answer that the command writes to standard output, "" for nothing."""
        return ""

    def judge(self, metadata: Mapping[str, Any]) -> int:
        """The exit code of the command, which has shown its result. Raises what it fails with nevertheless."""
        return 0

    def work(self, run: Run) -> tuple["Outcome | None", Metadata]:
        """Does the work, once everything is checked, and writes the results unless it was stopped.

        Returns the outcome of the training (None: there was none) and the metadata that is recorded beside the
        results. Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns
        normally.
        """
        raise NotImplementedError

    @property
    def is_verdict(self) -> bool:
        """Whether the exit code or the files say it all: with --quiet nothing is shown."""
        return False

    @property
    def trains(self) -> bool:
        """Whether a model is trained, so that the run can stop and be resumed."""
        return True

    @property
    def output_format(self) -> str | None:
        """The format of all outputs of vectors, None where their names choose it."""
        return None

    @property
    def must_have_effect(self) -> Collection[str]:
        """The options that are refused where they have no effect."""
        return self.invocation.explicit

    def run(
        self, log: Log, on_progress: OnTraining | None = None, on_reading: OnProgress | None = None
    ) -> tuple["Outcome | None", Metadata]:
        """Checks and works. `log` is told of events, `on_progress` about a training, `on_reading` (done, total or None)
        about a long file. Raises what `work` raises, and UsageError or WvError for what the checks find or where a
        launcher has started several processes."""
        from wv_cli.io.launcher import refuse_processes
        from wv_cli.io.pipes import kept_pipes

        refuse_processes()
        with kept_pipes(), ExitStack() as stack:
            run = self.begin(Run(log, on_progress, on_reading), stack)
            with run.kept_on_failure():
                outcome, metadata = self.work(run)
            if outcome is None or outcome.is_finished:
                upload_outputs()
            return outcome, metadata

    def validate(self) -> None:
        """Checks everything that can be checked before a file is read. Raises UsageError or WvError."""
        from wv_cli.io.output import check_writable

        self._check_names()
        for each in parts_of(self):
            each.validate()
        for name, option in self.options().items():
            option.check(getattr(self, name))
        results = self.results()
        for path in results:
            refuse_folder(path)
        self.check()
        reject_ineffective(conditions_of(type(self)), self.must_have_effect, self.values())
        self._check_resume()
        writes, resume = self.writes(), self._resume if self.trains else None
        for path in writes:
            if resume is None:
                check_writable(path)
            else:
                check_writable(path, read_only="" if resume.overwrite else "give --overwrite to replace it")
        words, reads, replaceable = self._words_files(), self.reads() if writes else [], self.replaceable()
        reads += [*words_files([path for path in reads if path != "-" and Path(path).is_file()], None)]
        require_different([*writes, *words, *self._sidecars()])
        refuse_reading([path for path in (*writes, *words) if path not in results], reads)
        refuse_reading(results, [path for path in reads if path not in replaceable])

    def _check_names(self) -> None:
        """Raises WvError for a name that is too long, or becomes too long for what stands beside the file."""
        from wv_cli.io.output import check_name

        for path in self.results():
            check_name(path)
        if (checkpoint := self.checkpoint_path) is not None:
            check_name(checkpoint, "choose a shorter name for the output, or give --checkpoint FILE")
        for path in self._words_files():
            check_name(path)
        for path in self._sidecars():
            check_name(path, "choose a shorter name, or give --no-meta")

    def _words_files(self) -> list[str]:
        return [*words_files([path for path in self.results() if not is_stream(path)], self.output_format)]

    def _sidecars(self) -> list[str]:
        from wv_cli.io import meta

        return [meta.sidecar_path(path) for path in self.names() if self.invocation.meta and not is_stream(path)]

    def _check_resume(self) -> None:
        resume = self._resume
        if resume is not None and self.trains:
            resume.require_path(self.beside)
        elif resume is not None:
            for name in ("checkpoint", "checkpoint_every", "resume", "max_time"):
                if name in self.must_have_effect:
                    problem = "has no effect: this run trains nothing that could be resumed; leave it out"
                    raise UsageError(f"{flag_of(name)} {problem}")

    @property
    def _resume(self) -> Resume | None:
        return next((part for part in self.parts() if isinstance(part, Resume)), None)

    def parts(self) -> list[Part]:
        return [part for part in parts_of(self) if isinstance(part, Part)]

    def replaceable(self) -> list[str]:
        """The inputs whose place a result may take, because they have been read when it appears."""
        return []

    def reads_again(self) -> list[str]:
        """The running texts that are read more than once."""
        return []

    def names(self) -> list[str]:
        """The results as sidecars and checkpoint are named after them, whether they are there yet or not."""
        return self.results()

    def writes(self) -> list[str]:
        """All files that are written, in the end or on the way."""
        return [*self.results(), *self.also_writes(self.beside), *filter(None, [self.checkpoint_path])]

    @property
    def beside(self) -> str | None:
        """The first file among the results, beside which the checkpoint and temporary files go."""
        return next((path for path in self.names() if not is_stream(path)), None)

    @property
    def checkpoint_path(self) -> str | None:
        resume = self._resume
        return resume.path(self.beside) if resume is not None and self.trains else None

    @classmethod
    def conditions(cls) -> list[tuple[str, str]]:
        return [*cls.CONDITIONS.items(), *super().conditions()]

    def values(self) -> dict[str, Any]:
        """Every option, and every other field of the parts, by its name."""
        return values_of(self)

    def begin(self, run: Run, stack: ExitStack) -> Run:
        """Checks the job and acquires what the run holds until `stack` ends. Raises UsageError, WvError."""
        from wv_cli.io.pipes import keep

        self.validate()
        keep(self.reads_again())
        resume, beside = self._resume, self.beside
        for part in self.parts():
            stack.enter_context(part.claim(beside, anew=resume is not None and (resume.resume or resume.overwrite)))
        if resume is not None and self.trains:
            from_files = any(part.begins_with() for part in self.parts())
            learnt = [text for part in self.parts() for text in part.learnt()]
            saved = resume.saved_run(beside, from_files=from_files, learnt=learnt)
            run = replace(run, saved=saved, save_every=resume.checkpoint_every, max_seconds=resume.max_time)
            stack.enter_context(saved.claim(run.log))
        return run

    def require_disk_space(self, needed: int) -> None:
        """Raises WvError where a result or the checkpoint, of `needed` bytes each, cannot be written."""
        from wv_cli.io.output import check_writable

        for path in [*self.results(), *([self.checkpoint_path] if self.checkpoint_path else [])]:
            check_writable(path, needed, read_only="")

    def finish(
        self,
        run: Run,
        written: Sequence[str],
        metadata: Mapping[str, object],
        writers: Iterable[Writer] = (),
        *,
        last: str | None = None,
    ) -> None:
        """Writes results that each stand alone, then the sidecars of the `written` ones, and removes the run's own
        checkpoint. All are complete before the first is renamed. The file `last` is renamed after all others: where it
        is new, so are they. A sidecar that cannot be written is a SidecarWarning. Raises WvError, when the others are
        written, for results that cannot be."""
        from wv_cli.io.output import commit_together, write_each

        with commit_together(last):
            missing = write_each(writers)
            problems = self.write_sidecars([path for path in written if path not in missing], metadata)
        self.end(run, problems)

    def write_sidecars(self, written: Sequence[str], metadata: Mapping[str, object]) -> list[str]:
        """Returns what is to be said about those that could not be written."""
        from wv_cli.io import meta
        from wv_cli.text.reading_config import AskedConfig, lowercase_recipe

        problems = []
        parts = [*parts_of(self)]
        # Not of a text that models are asked about: they may have learned other words.
        recipes = (getattr(each, "tokenize", None) for each in parts if not isinstance(each, AskedConfig))
        recipe = next((each for each in recipes if each is not None), None)
        if self.READS_AS_IS and any(getattr(each, "lowercase", False) for each in parts):
            recipe = lowercase_recipe(recipe)
        if recipe is not None:
            metadata = {"tokenize": recipe, **metadata}
        for path in written:
            if self.invocation.meta and not is_stream(path):
                try:
                    meta.write(path, list(self.invocation.argv), metadata)
                except WvError as error:
                    problems.append(f"{error}; {path} itself is written and whole")
        return problems

    def end(self, run: Run, problems: Sequence[str]) -> None:
        """Removes the run's own checkpoint: the results are written."""
        for problem in problems:
            warnings.warn(problem, SidecarWarning, stacklevel=3)
        if run.saved is not None:
            run.saved.remove()


@frozen
class TrainingJob(Job):
    """A job with several outputs that have sidecars, which can stop and be resumed where it trains."""

    READING: ClassVar[tuple[str, str] | None] = ("B", "reading")
    SHOWS_TRAINING: ClassVar[bool] = True

    invocation: SidecarOption = field(default_factory=SidecarOption)

    @property
    def named_outputs(self) -> list[str]:
        """The files that are written, as the user names them: --output first."""
        values, written = self.values(), ("result", "write")
        others = (name for name, option in options_of(type(self)).items() if option.role in written)
        return [*values["outputs"], *(values[name] for name in others if name != "outputs" and values[name])]

    def figures(self, metadata: Mapping[str, Any]) -> str:
        """What the command says behind the names of the outputs."""
        return f" ({metadata['words_per_second']:,} words/s)"

    def report(self, metadata: Mapping[str, Any]) -> str:
        return f"wrote {', '.join(self.named_outputs)}{self.figures(metadata)}"

    def facts(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"outputs": self.named_outputs, **metadata}


def build(kind: type[Kind], options: Mapping[str, Any], **made: Any) -> Kind:
    """The job `kind` with these options, each in the part that has a field of its name; `made` are whole fields. Of a
    vocabulary that the user gave nothing is cut by the default of --min-count."""
    unknown = options.keys() - field_names(kind)
    assert not unknown, f"{kind.__name__} has no {', '.join(unknown)}"
    if options.get("vocab") and "min_count" not in options.get("explicit", ("min_count",)):
        options = {**options, "min_count": 1}
    built: Kind = build_parts(kind, options, made)
    return built


def words_files(paths: Iterable[str], format: str | None) -> Iterator[str]:
    """The files of words beside matrices (formats.words_file). The formats are loaded where there may be one."""
    for path in paths:
        from wv_cli.vectors.heads import may_have_words

        if format is not None or may_have_words(path):
            from wv_cli.vectors.formats import words_file

            yield from filter(None, [words_file(path, format)])
