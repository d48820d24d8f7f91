"""`wv predict`: the labels a classifier gives to lines of text."""

import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.options import quiet_option, threads_option


@click.command("predict")
@click.argument("model", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-k", default=1, show_default=True, metavar="N", help="Labels per line, the best first; -1: all.")
@click.option("--threshold", default=0.0, show_default=True, metavar="P", help="Leave out labels less probable than P.")
@click.option("--prob", is_flag=True, help="Show the probability behind each label, as fastText's predict-prob.")
@threads_option("Threads that predict, in the order of lines")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: labels and probabilities.")
@quiet_option
def command(
    model: str,
    inputs: tuple[str, ...],
    k: int,
    threshold: float,
    prob: bool,
    threads: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd
    are unpacked. MODEL is a fastText classifier, .bin or .ftz, from wv train --model supervised or from fastText.

    Each line gives one line of output, as fastText prints it: empty where the model knows no word of the line. Labels
    in the input are passed over.
    """
    from wv_cli.errors import UsageError
    from wv_cli.formats.fasttext_bin import load_model
    from wv_cli.models.classifier import ALL, Classifier
    from wv_cli.text.source import Source

    if k < 1 and k != ALL:
        raise UsageError(f"-k must be at least 1, or -1 for all labels, not {k}")
    if not 0 <= threshold <= 1:
        raise UsageError(f"--threshold is a probability between 0 and 1, not {threshold:g}")
    classifier = Classifier(load_model(model), model)
    names = list(classifier.labels) if as_json else []
    for answered in classifier.answers(Source(inputs), k, threshold, threads):
        if as_json:
            sys.stdout.write("".join(_objects(answered, names)))
        else:
            sys.stdout.buffer.write(answered.lines(classifier.labels, prob))
    sys.stdout.flush()


def _objects(answered: Any, names: list[str]) -> Any:
    rows = zip(answered.labels.tolist(), answered.probabilities.tolist(), answered.found.tolist(), strict=True)
    for labels, probabilities, found in rows:
        facts = {
            "labels": [
                names[label].encode("utf-8", "surrogateescape").decode("utf-8", "replace") for label in labels[:found]
            ],
            "probabilities": [round(p, 6) for p in probabilities[:found]],
        }
        yield json.dumps(facts) + "\n"
