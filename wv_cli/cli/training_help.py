"""The help of `wv train` in tiers: the common options of word vectors, those of one model, all of them."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import click

from wv_cli.cli.help import Command, sections, write_examples, write_options
from wv_cli.cli.options import is_common, make_option
from wv_cli.commands.models import DEFAULT_MODEL, MODELS
from wv_cli.commands.train import options_of_model

_ALL, _MODEL = f"{__name__}.all", f"{__name__}.model"
_EVERY_MODEL = {"--help", "--help-all", "--quiet", "--json", "--model"}
_OTHERS = "wv train --model NAME -h shows the options of a model, wv train --help-all those of all models.\n"


def _show_all(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


def _help_all_option() -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        help="Show the options of all models and exit.",
    )


class TrainCommand(Command):
    """`-h` shows the common options of word vectors, after `--model NAME` those that have an effect for this model."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.params.append(_help_all_option())

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        model = self._model(context, args) if not {"-h", "--help"}.isdisjoint(args) else None
        if model is not None:
            MODELS.find(model)
            context.meta[_MODEL] = model
        return super().parse_args(context, args)

    def _model(self, context: click.Context, args: list[str]) -> str | None:
        """The --model among the arguments: -h acts before click reads the other options."""
        with contextlib.suppress(click.UsageError):  # told by click itself
            model: str | None = self.make_parser(context).parse_args([*args])[0].get("model")
            return model
        return None

    def format_help_text(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(context, formatter)
        model = context.meta.get(_MODEL)
        if model is not None:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(f"{model}: {MODELS[model].summary} ({MODELS[model].source})")

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        found = sections(self, context)
        if _ALL not in context.meta:
            shown = {each.name: each for each in self._visible_options(context)}
            found = {
                title: [shown[each.name] for each in listed if each.name in shown] for title, listed in found.items()
            }
        write_options({title: listed for title, listed in found.items() if listed}, context, formatter)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        model = context.meta.get(_MODEL)
        write_examples(context, formatter, lambda line: model is None or _model_of(line) == model)
        if _ALL not in context.meta:
            formatter.write_paragraph()
            formatter.write(_OTHERS)

    def _visible_options(self, context: click.Context) -> Iterator[click.Option]:
        """The options of this help, with the defaults of its model."""
        model = context.meta.get(_MODEL)
        own = {name: make_option(each) for name, each in options_of_model(model or DEFAULT_MODEL).items() if each.help}
        effective = MODELS[model].effective_options(model) if model is not None else set()
        for each in self.get_params(context):
            if isinstance(each, click.Option):
                option = own.get(each.name or "", each)
                wanted = each.name in effective if model is not None else is_common(option)
                if wanted or _EVERY_MODEL & {*each.opts}:
                    yield option


def _model_of(line: str) -> str:
    found = re.search(r"--model (\S+)", line)
    return found[1] if found else DEFAULT_MODEL
