"""The shipped data that `wv demo` works on."""

from pathlib import Path

from wv_cli.errors import WvError, reason
from wv_cli.io.shipped import shipped_data

TEXT, PAIRS, ANALOGIES = "wiki8-demo.txt.xz", "EN-WS-353-ALL.txt", "questions-words.txt"
DATA = {TEXT: "corpus", PAIRS: "similarity", ANALOGIES: "analogy"}


def link_data(folder: Path) -> None:
    """Makes links to the shipped files in `folder`, so that what is printed is short. Raises WvError."""
    data = shipped_data()
    try:
        for name, kind in DATA.items():
            link, target = folder / name, data / kind / name
            if link.is_symlink():
                link.unlink()
            elif link.exists():
                raise WvError(f"{link}: exists and is no link to {target}; remove it or name another folder")
            link.symlink_to(target)
    except OSError as error:
        raise WvError(f"{folder}: cannot make links: {reason(error)}") from error
