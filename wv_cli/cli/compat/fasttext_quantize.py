"""fastText's quantize: OUT.bin in, OUT.ftz out."""

from collections.abc import Sequence

from wv_cli.cli.compat import Exit, abort, tell
from wv_cli.cli.compat.fasttext_args import Args
from wv_cli.cli.compat.fasttext_model import load
from wv_cli.cli.compat.fasttext_progress import Telling
from wv_cli.io.events import unheard

_USAGE = "usage: fasttext quantize <args>\n"
_LEAST_ROWS = 256


def quantize(words: Sequence[str]) -> int:
    if not words:
        tell(_USAGE + Args.help())
        raise Exit(1)
    args = Args.parse("quantize", words)
    from wv_cli.commands.part import SidecarOption
    from wv_cli.commands.quantize import LabeledTexts, Models, QuantizeJob
    from wv_cli.io.host import processors
    from wv_cli.text.reading_config import AskedConfig
    from wv_cli.transforms.config import QuantizeConfig

    pruned = _require_large(args)
    threads = max(1, min(args.thread, processors()))
    retrain = args.retrain and pruned
    config = QuantizeConfig(
        cutoff=args.cutoff if pruned else 0,
        dsub=args.dsub,
        qnorm=args.qnorm,
        qout=args.qout,
        retrain=retrain,
        epochs=args.epoch,
        lr=args.lr,
        threads=threads,
        seed=args.seed,
    )
    telling = Telling(args.verbose, args.thread, threads)
    QuantizeJob(
        invocation=SidecarOption(meta=False),
        config=config,
        models=Models(model=args.output + ".bin", output=args.output + ".ftz"),
        texts=LabeledTexts(inputs=(args.input,) if retrain else (), reading=AskedConfig(force_text=True)),
    ).run(unheard, telling.show_progress)
    telling.finish_bar()
    return 0


def _require_large(args: Args) -> bool:
    """Whether -cutoff drops rows of the model. Aborts for one that fastText does not quantize."""
    model = load(args.output + ".bin")
    if not model.is_classifier:
        abort("For now we only support quantization of supervised models")
    rows = model.input.shape[0]
    pruned = 0 < args.cutoff < rows
    if (args.cutoff if pruned else rows) < _LEAST_ROWS or (args.qout and len(model.labels) < _LEAST_ROWS):
        abort(f"Matrix too small for quantization, must have at least {_LEAST_ROWS} rows")
    return pruned
