"""`wv hash`: vectors in, binary codes out."""

import itertools
import json
import sys
from typing import Any

import click

from wv_cli.commands.shared.options import field_options, json_option, quiet_option, saved_run_options, take
from wv_cli.hashing import HASHERS
from wv_cli.hashing.config import HashConfig


class _Hash(click.Command):
    """--method bioword reads a text and has options of its own: commands/bioword.py."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        joined = {f"{first} {second}" for first, second in itertools.pairwise(args)}
        if {"--method bioword", "-m bioword"} & joined or {"--method=bioword", "-mbioword"} & set(args):
            from wv_cli.commands.bioword import command as bioword

            return bioword.make_context(info_name, args, parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, context: click.Context) -> Any:
        return super().invoke(context) if context.command is self else context.command.invoke(context)


@click.command("hash", cls=_Hash, short_help="Turn vectors into binary codes.")
@click.argument("vectors", metavar="VECTORS")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="NAME.txt, NAME.tsv and - are text for people, any other ending is binary.",
)  # fmt: skip
@click.option(
    "-m", "--method", type=click.Choice(list(HASHERS)),
    help="How to fit a hasher on VECTORS; bioword learns from a text: see wv bioword.",
)  # fmt: skip
@click.option("--hasher", metavar="FILE", help="Instead of --method: a hasher from --save-hasher.")
@click.option("--save-hasher", metavar="FILE", help="Keep the fitted hasher for other vectors.")
@field_options(
    HashConfig,
    {
        "length": "Bits of a code, active bits of a sparse one; 0: 128 or the most up to it, 32 active, all of sign's.",
        "expansion": "Sparse: units to choose from; 0: 10 x dim for fly and randexp, 20 x length for biohash.",
        "normalize": "Scale vectors to unit length first.",
        "centre": "Then take off the mean of all rows, or of each row; auto: fly, densefly row, pcah, itq mean.",
        "threshold": "Dense: a bit is on above 0 or above the unit's median.",
        "orthogonal": "lsh: projections orthogonal in groups of dim.",
        "sampling": "fly, densefly: share of the coordinates a unit sums.",
        "iterations": "itq: turns of the rotation.",
        "rule": "biohash: spherical k-means, or the paper's competitive learning.",
        "p": "sgd: the norm's exponent.",
        "rank": "sgd: the unit of this rank is pushed away by --delta.",
        "delta": "sgd: how much.",
        "lr": "sgd: learning rate of the first epoch, falling to 0 (the authors: 0.02, for more rows).",
        "epochs": "biohash: passes over the rows.",
        "batch": "sgd: rows per update.",
        "normalize_weights": "sgd: bring weights back to unit length after each update.",
        "seed": "Random seed; the same seed gives the same codes.",
        "threads": "Threads that encode and find nearest centres; sgd uses one.",
    },
)
@click.option("--from", "from_format", metavar="FORMAT", help="Format of VECTORS; by default their content tells.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Read only the first N words of VECTORS.")
@saved_run_options
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Turn VECTORS into codes that are compared by counting bits: signs of projections (lsh, densefly, pcah, itq,
    sign), or the few most active of many units (fly, randexp, biohash); or into bytes that name centroids (pq),
    compared by the vectors they stand for. --method bioword learns codes from a text instead of VECTORS: see
    `wv bioword --help`.

    \b
    wv hash vectors.bin --method itq --length 64 -o vectors.codes --save-hasher itq.hasher
    wv hash more.vec --hasher itq.hasher -o more.codes
    wv nn vectors.codes paris --rerank vectors.bin
    """
    from wv_cli.commands.shared.bar import reading_bar
    from wv_cli.commands.shared.display import say, stopped
    from wv_cli.jobs.hash import HashSession

    session = HashSession(config=take(HashConfig, options), argv=("wv", *sys.argv[1:]), **options)

    def tell(message: str, **facts: object) -> None:
        say(message, quiet, as_json, **facts)

    with reading_bar(quiet or as_json, unit="rows", desc="encoding") as encoding:
        outcome, facts = session.run(tell, reading=encoding)
    if outcome is not None and not outcome.finished:
        raise stopped(outcome, session.checkpoint_path is not None, session.resume)
    written = [*session.outputs, *([session.save_hasher] if session.save_hasher else [])]
    if as_json and "-" not in written:
        click.echo(json.dumps({"outputs": written, **facts}))
    kind = f"{facts['active']} of {facts['bits']} bits" if facts["active"] else f"{facts['bits']} bits"
    tell(f"wrote {', '.join(written)}: {facts['words']:,} words, {facts['method']}, {kind}")
