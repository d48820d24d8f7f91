"""`wv links`: the originals' names, so that scripts that call them run unchanged."""

import click

from wv_cli.cli import PROGRAMS
from wv_cli.cli.fields import make_command
from wv_cli.config import Options, argument, frozen


@frozen
class LinksOptions(Options):
    """Make links in DIR to this program under the originals' names: word2vec, fasttext, vocab_count, ...

    Called by such a name, wv reads that program's command line. Put DIR first in PATH, and scripts run unchanged.
    The command fails if a file of that name exists and is no such link; it leaves the file alone.
    """

    folder: str = argument("DIR", role="own")


def _make_links(folder: str, as_json: bool, quiet: bool) -> None:
    import os
    import shutil
    import sys
    from pathlib import Path

    from wv_cli.errors import WvError, reason
    from wv_cli.io.places import make_folder

    beside = Path(sys.executable).with_name("wv")
    found = str(beside) if beside.exists() else shutil.which("wv")
    if found is None:
        raise WvError("the program wv is neither beside this Python nor in PATH; install it: pip install .")
    target = Path(found).absolute()
    place = Path(folder)
    make_folder(place, parents=True)
    try:
        for name in PROGRAMS:
            link = place / name
            if link.is_symlink() and os.path.realpath(link) == os.path.realpath(target):
                continue
            if os.path.lexists(link):
                raise WvError(f"{link}: exists and is no link to wv; remove it or name another folder")
            link.symlink_to(target)
    except OSError as error:
        raise WvError(f"{folder}: cannot make links: {reason(error)}") from error
    if not quiet:
        click.echo(f"{folder}: {', '.join(PROGRAMS)}")


command = make_command("links", LinksOptions, run=_make_links)
