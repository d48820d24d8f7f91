"""What `wv predict` is asked, and what it writes."""

from pathlib import Path

from wv_cli.commands.distribution import dask_option
from wv_cli.commands.part import Part
from wv_cli.config import argument, frozen, option, require
from wv_cli.filtering.flattening import flatten_option, unit_option


@frozen
class AskedTexts(Part):
    """The classifier, and the texts whose lines are classified."""

    model: str = argument("MODEL", role="read")
    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    dask: str | None = dask_option()

    def check(self) -> None:
        """Raises UsageError for a text, or a number, where the names of texts are expected."""
        for each in self.inputs:
            if each == "-" or Path(each).exists():
                continue
            require(not each.isdecimal(), f"{each}: no such file; the number of labels is -k {each}")
            message = f"{each[:60]!r} is no file; texts are read from files, or with - from standard input"
            require(" " not in each or "/" in each, message)


@frozen
class Answers(Part):
    """The output file: a line for each line of text, or the records that were read, with the answers added. A text has
    the mean probabilities of its units."""

    prob: bool = option(
        False,
        "Print the probability behind each label, as fastText's predict-prob.",
        off=None, only="not as_json and not add and not number",
    )  # fmt: skip
    as_json: bool = option(
        False,
        "Print one JSON object per line: labels and probabilities, or the number.",
        off=None, only="not add", group="Run",
    )  # fmt: skip
    add: str | None = option(
        None, "Write records again, with fields NAME, NAME_score (of labels) and NAME_known.", metavar="NAME"
    )
    flatten: str = flatten_option(only="add")
    unit: str = unit_option(only="add")
    unknown: str = option(
        "und", "Label of a text without a known word; `answer` gives fastText's answer.", metavar="LABEL",
        only="add and not number",
    )  # fmt: skip
    output: str = option("-", "File for the answers.", short="o", role="result", group="Output")

    def check(self) -> None:
        require(self.add != "", "--add needs the name of a field")
