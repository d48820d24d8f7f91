"""`wv demo`: the other commands on the shipped data, so that one line shows the whole program at work.

Every step is the command line that is printed before it: what the demo shows can be repeated by copying a line, and the
demo cannot drift away from the commands. They run in this process, so that a signal to it reaches the step, which saves
its work, and leaves none behind.
"""

import shlex
import sys
from pathlib import Path

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import quiet_option, threads_option
from wv_cli.errors import WvError

WORDS = ["paris", "music", "computer", "seven"]
QUESTIONS = [("france", "paris", "germany"), ("brother", "sister", "father"), ("good", "better", "bad")]
RESTRICTED = ["--restrict-vocab", "30000"]
SETTINGS = ["--dim", "100", "--window", "5", "--negative", "5", "--sample", "1e-4", "--lr", "0.05"]


def sample_data() -> Path:
    """The folder of the shipped data: inside the installed package, beside it in a checkout. Raises WvError."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / "corpus").is_dir():
            return folder
    message = f"{package / 'data'}: the sample data is missing; install the package again"
    raise WvError(message)


def steps(data: Path, folder: Path, epochs: int, threads: int) -> list[tuple[str, list[str]]]:
    """What each step shows, and its arguments to `wv`."""
    vectors = str(folder / "vectors.bin")
    corpus = str(data / "corpus" / "wiki8-slice.txt.xz")
    outputs = ["-o", vectors, "-o", str(folder / "vectors.vec")]
    train = ["train", corpus, *outputs, *SETTINGS, "--epochs", str(epochs), "--threads", str(threads)]
    train.append("--overwrite")  # a demo that was stopped begins anew
    shown = [
        (f"Train on 5.6 million words of Wikipedia, {epochs} times over, and write two formats.", train),
        ("The nearest neighbours of some words.", ["nn", vectors, *WORDS, "-k", "5"]),
    ]
    for a, b, c in QUESTIONS:
        shown.append((f"{a} is to {b} as {c} is to what?", ["analogy", vectors, a, b, c, "-k", "3", *RESTRICTED]))
    for task, file, extra in [
        ("similarity", data / "similarity" / "EN-WS-353-ALL.txt", []),
        ("analogy", data / "analogy" / "questions-words.txt", RESTRICTED),
    ]:
        shown.append((f"Score the vectors: {task}.", ["eval", task, vectors, "-d", str(file), *extra, "--table"]))
    return shown


def run_step(arguments: list[str]) -> int:
    """Runs `wv ARGUMENTS`; returns its exit code, or raises what it raises."""
    from wv_cli.commands.shared.program import wv

    ours = sys.argv
    sys.argv = ["wv", *arguments]
    try:
        result = wv.main(args=arguments, prog_name="wv", standalone_mode=False)
    finally:
        sys.argv = ours
    return result if isinstance(result, int) else 0


@click.command("demo", cls=Command)
@click.option("-o", "--output", default="wv-demo", metavar="FOLDER", show_default=True, help="Where the files go.")
@click.option("--epochs", type=click.IntRange(1, 1000), default=10, show_default=True, help="Passes over the text.")
@threads_option("Threads that train", default=0)
@quiet_option
def command(output: str, epochs: int, threads: int, quiet: bool) -> int:
    """Train word vectors on the shipped text and show what they know: neighbours, analogies, scores.

    Takes about half a minute. Every step is printed as the command line that repeats it.
    """
    from wv_cli.system.output import check_writable

    data, folder = sample_data(), Path(output)
    if not folder.is_dir():
        check_writable(folder)
        folder.mkdir()
    for title, arguments in steps(data, folder, epochs, threads):
        click.echo(f"# {title}\n$ wv {shlex.join(arguments)}")
        code = run_step([*arguments, "-q"] if quiet else arguments)
        if code:
            return code
        click.echo()
    click.echo(f"The vectors are in {folder.resolve()}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return 0
