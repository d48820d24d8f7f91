"""The bar shown while inputs are read: on a terminal only, never in a log, a pipe or with --quiet."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reading_bar(
    quiet: bool, unit: str = "B", desc: str = "reading"
) -> Iterator[Callable[[int, int | None], None] | None]:
    """Gives the `progress` argument of wv_cli.text.corpus functions, None where no bar is wanted. The bar goes away
    when the last byte has been read, so that another may follow inside the block."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=unit, unit_scale=True, desc=desc, file=sys.stderr, leave=False) as bar:

        def show(consumed: int, total: int | None) -> None:
            bar.total = total
            bar.update(consumed - bar.n)
            if consumed == total:
                bar.close()

        yield show
