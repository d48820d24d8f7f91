"""States of small models, and runs that go on with them."""

import tempfile
from functools import cache
from pathlib import Path

from tests.fuzz import seeds
from wv_cli.jobs.train import train

_NGRAMS = {"loss": "hs", "minn": 2, "maxn": 3, "buckets": 100}
_KINDS: list[dict[str, object]] = [{}, {"loss": "nce"}, _NGRAMS, {**_NGRAMS, "model": "supervised"}]


@cache
def saved() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        text, out, state = (Path(folder) / name for name in ("text.txt", "out.bin", "out.state"))
        text.write_bytes(seeds.text())
        found = []
        for options in _KINDS:
            train(text, out, save_state=state, dim=4, epochs=1, min_count=2, meta=False, **options)
            found.append(state.read_bytes())
        return found


def go_on(path: Path) -> None:
    """With the shortest run, whatever the state says about its length."""
    state, out = path.with_name("next.state"), path.with_name("out.bin")
    short = {"epochs": 1, "threads": 1, "meta": False, "overwrite": True}
    train(path.with_name("text.txt"), out, continue_=path, save_state=state, **short)
    train(path.with_name("text.txt"), out, continue_=state, **short)
