"""`wv help`: what `--help` shows, by the name of a command; for the originals' programs what these say themselves. The
whole of it as manual pages or as one HTML page."""

import click

from wv_cli.commands.shared.help import Command, FileName
from wv_cli.commands.shared.options import conflict
from wv_cli.errors import UsageError


@click.command("help", cls=Command)
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--man", type=FileName("dir"), metavar="DIR", help="Write the manual pages to DIR: DIR/man1/wv-train.1, ..."
)
@click.option("--html", is_flag=True, help="Print the README and the manual as one HTML page.")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], man: str | None, html: bool) -> None:
    """Show the help of COMMAND, of all commands without one.

    For the programs that wv replaces (word2vec, fasttext, ...) it is their own help.
    """
    whole = "--html" if html else "--man"
    if html and man is not None:
        raise conflict("--man", "--html", "each is the whole manual; run it twice")
    if names and (html or man is not None):
        raise conflict(whole, "COMMAND", "it writes the help of all commands")
    if html:
        from wv_cli.commands.shared.html import html_page

        click.echo("\n".join(html_page()))
    elif man is not None:
        _write_pages(man)
    else:
        _show(context, names)


def _write_pages(folder: str) -> None:
    """All appear together, in DIR/man1, which is made."""
    from pathlib import Path

    from wv_cli.commands.shared.roff import man_pages
    from wv_cli.errors import WvError, reason
    from wv_cli.system.output import commit_together, open_output

    pages = man_pages()
    try:
        (Path(folder) / "man1").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WvError(f"{folder}: cannot make the folder: {reason(error)}") from error
    with commit_together():
        for place, text in pages.items():
            with open_output(Path(folder) / place) as file:
                file.write(text.encode())
    click.echo(f"{len(pages)} pages in {folder}; read them: man -M {folder} wv-train", err=True)


def _show(context: click.Context, names: tuple[str, ...]) -> None:
    from wv_cli.commands.compat import CompatCommand

    assert context.parent is not None
    shown = context.parent
    for name in names:
        if not isinstance(shown.command, click.Group):
            raise UsageError(f"`{shown.command_path}` has no parts; expected nothing after it, found {name!r}")
        _, found, _ = shown.command.resolve_command(shown, [name])
        assert found is not None
        shown = click.Context(found, info_name=name, parent=shown)
    if isinstance(shown.command, CompatCommand):
        shown.command.show_help()
    else:
        click.echo(shown.get_help())
