"""Training jobs as calls of Python make them, and searches of so many trials."""

import math
from dataclasses import replace

from wv_cli.cli.arguments import read_arguments
from wv_cli.cli.calling import arguments_of
from wv_cli.commands.autotune import LabelSearch
from wv_cli.commands.train import TrainJob


def training_job(inputs, output, model=None, preset=None, **options):
    arguments = arguments_of("train")
    given = {"inputs": inputs, "output": output, "model": model, "preset": preset, **options}
    read = read_arguments(given, arguments, "train")
    return TrainJob.from_options({arguments[name].name: value for name, value in read.items()})


def end_after_trials(monkeypatch, count):
    """Searches end after `count` trials, of which none is out of time, however fast the machine; --autotune-duration
    must be longer."""
    real = LabelSearch._try

    def try_options(search, config, dsub, seconds):
        found = real(search, config, dsub, math.inf)
        if len(search.trials) + 1 >= count:
            search.plan = replace(search.plan, duration=0.0)
        return found

    monkeypatch.setattr(LabelSearch, "_try", try_options)
