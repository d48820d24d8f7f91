"""The texts that ranks read together: rank 0 checks the options and lists the files, each rank reads its part."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from wv_cli.cluster.ranks import Ranks, agree, ending_all
from wv_cli.cluster.training import require_same
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import Part, require_size, size_of


@contextmanager
def shared_texts(
    ranks: Ranks | None,
    options: Mapping[str, object],
    checked: Callable[[], Texts],
    *,
    whole_lines: bool,
) -> Iterator[Texts]:
    """The texts that this process reads: all that `checked` returns, which it alone calls, or with ranks the part of
    this one, after rank 0 has called it. Parts are cut between lines only if `whole_lines`.

    Raises on all ranks what `checked` raises, what require_same raises of the `options`, and WvError where a rank does
    not see the files that rank 0 sees, or has none of them to read. What goes wrong in the block on one rank ends all
    of them, with its name in the message."""
    if ranks is None:
        yield checked()
        return
    require_same(ranks, options)
    found: tuple[Texts, list[tuple[str, int]]] | None = None
    with agree(ranks):
        if ranks.rank == 0:
            texts = checked()
            found = texts, [(path, size_of(path)) for path in expand_inputs(texts)]
    listed = ranks.broadcast(found[1] if found is not None else None)
    part = Part(ranks.rank, ranks.size, whole_lines)
    with agree(ranks):
        require_files(listed, part)
    with ending_all(ranks):
        own = found[0] if found is not None else checked()
        yield replace(own, inputs=[path for path, _ in listed], part=part)


def require_files(listed: list[tuple[str, int]], part: Part) -> None:
    """Raises WvError where this rank does not see the files that rank 0 has listed, and where its part is empty."""
    for path, size in listed:
        require_size(path, size)
    part.of([path for path, _ in listed])
