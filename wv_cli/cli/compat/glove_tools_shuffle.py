"""GloVe's `shuffle`: the records of standard input in a random order."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.cli.compat.glove_tools import (
    GIGABYTE,
    HELP_FLAGS,
    column,
    flags_of,
    memory_of,
    require_opened,
    show_help,
    tell,
)

if TYPE_CHECKING:
    pass

_MERGING = "Merging temp files: processed"


def main(words: Sequence[str]) -> int:
    if len(words) == 1 and words[0] in HELP_FLAGS:
        return show_help("shuffle")
    flags = flags_of(words)
    verbose = flags.whole("-verbose", 2)
    temp_file = flags.text("-temp-file", "temp_shuffle")
    length = flags.long("-array-size", int(0.95 * memory_of(flags, 2) * GIGABYTE / 16))
    seed = flags.whole("-seed", 0) or int(time.time())
    tell(f"Using random seed {seed}\nSHUFFLING COOCCURRENCES\n" + (f"array size: {length}\n" if verbose > 0 else ""))
    require_opened(os.fspath(Path(temp_file).parent), "file", os.O_RDONLY | os.O_DIRECTORY, f"{temp_file}_0000.bin")
    from wv_cli.errors import UsageError
    from wv_cli.io.output import open_output
    from wv_cli.models.glove.record_files import piped_records
    from wv_cli.models.glove.shuffle import Shuffle

    if length < 1:
        raise UsageError(f"-array-size must be at least 1 record, not {length}")
    if verbose > 1:
        tell("Shuffling by chunks: processed 0 lines.")
    shuffle = Shuffle(piped_records(), seed % (1 << 32), length * 16, temp_file)
    files, rounds = _account(shuffle.records, length)
    if verbose > 1:
        tell("".join(f"{column(22)}processed {whole * length} lines." for whole in range(1, files)))
        tell(f"{column(22)}processed {shuffle.records} lines.\nWrote {files} temporary file(s).\n")
    if verbose > 0:
        tell(f"{_MERGING} 0 lines.")
    with open_output("-") as stream:
        for block in shuffle.blocks():
            stream.write(block.view("u1").data)
    if verbose > 0:
        tell("".join(f"{column(31)}{done} lines." for done in rounds))
    tell(f"{column(0)}{_MERGING} {shuffle.records} lines.\n\n")
    return 0


def _account(records: int, length: int) -> tuple[int, Iterator[int]]:
    """What GloVe's program would tell of its temporary files: how many it fills, each of `length` records but the last,
    and how many records it has merged after each round, which takes as many from each file as fit the memory."""
    whole, rest = divmod(records, length)
    share = max(length // (whole + 1), 1)
    rounds = -(-(length if whole else rest) // share)
    merged = (whole * min(k * share, length) + min(k * share, rest) for k in range(1, rounds + 1))
    return whole + 1, merged
