"""Commands with several outputs, on a disk that fills at every file call: all files are old or all are new. Results of
a training each stand alone: those that can be written are."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from wv_cli.__main__ import run
from wv_cli.io import temporary
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.words import WordList

TRAINING = "--dim 4 --epochs 1 --min-count 1 --threads 1 --no-meta -q"
COMMANDS = {
    "train": f"train t.txt -o a.bin -o b.npy --save-output-vectors c.vec {TRAINING}",
    "classes": f"train t.txt -o a.txt --classes 2 --save-output-vectors c.vec {TRAINING}",
    "classifier": f"train --model supervised labels.txt -o a.bin -o b.bin {TRAINING}",
    "glove": f"glove t.txt -o a.npy -o b.vec --save-counts c.bin {TRAINING}".replace("epochs", "iterations"),
    "hash": "hash v.vec -m itq --length 4 -o a.codes -o b.txt --save-hasher c.hasher --no-meta -q",
    "bioword": "bioword t.txt -o a.codes --save-hasher c.hasher --cells 8 --length 2 --min-count 1 --no-meta -q",
    "whiten": "whiten v.vec -o a.npy --save-moments b.moments --save-transform c.transform -q",
    "phrases": "phrases t.txt -o a.txt --save-phrases b.txt --threshold 1 --min-count 1 -q",
    "npy": "convert v.vec a.npy -q",
    "projector": "convert v.vec a.tsv -q",
}
# Files that are only of use together, in commands whose other outputs stand alone.
ALONE = {
    "train": [{"a.bin"}, {"b.npy", "b.words.txt"}, {"c.vec"}],
    "classes": [{"a.txt"}, {"c.vec"}],
    "classifier": [{"a.bin"}, {"b.bin"}],
    "glove": [{"a.npy", "a.words.txt"}, {"b.vec"}, {"c.bin"}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    generator = np.random.default_rng(1)
    words = [f"w{i}" for i in range(12)]
    lines = [" ".join(generator.choice(words, 9)) for _ in range(40)]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "labels.txt").write_text("".join(f"__label__{i % 2} {line}\n" for i, line in enumerate(lines)))
    save(
        tmp_path / "v.vec",
        Embeddings(WordList.from_words(words), generator.standard_normal((12, 6)).astype(np.float32)),
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Full:
    """A disk on which the `fails`-th flush of data, fsync or rename fails."""

    def __init__(self, patch: pytest.MonkeyPatch, fails: int) -> None:
        self.calls, self.fails = 0, fails
        self.renames = 0
        self.torn = False
        disk = self
        fsync, replace = os.fsync, Path.replace

        class File(temporary.File):
            def write(self, data):
                disk.call()
                return super().write(data)

        def renaming(path, target):
            disk.call(renames=True)
            disk.renames += 1
            return replace(path, target)

        patch.setattr(temporary, "File", File)
        patch.setattr(os, "fsync", lambda descriptor: (disk.call(), fsync(descriptor))[1])
        patch.setattr(Path, "replace", renaming)

    def call(self, renames: bool = False) -> None:
        self.calls += 1
        if self.calls == self.fails:
            self.torn = renames and self.renames > 0
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", COMMANDS)
def test_all_old_or_all_new(name, folder, capfd, monkeypatch):
    arguments = COMMANDS[name].split()
    inputs = {path.name for path in folder.iterdir()}
    assert run(arguments) == 0, capfd.readouterr().err
    made = {path.name for path in folder.iterdir()} - inputs
    assert len(made) >= 2

    def contents() -> dict[str, bytes]:
        kept = [path for path in folder.glob("*.checkpoint") if path.read_bytes()[-4:] == b"DONE"]
        files = [path for path in folder.iterdir() if path.name not in inputs and path not in kept]
        return {path.name: path.read_bytes() for path in files}

    new = contents()
    sets = ALONE.get(name, [made])
    assert set().union(*sets) == made
    old = {each: b"old " + each.encode() for each in made}
    failed, alone = 0, set()
    for number in range(1, 60):
        for each, text in old.items():
            (folder / each).write_bytes(text)
        for path in folder.glob("*.checkpoint"):
            path.unlink()
        with monkeypatch.context() as patch:
            disk = Full(patch, number)
            code = run(arguments)
        told, found = capfd.readouterr().err, contents()
        if code == 0 and disk.calls < number:
            break
        if code == 0:
            continue  # the fsync of a folder, which not every file system can do
        failed += 1
        if disk.torn:
            assert "already new: " in told and "still as before: " in told
        else:
            assert set(found) == made, f"call {number}: {told}"
            missing = [files for files in sets if all(found[each] == old[each] for each in files)]
            written = [files for files in sets if all(found[each] == new[each] for each in files)]
            assert len(missing) + len(written) == len(sets), f"call {number}: {told}"
            assert missing and told.count("\n") == 1
            if written:
                assert "written all the same: " in told and any(each in told for each in missing[0])
                alone.add(min(missing[0]))
            else:
                assert "nothing that was there has been changed" in told
    assert alone == {min(files) for files in ALONE.get(name, [])} - ({"c.bin"} if name == "glove" else set()), (
        "counts are written before the training"
    )
    assert code == 0 and failed >= 2 * len(made) and set(found) == made
    assert all(found[each] != old[each] for each in made)
