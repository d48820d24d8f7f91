"""Damages fastText models in many ways and reads them: every file must read, or be refused with BadFile.

    python benchmarks/fuzz_fasttext.py [--files 100000] [--seed 1] MODEL...

Each round takes one of the models and cuts it, flips bits, overwrites header fields, lies about counts and sizes, swaps
and repeats pieces, or several of these at once; then reads it and, when that works, uses it: word and sentence vectors,
all vectors, writing it again. Reported and counted as failures: any other exception, a read model that does not come
back the same, a round that takes more than a few seconds, memory above a limit (which is set for the process, so a huge
allocation is a MemoryError), a crash (the seed and number of the round are printed before each block of rounds).
"""

import argparse
import io
import random
import resource
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from wv_cli.errors import BadFile
from wv_cli.formats import fasttext_bin
from wv_cli.formats.fasttext_read import ModelReader
from wv_cli.formats.fasttext_write import save_model

SLOW_SECONDS = 5.0
NUMBERS = [0, 1, 2, 3, 4, 11, 12, 13, 255, 256, 65536, 10**6, 2**31 - 1, -1, -2, -(2**31), 793712314]
LONG_NUMBERS = [*NUMBERS, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63)]
HEADER = 92  # bytes up to the word table


def cut(data: bytearray, random: random.Random) -> None:
    """Anywhere, more often in the first bytes."""
    del data[random.randrange(random.choice([len(data), min(len(data), 200)])) :]


def flip(data: bytearray, random: random.Random) -> None:
    for _ in range(random.choice([1, 1, 2, 10])):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def overwrite_header(data: bytearray, random: random.Random) -> None:
    """A field of the header becomes a number that is likely to be trouble."""
    place = random.randrange(0, HEADER, 4)
    if random.random() < 0.3:
        _put(data, place, struct.pack("<q", random.choice(LONG_NUMBERS)))
    else:
        _put(data, place, struct.pack("<i", random.choice(NUMBERS)))


def nudge_header(data: bytearray, random: random.Random) -> None:
    """A count that is a little wrong."""
    place = random.randrange(0, HEADER - 4, 4)
    (value,) = struct.unpack_from("<I", data.ljust(HEADER, b"\0"), place)
    _put(data, place, struct.pack("<I", (value + random.choice([-2, -1, 1, 2, 100])) % 2**32))


def overwrite_anywhere(data: bytearray, random: random.Random) -> None:
    """Numbers behind the header: sizes of matrices, rows of pruned buckets, types of words."""
    value = struct.pack("<q", random.choice(LONG_NUMBERS))
    _put(data, random.randrange(len(data)), value[: random.choice([1, 4, 8])])


def repeat_piece(data: bytearray, random: random.Random) -> None:
    start, size = random.randrange(len(data)), random.randrange(1, 1000)
    place = random.randrange(len(data))
    data[place:place] = data[start : start + size]


def drop_piece(data: bytearray, random: random.Random) -> None:
    start = random.randrange(len(data))
    del data[start : start + random.randrange(1, 1000)]


def zero_piece(data: bytearray, random: random.Random) -> None:
    start, size = random.randrange(len(data)), random.randrange(1, 1000)
    size = min(size, len(data) - start)
    data[start : start + size] = bytes([random.choice([0, 255])]) * size


def _put(data: bytearray, place: int, value: bytes) -> None:
    data[place : place + len(value)] = value[: max(0, len(data) - place)]


DAMAGES: list[Callable[[bytearray, random.Random], None]] = [
    cut,
    flip,
    overwrite_header,
    overwrite_header,
    nudge_header,
    nudge_header,
    overwrite_anywhere,
    repeat_piece,
    drop_piece,
    zero_piece,
]


def damaged(whole: bytes, random: random.Random) -> bytes:
    data = bytearray(whole)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        if data:
            random.choice(DAMAGES)(data, random)
    return bytes(data)


def use(data: bytes) -> str:
    """Reads a model and asks it things: "refused" or "read". Raises anything but BadFile for a fault of ours."""
    fasttext_bin.sniff(data)
    try:
        model = ModelReader("model", data).model()
    except BadFile as error:
        assert str(error)
        return "refused"
    with np.errstate(all="ignore"):  # damaged numbers may be infinite
        model.word_vectors(["the", "unseenword", "</s>", "", "\0"])
        model.sentence_vector("the of unseenword __label__x and")
        model.all_word_vectors()
        model.ngrams("naïve")
    written = io.BytesIO()
    save_model(written, model)
    # The oldest layout is renewed when it is written; every other file is itself again.
    assert written.getvalue() == data or data[:4] != struct.pack("<i", 793712314), "written differently"
    return "read"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=float, default=1.0, metavar="GB", help="limit of the address space")
    options = parser.parse_args()
    models = [Path(name).read_bytes() for name in options.models]
    limit = int(options.memory * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    outcomes: Counter[str] = Counter()
    start = time.process_time()
    for number in range(options.files):
        if number % 10_000 == 0:
            print(f"round {number}, seed {options.seed}: {dict(outcomes)}", flush=True)
        source = random.Random(f"{options.seed}/{number}")
        data = damaged(source.choice(models), source)
        began = time.process_time()
        try:
            outcome = use(data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            outcome = f"FAILED {type(error).__name__}"
            print(f"round {number}, seed {options.seed}: {type(error).__name__}: {error}", flush=True)
        if time.process_time() - began > SLOW_SECONDS:
            print(f"round {number}, seed {options.seed}: {time.process_time() - began:.1f} s of CPU", flush=True)
            outcome = "FAILED slow"
        outcomes[outcome] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
    print(f"{options.files:,} files: {figures}; {time.process_time() - start:.0f} s of CPU, peak {peak:.0f} MB")
    return int(any(outcome.startswith("FAILED") for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
