"""The folder of a static embedding is of one run: one that was interrupted between two renames is refused."""

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, WvError
from wv_cli.io import host
from wv_cli.io.folders import USAGE, Usage
from wv_cli.io.temporary import Temporary
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.safetensors import Tensors, write
from wv_cli.vectors.formats.static import StaticModel, Table
from wv_cli.vectors.formats.static_folder import save_folder, save_model
from wv_cli.words import WordList

TEXTS = ["a", "A b", "b b a", "q a"]
MANY = 9  # more than files are renamed


def base(folder: Path) -> StaticModel:
    matrix = np.arange(1, 10, dtype=np.float32).reshape(3, 3) ** 2
    save_folder(folder, Embeddings(WordList.from_words(["a", "b", "q"]), matrix), lowercase=False)
    return StaticModel.open(folder)


def other_numbers(model: StaticModel) -> StaticModel:
    return replace(model, table=Table("", model.table.matrix[:, ::-1].copy()))


def lowercase(model: StaticModel) -> StaticModel:
    return replace(model, tokenizer={**model.tokenizer, "normalizer": {"type": "Lowercase"}})


def of_sentence_transformers(model: StaticModel) -> StaticModel:
    return replace(model, counts_unknown=True)


# Models that may replace each other, each with how it is used.
Change = Callable[[StaticModel], StaticModel]
OURS: list[tuple[Change, str]] = [
    (lambda model: model, ""),
    (other_numbers, ""),
    (lowercase, ""),
    (lambda model: replace(lowercase(model), normalize=False), ""),
    (lambda model: replace(other_numbers(model), max_length=1), ""),
]
THEIRS: list[tuple[Change, str]] = [
    (of_sentence_transformers, ""),
    (of_sentence_transformers, "q "),
    (lambda model: of_sentence_transformers(other_numbers(model)), "b "),
    (lambda model: of_sentence_transformers(replace(model, max_length=1, normalize=False)), ""),
]
PAIRS = [pair for models in (OURS, THEIRS) for pair in itertools.permutations(models, 2)]


def answers(folder: Path) -> list[Any]:
    """All that a reader gets of the folder."""
    vectors, source = load(folder), open_encoder(folder)
    (found,) = encode(
        source, TEXTS, [Pooling.parse(source.pooling, source.layers, source.name)], normalize=source.normalize
    )
    return [list(vectors.words), vectors.matrix.tolist(), found.vectors.tolist()]


def save(folder: Path, model: StaticModel, prompt: str, renames: int = MANY) -> bool:
    """Whether all was written, when the system refuses to rename more than so many files."""
    done, rename = itertools.count(), Temporary.rename

    def stop(self: Temporary) -> None:
        if next(done) == renames:
            raise OSError
        rename(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Temporary, "rename", stop)
        patch.setattr(host, "sync", lambda descriptor: None)  # which is most of the time
        try:
            save_model(folder, model, usage=Usage({"a": prompt}, "a") if prompt else Usage())
        except WvError:
            return False
    return True


def without_digests(folder: Path) -> None:
    """As an earlier version wrote it."""
    tensors = Tensors.open(folder / "model.safetensors")
    arrays = {name: tensors.floats(name, tensors.shape(name)).copy() for name in tensors.names}
    with (folder / "model.safetensors").open("r+b") as stream:
        stream.truncate()
        write(stream, arrays, {})
    modules = json.loads((folder / "modules.json").read_text())
    del modules[0]["folder"]
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.mark.parametrize("earlier", [False, True], ids=["ours", "of an earlier version"])
def test_each_interruption_leaves_one_of_both_models_or_is_refused(earlier, tmp_path):
    model, refused = base(tmp_path / "base"), 0
    for number, ((change, prompt), (new_change, new_prompt)) in enumerate(PAIRS):
        save(tmp_path / f"new{number}", new_change(model), new_prompt)
        new = answers(tmp_path / f"new{number}")
        for renames in range(MANY):
            folder = tmp_path / f"{number}-{renames}"
            save(folder, change(model), prompt)
            if earlier:
                without_digests(folder)
            old = answers(folder)
            if save(folder, new_change(model), new_prompt, renames):
                assert answers(folder) == new
                break
            try:
                assert answers(folder) == old
            except BadFile as error:
                assert "modules.json: is not of the run that wrote" in str(error)
                with pytest.raises(BadFile, match=r"modules\.json: is not of the run that wrote"):
                    load(folder)
                refused += 1
    assert refused > 2 * len(PAIRS)


def test_settings_that_are_edited_are_followed(tmp_path):
    """And a folder that somebody put together says how it is made one."""
    model = base(tmp_path / "m")
    before = answers(tmp_path / "m")[2][1]
    config = json.loads((tmp_path / "m/config.json").read_text())
    (tmp_path / "m/config.json").write_text(json.dumps({**config, "max_length": 1}))
    assert answers(tmp_path / "m")[2][1] == [0, 0, 0] != before
    modules = json.loads((tmp_path / "m/modules.json").read_text())
    mark = modules[0].pop("folder")
    (tmp_path / "m/modules.json").write_text(json.dumps(modules))
    with pytest.raises(
        BadFile, match=rf'modules.json: .*expected "folder": \'{mark}\' in its first module, found none'
    ):
        load(tmp_path / "m")
    (tmp_path / "m/modules.json").unlink()
    assert StaticModel.open(tmp_path / "m").max_length == 1 != model.max_length
    without = tmp_path / "without"
    base(without)
    without_digests(without)
    modules[0]["folder"] = 7
    (without / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(BadFile, match=r"expected no `folder` in its first module, found 7\)"):
        open_encoder(without)


def test_a_prompt_of_another_model_does_not_stay(tmp_path):
    model = of_sentence_transformers(base(tmp_path / "base"))
    save(tmp_path / "m", model, "q ")
    assert (tmp_path / "m" / USAGE).exists()
    save(tmp_path / "m", model, "")
    save(tmp_path / "fresh", model, "")
    assert answers(tmp_path / "m") == answers(tmp_path / "fresh") and not (tmp_path / "fresh" / USAGE).exists()
