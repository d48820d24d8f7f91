"""States of small models, GloVe's among them, and runs that go on with them."""

import tempfile
from functools import cache
from pathlib import Path

from tests.fuzz import seeds
from wv_cli import train
from wv_cli.commands.glove import GloveJob
from wv_cli.commands.job import build
from wv_cli.commands.parts.continuation import inherit_options, state_of
from wv_cli.models.glove.config import MODEL, GloveConfig
from wv_cli.text.config import VocabConfig

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


@cache
def saved_glove() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        text, state = Path(folder) / "text.txt", Path(folder) / "out.state"
        text.write_bytes(seeds.text())
        _glove(text, {"dim": 4, "min_count": 2}, save_state=str(state))
        return [state.read_bytes()]


def go_on_glove(path: Path) -> None:
    """With the shortest run, as go_on()."""
    state, text = path.with_name("next.state"), path.with_name("text.txt")
    for before, after in ((path, str(state)), (state, None)):
        options = inherit_options(str(before), state_of(str(before), (MODEL,)), GloveConfig, ())
        _glove(text, options, continue_=str(before), save_state=after)


def _glove(text: Path, options: dict[str, object], **fields: str | None) -> None:
    defaults = {**vars(GloveConfig()), **vars(VocabConfig())}
    options = {**defaults, **options, "iterations": 1, "threads": 1}
    files = {"inputs": (str(text),), "outputs": (str(text.with_name("out.bin")),), **fields}
    job = build(GloveJob, {**options, **files, "meta": False, "overwrite": True})
    job.run(lambda message, **facts: None)
