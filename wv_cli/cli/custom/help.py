"""`wv help`: what `--help` shows, by the name of a command; for the originals' programs what these say themselves; the
guides. The whole of it as manual pages or as a site of HTML pages."""

import click

from wv_cli.cli.help import Command, FileName
from wv_cli.cli.options import conflict
from wv_cli.errors import UsageError


@click.command("help", cls=Command)
@click.argument("names", nargs=-1, metavar="[COMMAND|GUIDE]...")
@click.option(
    "--man", type=FileName("dir"), metavar="DIR", help="Write the manual pages to DIR: DIR/man1/wv-train.1, ..."
)
@click.option(
    "--html", type=FileName("dir"), metavar="DIR", help="Write README, guides and manual to DIR as pages for a browser."
)
@click.option("--guides", "-g", is_flag=True, help="List all guides, each with a line about it.")
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], man: str | None, html: str | None, guides: bool) -> None:
    """Show the help of COMMAND, or a GUIDE; without a name the names of both.

    For the programs that wv replaces (word2vec, fasttext, ...) it is their own help.
    """
    asked = [
        name for name, value in (("--man", man), ("--html", html), ("--guides", guides or None)) if value is not None
    ]
    if len(asked) > 1:
        raise conflict(asked[0], asked[1], "run it twice")
    if asked and names:
        raise conflict(asked[0], "COMMAND", "it is about all of them")
    if html is not None:
        from wv_cli.cli.html import site
        from wv_cli.cli.manual import write_files

        pages = site()
        write_files(html, pages)
        click.echo(f"{len(pages)} files in {html}; read them: {html.rstrip('/')}/index.html", err=True)
    elif man is not None:
        from wv_cli.cli.manual import write_files
        from wv_cli.cli.roff import man_pages

        pages = {place: text.encode() for place, text in man_pages().items()}
        write_files(man, pages)
        click.echo(f"{len(pages)} pages in {man}; read them: man -M {man} wv-train", err=True)
    elif names:
        _show(context, names)
    else:
        from wv_cli.cli.guide import list_guides, list_names

        click.echo((list_guides if guides else list_names)(context.make_formatter()))


def _show(context: click.Context, names: tuple[str, ...]) -> None:
    from wv_cli.cli.compat import CompatCommand
    from wv_cli.cli.guide import show_guide
    from wv_cli.guides import GUIDES

    assert context.parent is not None
    shown = context.parent
    if names[:1] and names[0] in GUIDES:
        if len(names) > 1:
            raise UsageError(f"{names[0]!r} is a guide; expected nothing after it, found {names[1]!r}")
        show_guide(names[0])
        return
    assert isinstance(shown.command, click.Group)
    for name in names:
        if not isinstance(shown.command, click.Group):
            raise UsageError(f"`{shown.command_path}` has no parts; expected nothing after it, found {name!r}")
        if name not in (known := shown.command.list_commands(shown)):  # a group may take it for an argument
            raise _unknown(name, [*known, *(GUIDES if shown is context.parent else ())], shown)
        _, found, _ = shown.command.resolve_command(shown, [name])
        assert found is not None
        shown = click.Context(found, info_name=name, parent=shown)
    if isinstance(shown.command, CompatCommand):
        shown.command.show_help()
        return
    click.echo(shown.get_help())


def _unknown(name: str, known: list[str], group: click.Context) -> UsageError:
    import difflib

    from wv_cli.cli.habits import command_for, guide_for

    if group.parent is None and (way := "; ".join(filter(None, [guide_for(name), command_for(name)]))):
        return UsageError(f"no command or guide is called {name!r}; {way}")
    near = difflib.get_close_matches(name, known)
    where = "wv help" if group.parent is None else f"{group.command_path} -h"
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"`{where}` lists them"
    what = "command or guide" if group.parent is None else f"part of `{group.command_path}`"
    return UsageError(f"no {what} is called {name!r}; {hint}")
