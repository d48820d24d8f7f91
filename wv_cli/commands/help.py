"""`wv help`: what `--help` shows, by the name of a command; for the originals' programs what these say themselves."""

import click

from wv_cli.commands.shared.help import Command


@click.command("help", cls=Command)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of COMMAND, of all commands without one.

    For the programs that wv replaces (word2vec, fasttext, ...) it is their own help.
    """
    from wv_cli.commands.originals import OriginalCommand
    from wv_cli.errors import UsageError

    assert context.parent is not None
    shown = context.parent
    for name in names:
        if not isinstance(shown.command, click.Group):
            raise UsageError(f"`{shown.command_path}` has no parts; expected nothing after it, found {name!r}")
        _, found, _ = shown.command.resolve_command(shown, [name])
        assert found is not None
        shown = click.Context(found, info_name=name, parent=shown)
    if isinstance(shown.command, OriginalCommand):
        shown.command.invoke(shown)
        click.echo(f"{names[0]} as `wv {names[0]}`; `wv links DIR` gives it its own name. {shown.command.help}")
    else:
        click.echo(shown.get_help())
