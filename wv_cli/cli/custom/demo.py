"""`wv demo`: the other commands on the shipped data, each printed as the command line that repeats it.

Steps run in this process: a signal to it reaches the step, which saves its work, and leaves none behind.
"""

import shlex
import sys
from pathlib import Path

import click

from wv_cli.cli.fields import make_command
from wv_cli.cli.options import refuse_options
from wv_cli.cli.sample import ANALOGIES, PAIRS, TEXT, link_data
from wv_cli.config import Options, frozen, option, threads_option
from wv_cli.io.host import processors

# What so small a text teaches well, whatever the seed.
WORDS = ["music", "germany", "seven", "january"]
QUESTIONS = [("england", "london", "france"), ("germany", "german", "france"), ("small", "smaller", "large")]
RESTRICTED = ["--restrict-vocab", "30000"]
SETTINGS = ["--dim", "100", "--window", "5", "--negative", "5", "--sample", "1e-4", "--lr", "0.05"]


def steps(folder: Path, epochs: int, threads: int) -> list[tuple[str, list[str]]]:
    """What each step shows, and its arguments to `wv`."""
    vectors = str(folder / "vectors.bin")
    outputs = ["-o", vectors, "-o", str(folder / "vectors.vec")]
    train = ["train", str(folder / TEXT), *outputs, *SETTINGS, "--epochs", str(epochs), "--threads", str(threads)]
    train.append("--overwrite")  # a demo that was stopped begins anew
    shown = [
        (f"Train on 2.3 million words of Wikipedia, {epochs} times over, and write two formats.", train),
        ("The nearest neighbors of some words.", ["nn", vectors, *WORDS, "-k", "5"]),
    ]
    for a, b, c in QUESTIONS:
        shown.append((f"{a} is to {b} as {c} is to what?", ["analogy", vectors, a, b, c, "-k", "3", *RESTRICTED]))
    for task, file, title, extra in [
        ("similarity", PAIRS, "Do cosines order pairs of words as people do? spearman: 1 exactly, 0 not at all.", []),
        ("analogy", ANALOGIES, "How many of such questions are answered with the word expected?", RESTRICTED),
    ]:
        shown.append((title, ["eval", task, vectors, "-d", str(folder / file), *extra, "--table"]))
    return shown


def last_words(folder: Path) -> str:
    """What the figures are good for, and what to type next."""
    names = [shlex.quote(str(folder / name)) for name in ("vectors.bin", PAIRS)]
    return f"""# What the figures are good for
They compare: two texts, two settings, two programs, by the same file of questions. By themselves they say little; with
so small a text (useful vectors need about 100 times as much) they are low, and many questions have a word that is not
in it. What counts is how the vectors serve your own task.

# With a text of your own, a sentence or more a line; .gz, .bz2, .xz and .zst as they are
$ wv train my.txt -o my.bin --tokenize unicode,lowercase
$ wv nn my.bin music computer
$ wv eval similarity my.bin {names[0]} -d {names[1]}
$ wv help train

The files are in {folder}: vectors.bin (word2vec's binary), vectors.vec (text), how they were made in *.meta.json."""


def run_step(arguments: list[str]) -> int:
    """Runs `wv ARGUMENTS`; returns its exit code, or raises what it raises."""
    from wv_cli.cli.program import wv

    ours = sys.argv
    sys.argv = ["wv", *arguments]
    try:
        result = wv.main(args=arguments, prog_name="wv", standalone_mode=False)
    finally:
        sys.argv = ours
    return result if isinstance(result, int) else 0


@frozen
class DemoOptions(Options):
    """Train word vectors on the shipped text and show what they know: neighbors, analogies, scores.

    The demo takes about half a minute. Every step is printed as the command line that repeats it.
    """

    output: str = option("wv-demo", "Folder for the files.", short="o", metavar="FOLDER", role="result")
    epochs: int = option(20, "Passes over the text.", low=1, high=1000, only="not files_only")
    threads: int = threads_option(only="not files_only")
    files_only: bool = option(False, "Link the text and the test sets into FOLDER and train nothing.", off=None)


def _show_demo(output: str, epochs: int, threads: int, files_only: bool, as_json: bool, quiet: bool) -> int:
    from wv_cli.io.places import make_folder

    refuse_options(**dict(DemoOptions.conditions()))
    make_folder(folder := Path(output))
    link_data(folder)
    if files_only:
        return 0
    for title, arguments in steps(folder, epochs, threads or processors()):
        click.echo(f"# {title}\n$ wv {shlex.join(arguments)}")
        code = run_step([*arguments, "-q"] if quiet else arguments)
        if code:
            return code
        click.echo()
    click.echo(last_words(folder))
    return 0


command = make_command("demo", DemoOptions, run=_show_demo)
