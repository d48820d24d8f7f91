"""Commands as functions: `wv_cli.whiten("v.bin", "w.bin", method="zca")` is `wv whiten v.bin -o w.bin --method zca`.

An option is a keyword of its name, with underscores; None is one that is not given. A function prints nothing. It
returns what the command records beside its results or prints with --json, and raises what is wrong as the command says
it. functions.pyi has the arguments of all.
"""

import difflib
import importlib
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from wv_cli.commands import COMMANDS
from wv_cli.config import read_hint
from wv_cli.errors import UsageError
from wv_cli.jobs.job import Job, option_hints
from wv_cli.jobs.telling import require_functions, run_job
from wv_cli.jobs.train import paths_of, plain_value, typed_value
from wv_cli.registry import Registry


class Function(NamedTuple):
    """A row: the job of the command, as MODULE:CLASS of wv_cli.jobs, and the options that are arguments without a
    keyword, in their order. `output` may stand for the outputs of a job that has several. `hidden` are options of the
    job that the command has not."""

    job: str
    arguments: tuple[str, ...]
    hidden: tuple[str, ...] = ("meta",)

    def job_type(self) -> type[Job]:
        module, _, name = self.job.partition(":")
        found: type[Job] = getattr(importlib.import_module(f"wv_cli.jobs.{module}"), name)
        return found


FUNCTIONS: Registry[Function] = Registry(
    "function",
    [
        ("build_vocab", Function("vocabulary:VocabularyJob", ("inputs", "output"))),
        ("phrases", Function("phrases:PhrasesJob", ("inputs", "output"), ("meta", "thresholds"))),
        ("bioword", Function("bioword:BiowordJob", ("inputs", "output"), ("memory",))),
        ("drift", Function("drift:DriftJob", ("a", "b"))),
        ("predict", Function("predict:PredictJob", ("model", "inputs", "output"), ("meta", "as_json"))),
        ("filter", Function("filter:FilterJob", ("inputs", "output"), ("meta", "of_files"))),
        ("tokenize", Function("tokenize:TokenizeJob", ("inputs", "output"), ())),
        ("whiten", Function("whiten:WhitenJob", ("inputs", "output"))),
        ("align", Function("align:AlignJob", ("a", "b", "output"))),
        ("quantize", Function("quantize:QuantizeJob", ("model", "output"), ())),
        ("hash", Function("hash:HashJob", ("vectors", "output"), ())),
        ("distil", Function("distil:DistilJob", ("encoder", "output"))),
        ("convert", Function("convert:ConvertJob", ("source", "output"))),
        ("nn", Function("nn:NnJob", ("vectors", "words"))),
        ("analogy", Function("analogy:AnalogyJob", ("vectors", "words"))),
        ("similarity", Function("similarity:SimilarityJob", ("vectors", "words"))),
        ("odd_one_out", Function("odd_one_out:OddOneOutJob", ("vectors", "words"))),
        ("check", Function("check:CheckJob", ("file",))),
        ("plot", Function("plot:PlotJob", ("vectors", "output", "words"))),
        ("texts_distance", Function("texts_distance:TextsDistanceJob", ("vectors", "texts"))),
    ],
)
_MAY_LACK = {"filter": "output", "whiten": "output", "nn": "words", "plot": "words"}


def arguments_of(name: str) -> dict[str, Any]:
    """The annotation of every argument of a function, those without a keyword first."""
    row = FUNCTIONS.find(name)
    kind = row.job_type()
    hints = {"output" if each == "outputs" else each: hint for each, hint in option_hints(kind).items()}
    return {each: hints[each] for each in (*row.arguments, *hints) if each not in row.hidden}


def function_of(name: str, module: str = __name__) -> Callable[..., dict[str, Any]]:
    """The function of a row of FUNCTIONS, which pickle finds in `module`."""
    row, hints = FUNCTIONS.find(name), arguments_of(name)
    signature = Signature([*_parameters(name, row, hints)], return_annotation=dict[str, Any])

    def function(*arguments: Any, **options: Any) -> dict[str, Any]:
        known = signature.parameters
        for each in options:
            if each not in known:
                near = difflib.get_close_matches(each, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"help(wv_cli.{name}) shows the options"
                raise UsageError(f"no such option {each}; {hint}")
        bound = signature.bind(*arguments, **options).arguments
        log = bound.pop("log", None)
        require_functions(log=log)
        for each, value in bound.items():
            if value is None and known[each].default is Parameter.empty:
                raise TypeError(f"{each}: expected a value, found None")
        given = {each: plain_value(value) for each, value in bound.items() if value is not None}
        return _run(
            row.job_type(), {each: _typed_value(value, each, hints[each]) for each, value in given.items()}, log
        )

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = _documentation(name)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _parameters(name: str, row: Function, hints: Mapping[str, Any]) -> list[Parameter]:
    found = []
    for each in hints:
        kind = Parameter.POSITIONAL_OR_KEYWORD if each in row.arguments else Parameter.KEYWORD_ONLY
        needed = each in row.arguments and each != _MAY_LACK.get(name)
        found.append(Parameter(each, kind, default=Parameter.empty if needed else None))
    return [*found, Parameter("log", Parameter.KEYWORD_ONLY, default=None)]


def _typed_value(value: Any, name: str, hint: Any) -> Any:
    """The value of an option. Raises TypeError."""
    if read_hint(hint)[2] and read_hint(hint)[0] is str:
        return paths_of(value, name)
    return typed_value(value, name, hint)


def _run(kind: type[Job], options: dict[str, Any], log: Any) -> dict[str, Any]:
    explicit = tuple(options)
    if "output" in options and "outputs" in option_hints(kind):
        options["outputs"] = paths_of(options.pop("output"), "output")
    if options.get("threads") == 0:
        from wv_cli.system.host import processors

        options["threads"] = processors()
    return {**run_job(kind.from_options({**options, "explicit": explicit}), log)}


def _documentation(name: str) -> str:
    from wv_cli.commands.shared.function_help import HELP

    command = name.replace("_", "-")
    return (
        f"{COMMANDS.find(command).summary}\n\nLike the command `wv {command}`, whose help says more. Returns what the "
        "command records or prints with --json;\n`log(message, **facts)` is told what happens. Raises UsageError, "
        "WvError and its kin; TypeError for an argument of\nanother type.\n\n"
    ) + "\n".join(f"{option}: {text}" for option, text in HELP[name].items())
