"""The shipped data that `wv demo` works on."""

from pathlib import Path

from wv_cli.errors import WvError, reason

TEXT, PAIRS, ANALOGIES = "wiki8-demo.txt.xz", "EN-WS-353-ALL.txt", "questions-words.txt"
DATA = {TEXT: "corpus", PAIRS: "similarity", ANALOGIES: "analogy"}


def sample_data() -> Path:
    """The folder of the shipped data: inside the installed package, beside it in a checkout. Raises WvError."""
    package = Path(__file__).resolve().parent.parent.parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / "corpus").is_dir():
            return folder
    message = f"{package / 'data'}: the sample data is missing; install the package again"
    raise WvError(message)


def link_data(folder: Path) -> None:
    """Makes links to the shipped files in `folder`, so that what is printed is short. Raises WvError."""
    data = sample_data()
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
