"""`wv eval`: scores files on test data, by a row of the table of evaluation tasks."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from wv_cli.commands.distribution import dask_option
from wv_cli.commands.job import Job
from wv_cli.commands.part import internal
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import Option, Options, argument, frozen, option, options_of
from wv_cli.config.wording import flag_of
from wv_cli.errors import GateMissed, UsageError, WvError
from wv_cli.evaluation import TASKS, Report, Task, Vectors
from wv_cli.io.places import require_one_use
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.vectors.file_options import BadRowsName, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.text.input_files import Inputs

Protocol = TypeVar("Protocol", bound=Options)


@frozen
class EvalJob(Job):
    """Base of the jobs of the tasks, each of which has the task's options as `config`. `layout` is that of the report:
    table, tsv or json."""

    TASK: ClassVar[str]
    JSON_HELP: ClassVar[str] = ""  # one of its layouts

    vectors: tuple[str, ...] = argument("VECTORS...", (), role="read")
    data: tuple[str, ...] = option(help="Data file or folder; repeatable.", short="d", role="read")
    config: Options
    min_score: float | None = option(None, "Exit with code 3 unless every score is at least X.")
    dask: str | None = dask_option()
    from_format: str | None = option(
        None, "Format of VECTORS; by default their content tells.", metavar="FORMAT", group="Input"
    )
    bad_rows: BadRowsName = bad_rows_option()
    layout: str = internal("tsv")

    @classmethod
    def command_options(cls) -> Mapping[str, Option]:
        return _options_of_task(cls)

    @property
    def task(self) -> Task:
        return TASKS[self.TASK]

    @property
    def other_subjects(self) -> list[str]:
        """What is scored besides vectors, or in their place."""
        return [path for name in self.task.others for path in getattr(self.config, name)]

    def check(self) -> None:
        task = self.task
        if self.min_score is not None:
            _check_bar(task, self.min_score)
        if not self.vectors:
            if not self.other_subjects:
                raise UsageError(f"missing argument '{task.subject.upper()}...', or one of {_either_flag(task)}")
            for name in task.of_subject:
                if name in self.invocation.explicit:
                    raise UsageError(f"{flag_of(name)} needs {task.subject.upper()}")
        read = [*self.vectors, *self.other_subjects, *self.data]
        for path in (*self.vectors, *self.other_subjects):
            require_one_use(path, read.count("-") > 1)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Scores all files; the metadata have the report."""
        from wv_cli.commands.scoring import scored_on
        from wv_cli.text.input_files import expand_inputs
        from wv_cli.vectors.formats import load

        limit: int | None = getattr(self.config, "restrict_vocab", 0) or None
        read = functools.partial(load, limit=limit, bad_rows=self.bad_rows)
        read_one = functools.partial(read, format=self.from_format)
        notes: list[str] = []
        config, asked = read_texts(self.config, self.vectors, self.data, notes.append)
        each = functools.partial(scored_on, self.dask, run.log, read_one) if self.dask is not None else None
        sources = [Vectors(path, functools.partial(read_one, path), read) for path in self.vectors]
        report = self.task.run(sources, expand_inputs(asked), config, each)
        report.notes[:0] = notes
        return None, {"report": report}

    def facts(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        report: Report = metadata["report"]
        return report.to_dict()

    def show(self, metadata: Mapping[str, Any]) -> str:
        from wv_cli.evaluation import report as layouts

        report: Report = metadata["report"]
        if self.layout == "json":
            return layouts.as_json(report)
        if report.unscored and not report.rows:
            return ""
        return (layouts.as_table if self.layout == "table" else layouts.as_tsv)(report)

    def report(self, metadata: Mapping[str, Any]) -> str:
        return "\n".join(f"note: {note}" for note in metadata["report"].notes)

    def judge(self, metadata: Mapping[str, Any]) -> int:
        """Raises GateMissed for a score below --min-score, WvError when one could not be computed."""
        report: Report = metadata["report"]
        if self.min_score is not None and (missed := report.scores_below(self.min_score)):
            raise GateMissed("; ".join(missed))
        if report.unscored:
            raise WvError("; ".join(report.unscored))
        return 0


@functools.cache
def eval_job(name: str) -> type[EvalJob]:
    """The job of a task. Raises UsageError for one that there is not."""
    task = TASKS.find(name)
    fields = {"config": field(default_factory=task.config), "__annotations__": {"config": task.config}}
    made: type[EvalJob] = frozen(
        type(f"{name.title()}EvalJob", (EvalJob,), {"TASK": name, "__module__": __name__, **fields})
    )
    made.__doc__ = f"{task.summary}\n\nData files hold {task.data}. A folder stands for all files in it."
    return made


def _find_options(kind: Any) -> Mapping[str, Option]:
    """Without those that mean nothing for the task."""
    task, options = TASKS[kind.TASK], dict(options_of(kind))
    for name, wanted in (("dask", task.by_file), *((each, task.subject == "vectors") for each in _OF_VECTORS)):
        if not wanted:
            del options[name]
    default: Any = () if task.others else MISSING
    options["vectors"] = options["vectors"]._replace(metavar=f"{task.subject.upper()}...", default=default)
    help = f"Exit with code 3 unless every {task.measure} is at least X."
    options["min_score"] = options["min_score"]._replace(help=help)
    return options


_options_of_task: Callable[[Any], Mapping[str, Option]] = functools.cache(_find_options)
_OF_VECTORS = ("from_format", "bad_rows")


def _either_flag(task: Task) -> str:
    return ", ".join(map(flag_of, task.others))


def _check_bar(task: Task, min_score: float) -> None:
    """Raises UsageError for a bar that every score passes or none."""
    low, high = task.scale
    if not low <= min_score <= high:
        message = f"--min-score {min_score:g}: {task.measure} lies between {low:g} and {high:g}"
        raise UsageError(message)
    if high == 100 and 0 < min_score <= 1:
        message = f"--min-score {min_score:g}: {task.measure} is in percent; write {100 * min_score:g}"
        raise UsageError(message)


def read_texts(
    config: Protocol, models: Sequence[str], data: Sequence[str], log: Callable[[str], None]
) -> "tuple[Protocol, Inputs]":
    """The texts that models are scored on, and how they are read; the `data` alone where they are no texts."""
    if not isinstance(config, ReadingConfig):
        return config, data
    from wv_cli.text.tokenizing import recipe_for
    from wv_cli.vectors.recognize import input_texts

    config = replace(config, tokenize=recipe_for(models, config.tokenize, log, one_line=False))
    return config, input_texts(data, log=log, reading=config)
