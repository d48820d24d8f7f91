"""`wv lm mix`: one model of n-grams from several."""

import click

from wv_cli.commands.lm.convert import quantize_option, to_option
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import conflict
from wv_cli.errors import UsageError


@click.command("mix", cls=Command, short_help="Write several models as one.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "-o", "--output", default="-", show_default=True, metavar="FILE",
    help="Output file: NAME.arpa, NAME.arpa.gz, NAME.lm (binary), or - (ARPA on standard output).",
)  # fmt: skip
@click.option(
    "--weights",
    metavar="X,X...",
    help="Weights of the models, divided by their sum.  [default: equal]",
)
@click.option("--fit", metavar="TEXT", help="Choose the weights that make this held-out text most probable.")
@to_option
@quantize_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but results and errors.")
def command(
    models: tuple[str, ...], output: str, weights: str | None, fit: str | None, to: str | None, quantize: int | None,
    quiet: bool,
) -> None:  # fmt: skip
    """Write the linear interpolation of two or more models of n-grams as one model.

    Every n-gram of any MODEL gets the weighted sum of the probabilities that all models give it; back-offs are computed
    anew. This is the static interpolation of SRILM. A model that does not list a word gives it nothing.

    --fit is not for the text on which the mixture is scored. `wv eval perplexity --mix` scores a mixture without
    writing it.
    """
    from wv_cli.lm.files import format_for_output, load_ngrams, save
    from wv_cli.lm.fitting import fit_weights
    from wv_cli.lm.interpolation import interpolate
    from wv_cli.lm.model import unpack_model
    from wv_cli.system.output import check_writable
    from wv_cli.system.places import refuse_reading, require_one_use

    if len(models) < 2:
        message = f"expected two models or more, found one: {models[0]}"
        raise UsageError(message)
    if weights is not None and fit is not None:
        raise conflict("--weights", "--fit", "--fit chooses the weights")
    require_one_use("-", [*models, fit].count("-") > 1)
    chosen = _read_weights(weights, len(models))
    format_for_output(output, to).require_quantize(quantize)
    refuse_reading([output], [*models, *([fit] if fit else [])])
    check_writable(output)
    loaded = [unpack_model(load_ngrams(model)) for model in models]
    if fit is not None:
        chosen = fit_weights(loaded, fit)
    if not quiet:
        shares = " + ".join(f"{weight:.4f} {name}" for weight, name in zip(chosen, models, strict=True))
        click.echo(f"mixture: {shares}", err=True)
    save(output, interpolate(loaded, chosen), format=to, quantize=quantize)


def _read_weights(text: str | None, count: int) -> list[float]:
    """The weights, whose sum is 1. Raises UsageError."""
    if text is None:
        return [1 / count] * count
    try:
        weights = [float(field) for field in text.split(",")]
    except ValueError:
        weights = []
    total = sum(weights)
    if len(weights) != count or min(weights) < 0 or not 0 < total < float("inf"):
        message = f"--weights: expected {count} numbers of 0 or more with commas between, one above 0; found {text}"
        raise UsageError(message)
    return [weight / total for weight in weights]
