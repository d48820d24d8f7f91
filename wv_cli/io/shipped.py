"""The data that travel with the program: inside the installed package, beside it in a checkout."""

from pathlib import Path

from wv_cli.errors import WvError


def shipped_data() -> Path:
    """The folder of the shipped data. Raises WvError."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / "corpus").is_dir():
            return folder
    message = (
        f"{package / 'data'}: the sample data are not installed; install wv-toolkit again, without WV_SAMPLE_DATA=0"
    )
    raise WvError(message)
