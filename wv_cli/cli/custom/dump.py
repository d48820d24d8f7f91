"""`wv dump`: what a fastText model holds, as text."""

import sys
from typing import Literal

from wv_cli.cli.fields import make_command
from wv_cli.config import Options, argument, frozen


@frozen
class DumpOptions(Options):
    """Print a part of MODEL (.bin, .ftz; - is standard input) in the format of fastText's `dump`.

    \b
    args    the training arguments in the file, `name value`
    dict    the number of entries, then `word count word|label`
    input   `rows dim`, then a row per word and per bucket (a .ftz is decoded)
    output  the same of the output layer
    """

    model: str = argument("MODEL", role="read")
    what: Literal["args", "dict", "input", "output"] = argument("")


def _dump(model: str, what: str, as_json: bool, quiet: bool) -> None:
    from wv_cli.vectors.formats.fasttext_bin import load_model
    from wv_cli.vectors.formats.fasttext_dump import parts

    for piece in parts(load_model(model), what):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


command = make_command("dump", DumpOptions, run=_dump)
