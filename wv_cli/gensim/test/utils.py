"""gensim's toy texts: nine titles of articles (Deerwester et al. 1990), and names of temporary files."""

import tempfile
from pathlib import Path
from typing import NoReturn

from wv_cli.errors import UsageError

common_texts = [
    title.split()
    for title in (
        "human interface computer",
        "survey user computer system response time",
        "eps user interface system",
        "system human system eps",
        "user response time",
        "trees",
        "graph trees",
        "graph minors trees",
        "graph minors survey",
    )
]


def get_tmpfile(suffix: str) -> str:
    """The path of a file in the folder for temporary files; nothing is made."""
    return str(Path(tempfile.gettempdir(), suffix))


def datapath(fname: str) -> NoReturn:
    """Raises UsageError: gensim's files of tests are not had."""
    message = f"{fname}: the files of gensim's tests are not part of wv; give the path of a file of your own"
    raise UsageError(message)
