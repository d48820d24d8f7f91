"""`wv merge-models`: the mean of states that were trained on parts of one text."""

import json

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import conflict, json_option, quiet_option, to_option


@click.command("merge-models", cls=Command)
@click.argument("states", nargs=-1, required=True, metavar="STATE...")
@click.option(
    "-o", "--output", required=True, metavar="FILE",
    help="NAME.state is a state for `wv train --continue`; else vectors, as `wv train` writes them.",
)  # fmt: skip
@to_option
@quiet_option
@json_option
def command(states: tuple[str, ...], output: str, to: str | None, quiet: bool, as_json: bool) -> None:
    """Average the rows of STATEs that `wv train --shard I/N --vocab FILE --save-state STATE` has left.

    All must have the same options, seed and vocabulary; they are turned into the space of the first, and each counts by
    the words it has trained. This is for machines that cannot talk to each other: the vectors are weaker by far than
    those of one run, and than those of ranks (mpirun), which meet while they train.
    """
    from wv_cli.jobs.merge_models import merge, require_writable, save
    from wv_cli.system.output import check_writable
    from wv_cli.system.places import is_stdout, refuse_reading

    if is_stdout(output) and as_json:
        raise conflict("-o -", "--json", "both write to standard output")
    require_writable(output, to, states[0])
    refuse_reading([output], states)
    check_writable(output)
    state = merge(states)
    save(state, output, to)
    facts = {"output": output, "states": len(states), "words": len(state.vocab), "trained": state.options.trained}
    if as_json:
        click.echo(json.dumps(facts))
    elif not quiet:
        trained = f"{state.options.trained:,.0f} words trained"
        click.echo(f"{output}: {len(state.vocab):,} words, the mean of {len(states)} states; {trained}", err=True)
