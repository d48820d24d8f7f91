"""How a command explains itself: its options under headings, with defaults and ranges, and examples.

Of an option that is a config's field the field says all of it (wv_cli.config.option).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from wv_cli.cli.mistakes import require_glued_values, require_rules_once, require_two_dashes
from wv_cli.cli.options import FieldOption, TextType, complete_bare, range_of
from wv_cli.errors import UsageError
from wv_cli.registry import Registry

# In this order; a command with few options shows them as one list.
HEADINGS = (
    "Options", "Rules", "Protocol", "Method", "Output", "Input", "Encoder", "Model", "Vocabulary", "Training", "Run",
    "Language model", "Sentences and documents",
    "Classifier", "Autotune",
)  # fmt: skip
# What a usage line calls the names of files and of folders.
_FILE_NAMES = {
    "file": re.compile(r"\[?(FILE|INPUT|IN|OUT|MODEL|VECTORS2?|VOCAB|INDEX)\b|[AB]$"),
    "dir": re.compile("DIR|FOLDER"),
}
_FEW = 13
_PART = "wv.part"  # in a context's meta: the words of a subcommand


def heading(option: click.Option) -> str:
    if isinstance(option, FieldOption):
        return option.field.group
    if {"--help", "--help-all", "--quiet"} & {*option.opts} or option.name == "as_json":
        return "Run"
    return "Output" if option.name == "layout" else "Options"  # that of a report of `wv eval`


def sections(command: click.Command, context: click.Context) -> dict[str, list[click.Option]]:
    """The options in the order of their headings."""
    options = [each for each in command.get_params(context) if isinstance(each, click.Option) and not each.hidden]
    if len(options) < _FEW:
        return {"Options": options}
    titles = dict.fromkeys([*HEADINGS, *map(heading, options)])
    found = {title: [each for each in options if heading(each) == title] for title in titles}
    return {title: listed for title, listed in found.items() if listed}


def words(option: click.Option, context: click.Context) -> tuple[str, str]:
    """What is typed, and what it means: help, default, range."""
    record = option.get_help_record(context)
    assert record is not None
    notes = [f"default: {default}"] if (default := _default(option)) else []
    notes += [limits] if (limits := range_of(option)) else []
    notes += ["required"] if option.required else []
    text, _, worded = (option.help or "").partition("  [")  # a default that the command words
    notes = [worded.removesuffix("]")] * bool(worded) + notes
    typed = re.sub(r"\b(INTEGER|FLOAT)( RANGE)?\b", lambda found: "N" if found[1] == "INTEGER" else "X", record[0])
    return typed, text + (f"  [{'; '.join(notes)}]" if notes else "")


def _default(option: click.Option) -> str:
    if isinstance(option, FieldOption):
        return option.field.default_text
    if not option.show_default or option.default is None:
        return ""
    return ("on" if option.default else "off") if option.is_flag else str(option.default)


def examples(path: str, wanted: Callable[[str], bool] = lambda line: True) -> list[str]:
    """The `wanted` examples of the command `wv PATH`, each a comment and the line it is about."""
    from wv_cli.cli.examples import EXAMPLES

    found = [(f"# {comment}", line) for comment, line in EXAMPLES.get(path, ()) if wanted(line)]
    return [line for pair in found for line in pair]


class FileName(TextType):
    """A text that the shell completes to the name of a file, or of a folder."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shell_complete(self, context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self.name)]


class Command(click.Command):
    """A command of the table COMMANDS, or a part of one. What its usage calls FILE, INPUT, ... is the name of one."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        for each in self.params:
            for name, metavars in _FILE_NAMES.items():
                if each.type is click.STRING and metavars.match(each.metavar or ""):
                    each.type = FileName(name)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if context.obj is not None:
            context.obj[:] = [context.command_path]  # who speaks in messages (__main__)
        try:
            require_two_dashes(self, args)
            if any(isinstance(each, click.Argument) and each.name == "output" for each in self.params):
                args = _output_last(args)
            words = list(complete_bare(self, args))
            require_rules_once(self, words)
            require_glued_values(self, words, context)
            return super().parse_args(context, words)
        except click.UsageError as error:
            error.ctx = error.ctx or context  # the parser knows none
            raise

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(sections(self, context), context, formatter)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(context, formatter)


def _output_last(args: Sequence[str]) -> list[str]:
    """`convert IN -o OUT` as `convert IN OUT`: -o means the same in every command."""
    rest, output = [], []
    words = iter(args)
    for word in words:
        if word in ("-o", "--output"):
            output.append(next(words, ""))
            if not output[-1]:
                raise click.UsageError(f"option {word} needs the name of the output")
        elif found := re.fullmatch(r"(?s)(?:--output=|-o)(.+)", word):
            output.append(found[1])
        else:
            rest.append(word)
        if word == "--":
            rest += words
    return rest + output


class CommandGroup(click.Group):
    """A command that consists of others."""

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        if args:
            from wv_cli.cli.habits import subcommand_for

            name = context.command_path.rpartition(" ")[2]
            if args[0] not in self.commands and (way := subcommand_for(name, args[0])):
                raise UsageError(f"unknown subcommand {args[0]!r}; {way}")
            Registry("subcommand", zip(self.commands, self.commands, strict=True)).find(args[0])
        return super().resolve_command(context, args)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(context, formatter)


class CommandWithParts(Command, CommandGroup):
    """A command with subcommands that also works without one: what its first word does not name is its own argument."""

    allow_interspersed_args = True

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes, invoke_without_command=True)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            context.meta[_PART] = args
            return []
        return super().parse_args(context, args)

    def invoke(self, context: click.Context) -> Any:
        if _PART not in context.meta:
            return click.Command.invoke(self, context)
        name, *rest = context.meta.pop(_PART)
        with self.commands[name].make_context(name, rest, parent=context) as inner:
            return inner.command.invoke(inner)

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """Words that begin with no part are those of the command itself, which stands for that as a plain one."""
        if args and args[0] in self.commands:
            return super().resolve_command(context, args)
        return self.name, Command(self.name, callback=self.callback, params=self.params, help=self.help), args

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        """The path of a subcommand (click.Context.command_path) does not name the arguments of this one."""
        found = super().get_params(context)
        return found if context.command is self else [each for each in found if isinstance(each, click.Option)]

    def collect_usage_pieces(self, context: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, context)

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        self.format_commands(context, formatter)


def write_options(
    found: Mapping[str, Sequence[click.Option]], context: click.Context, formatter: click.HelpFormatter
) -> None:
    """Writes options under their headings."""
    for title, options in found.items():
        with formatter.section(title):
            formatter.write_dl([words(each, context) for each in options])


def write_examples(
    context: click.Context, formatter: click.HelpFormatter, wanted: Callable[[str], bool] = lambda line: True
) -> None:
    """Writes the examples of the command, those whose line is `wanted`."""
    lines = examples(context.command_path.partition(" ")[2], wanted)
    if lines:
        with formatter.section("Examples"):
            formatter.write("".join(f"{'':{formatter.current_indent}}{line}\n" for line in lines))
