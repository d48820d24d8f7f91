"""`wv predict`: the labels a classifier gives to lines of text."""

import json
import sys
from functools import partial
from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, quiet_option, refuse_meaningless
from wv_cli.models.config import PredictConfig


@click.command("predict", cls=Command)
@click.argument("model", metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@field_options(PredictConfig)
@click.option("--prob", is_flag=True, help="Show the probability behind each label, as fastText's predict-prob.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line: labels and probabilities.")
@quiet_option
def command(model: str, inputs: tuple[str, ...], prob: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input; gzip, bzip2, xz and zstd
    are unpacked. MODEL is a fastText classifier, .bin or .ftz, from wv train --model supervised or from fastText.

    Each line gives one line of output, as fastText prints it. An empty line is answered by what the model has learnt of
    line ends; a line of output is empty where the model knows nothing of the input or no label reaches --threshold.
    Labels in the input are passed over.
    """
    refuse_meaningless(prob="not as_json")
    config = PredictConfig(**options)
    config.validate()
    from wv_cli.commands.shared.display import say
    from wv_cli.formats.fasttext_bin import load_model
    from wv_cli.formats.recognise import texts
    from wv_cli.models.classifier import Classifier
    from wv_cli.text.source import Source

    source = Source(texts(inputs, note=partial(say, quiet=quiet, as_json=as_json), force=config.force_text))
    classifier = Classifier(load_model(model), model)
    names = list(classifier.labels) if as_json else []
    for answered in classifier.answers(source, config.k, config.threshold, config.threads):
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
