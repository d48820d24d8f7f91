"""Commands as functions: `wv_cli.whiten("v.bin", "w.bin", method="zca")` is `wv whiten v.bin -o w.bin --method zca`.

An option is a keyword of its name, with underscores; None is one that is not given. A function prints nothing. It
returns what the command prints with --json, and raises what is wrong as the command says it. functions.pyi has the
arguments of all.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from wv_cli.cli import COMMANDS, SUBCOMMANDS
from wv_cli.cli.arguments import argument_names, read_arguments
from wv_cli.cli.remote_options import open_remote
from wv_cli.cli.spoken import WITH_SENTENCES, paths_or_sentences, progress_bar, spool
from wv_cli.commands.eval import eval_job
from wv_cli.commands.job import Job, TrainingJob
from wv_cli.commands.telling import require_functions, run_job
from wv_cli.config import Option
from wv_cli.config.wording import arguments_in_errors, name_arguments
from wv_cli.errors import UsageError
from wv_cli.evaluation import TASKS
from wv_cli.io.pipes import kept_pipes
from wv_cli.io.remote import show_names_in
from wv_cli.registry import Registry, load


class Function(NamedTuple):
    """A row: the command, what it does, and its job."""

    command: str
    summary: str
    job_type: Callable[[], type[Job]]


FUNCTIONS: Registry[Function] = Registry(
    "function",
    [
        *(
            (name.replace("-", "_"), Function(name, row.summary, partial(load, row.module)))
            for name, row in COMMANDS.items()
            if ":" in row.module
        ),
        ("search", Function("search", COMMANDS["search"].summary, partial(load, "wv_cli.commands.search:SearchJob"))),
        *(
            (f"{group}_{name}", Function(f"{group} {name}", summary, partial(load, place)))
            for group, subcommands in SUBCOMMANDS.items()
            for name, (place, summary) in subcommands.items()
        ),
        *(
            (f"eval.{name}", Function(f"eval {name}", task.summary, partial(eval_job, name)))
            for name, task in TASKS.items()
        ),
    ],
)


def arguments_of(name: str) -> dict[str, Option]:
    """The options that are arguments of a function. Several outputs are called `output`, too."""
    options = FUNCTIONS.find(name).job_type().command_options()
    first = places_of(name)
    more = [each for each, option in options.items() if (option.help or option.positional) and each not in first]
    return {_argument_name(each): options[each] for each in (*first, *more)}


def _argument_name(option: str) -> str:
    return "output" if option == "outputs" else option


def places_of(name: str) -> list[str]:
    """The options that need no keyword: the arguments of the command line, then the output, or the data to score on."""
    kind = FUNCTIONS.find(name).job_type()
    options = kind.command_options()
    more = ["data"] if name.startswith("eval.") else ["output", "outputs"]
    others = [each for each in more if each in options and not options[each].positional]
    return [*kind.FUNCTION_ARGUMENTS] or [*(each for each in options if options[each].positional), *others]


def function_of(name: str, module: str = __name__) -> Callable[..., dict[str, Any]]:
    """The function of a row of FUNCTIONS, which pickle finds in `module`."""
    kind, arguments = FUNCTIONS.find(name).job_type(), arguments_of(name)
    signature = Signature(_parameters(name, arguments), return_annotation=dict[str, Any])
    names = argument_names(arguments)

    def function(*values: Any, **options: Any) -> dict[str, Any]:
        read_arguments(dict.fromkeys(options.keys() - signature.parameters.keys()), arguments, name)
        bound = _bind(name, signature, values, options)
        talk = {each: bound.pop(each, None) for each in ("log", "on_progress")}
        require_functions(**talk)
        progress = bound.pop("progress", False)
        with kept_pipes(), arguments_in_errors(names), ExitStack() as stack:
            known = {option.name: option for option in arguments.values()}
            if name in WITH_SENTENCES:
                sentences = bound.pop("sentences", None)  # elsewhere it is an option
                needed = "train" if name == "train" else ""
                bound["inputs"], spoken = paths_or_sentences(bound.get("inputs"), sentences, needed=needed)
                if spoken is not None:
                    # Refuses what it can before the sentences are read.
                    kind.from_options(_read_options(arguments, name, {**bound, "inputs": ()}))
                    bound |= spool(spoken, bound, stack)
            options = stack.enter_context(open_remote(_read_options(arguments, name, bound), known))
            job = kind.from_options(options)
            on_progress = stack.enter_context(progress_bar(talk["on_progress"], progress=progress))
            metadata = run_job(job, talk["log"], on_progress)
            job.judge(metadata)
            facts: dict[str, Any] = show_names_in({**job.facts(metadata)})
            return facts

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__module__ = module
    function.__doc__ = _document(name, arguments)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _bind(name: str, signature: Signature, values: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names. Raises TypeError for one too many, and for one that is missing."""
    arguments = arguments_of(name)
    try:
        bound = signature.bind(*values, **options).arguments
    except TypeError as error:
        several = next((each for each in reversed(places_of(name)) if arguments[_argument_name(each)].many), "")
        way = f"; give the {_argument_name(several)} as one list" if several and "too many" in str(error) else ""
        raise TypeError(f"{name}(): {error}{way}") from None
    for each in _required_arguments(name, arguments):
        if each not in bound:
            raise TypeError(f"{name}(): missing a required argument: {each!r}")
        if bound[each] is None:
            raise TypeError(f"{each}: expected a value, found None")
    return bound


def _required_arguments(name: str, arguments: Mapping[str, Option]) -> list[str]:
    """The arguments that a call cannot do without: a function prints nothing, so standard output is no default."""
    without = ["inputs"] if name in WITH_SENTENCES else []
    return [
        each
        for each, option in arguments.items()
        if each not in without and (option.is_required or option.default == "-")
    ]


def _read_options(arguments: Mapping[str, Option], name: str, bound: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the job."""
    given = read_arguments(bound, arguments, name)
    if given.get("output") == ():
        raise UsageError("output: the list is empty; name a file")
    options = {arguments[each].name: value for each, value in given.items()}
    return {**options, "explicit": tuple(options)}


def _parameters(name: str, arguments: Mapping[str, Option]) -> list[Parameter]:
    places, speaks = [*map(_argument_name, places_of(name))], name in WITH_SENTENCES
    found, needed, behind_default = [], _required_arguments(name, arguments), False
    for each in arguments:
        how = Parameter.POSITIONAL_OR_KEYWORD if each in places else Parameter.KEYWORD_ONLY
        # In a signature all places behind one with a default have one, too.
        behind_default |= how is Parameter.POSITIONAL_OR_KEYWORD and each not in needed
        is_needed = each in needed and not (behind_default and how is Parameter.POSITIONAL_OR_KEYWORD)
        found.append(Parameter(each, how, default=Parameter.empty if is_needed else None))
    talk: dict[str, Any] = {**({"sentences": None} if speaks else {}), "log": None}
    if issubclass(FUNCTIONS.find(name).job_type(), TrainingJob) or speaks:
        talk |= {"on_progress": None, "progress": False}
    return [*found, *(Parameter(each, Parameter.KEYWORD_ONLY, default=default) for each, default in talk.items())]


_TALK = """
Like the command `wv {command}`, whose help says more. Returns what the command prints with --json. `log(message,
**facts)` is told what happens, and so is the logger "wv_cli". Raises UsageError, WvError and its kin; TypeError for an
argument of another type."""
_TRAINING = """
`on_progress(progress)` is told how far the training is, which a bar shows with `progress=True`. Interrupted and
TimedOut are raised for a run that a signal or `max_time` stopped, which `resume=True` continues."""
_SENTENCES = """
Instead of files `inputs` may be sentences that are lists of tokens; `sentences` may be lists of tokens or lines as str.
Both are any iterable, which is read once."""


def _document(name: str, arguments: Mapping[str, Option]) -> str:
    row = FUNCTIONS.find(name)
    talk = _TALK.format(command=row.command) + (_SENTENCES if name in WITH_SENTENCES else "")
    if name in WITH_SENTENCES or issubclass(FUNCTIONS.find(name).job_type(), TrainingJob):
        talk += _TRAINING
    places, names = [*map(_argument_name, places_of(name))], argument_names(arguments)
    meanings = [
        f"{each}: {name_arguments(option.full_help, names) or option.metavar}"
        for each, option in arguments.items()
        if each == "output" or each not in places
    ]
    return "\n".join([row.summary, talk, "", *meanings])
