"""Training jobs as calls of Python make them."""

from wv_cli.cli.arguments import read_arguments
from wv_cli.cli.calling import arguments_of
from wv_cli.commands.train import TrainJob


def training_job(inputs, output, model=None, preset=None, **options):
    arguments = arguments_of("train")
    given = {"inputs": inputs, "output": output, "model": model, "preset": preset, **options}
    read = read_arguments(given, arguments, "train")
    return TrainJob.from_options({arguments[name].name: value for name, value in read.items()})
