"""Parts of texts, which several processes read."""

import bz2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wv_cli.errors import WvError
from wv_cli.text import cuts
from wv_cli.text.parts import Part, shards
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts


def read(paths: list[str], part: Part) -> bytes:
    return b"".join(Source(input_texts(paths, log=lambda message: None, part=part)))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_parts_of_real_texts_are_the_texts(slice_text: Path, tmp_path: Path, count: int) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"\xef\xbb\xbf" + slice_text.read_bytes()[:300_000])
    packed = tmp_path / "packed.txt.bz2"
    packed.write_bytes(bz2.compress(slice_text.read_bytes()[:100_000]))
    paths = [str(slice_text), str(packed), str(other)]
    each = [read(paths, Part(index, count)) for index in range(count)]
    assert sorted(b"".join(each).split(b"\n")) == sorted(b"".join(Source(paths)).split(b"\n"))
    if count <= 3:
        sizes = [len(part) for part in each]
        assert max(sizes) < 2 * min(sizes)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 6))
def test_every_line_is_in_one_part(tmp_path_factory: pytest.TempPathFactory, lengths: list[int], count: int) -> None:
    path = tmp_path_factory.mktemp("parts") / "text"
    path.write_bytes(b"".join(b"%d%s\n" % (number, b" x" * length) for number, length in enumerate(lengths)))
    found = []
    for index in range(count):
        try:
            found.append(b"".join(Source(input_texts([str(path)], log=lambda message: None, part=Part(index, count)))))
        except WvError as error:
            assert "no text for part" in str(error)
    assert b"".join(found) == path.read_bytes()


def test_a_text_without_lines_is_divided_between_words(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "_LONG_LINE", 1000)
    path = tmp_path / "one-line.txt"
    path.write_bytes(slice_text.read_bytes().replace(b"\n", b" "))
    found = [read([str(path)], Part(index, 4)) for index in range(4)]
    assert [word for part in found for word in part.split()] == path.read_bytes().split()
    assert max(map(len, found)) - min(map(len, found)) < 100_000
    with pytest.raises(WvError, match="a line is in one part"):
        read([str(path)], Part(3, 4, whole_lines=True))


def test_streams_cannot_be_divided() -> None:
    with pytest.raises(WvError, match="standard input: several processes cannot share a stream"):
        read(["-"], Part(0, 2))


def test_one_packed_file_is_no_work_for_two(tmp_path: Path) -> None:
    path = tmp_path / "text.bz2"
    path.write_bytes(bz2.compress(b"some words\n" * 1000))
    with pytest.raises(WvError, match="part 1 of 2: a compressed file is read as a whole"):
        read([str(path)], Part(0, 2))


@pytest.mark.parametrize("most", [50_000, 400_000, 10**9])
def test_the_shards_of_real_texts_are_the_texts_in_order(slice_text: Path, tmp_path: Path, most: int) -> None:
    packed = tmp_path / "packed.txt.bz2"
    packed.write_bytes(bz2.compress(slice_text.read_bytes()[:300_000]))
    (tmp_path / "empty").touch()
    paths = [str(tmp_path / "empty"), str(slice_text), str(packed), str(tmp_path / "empty")]
    found = shards(paths, most)
    read = [b"".join(Source(input_texts(each.paths, log=lambda message: None, part=each))) for each in found]
    assert b"".join(read) == b"".join(Source(paths))
    assert all(each.bytes <= most + 10_000 for each in found if str(packed) not in each.paths)
    assert sum(each.bytes for each in found) == sum(Path(path).stat().st_size for path in paths)


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=6), st.integers(1, 200))
def test_every_line_is_in_one_shard(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[int]], most: int
) -> None:
    folder, paths = tmp_path_factory.mktemp("shards"), []
    for number, lengths in enumerate(files):
        paths.append(str(folder / str(number)))
        Path(paths[-1]).write_bytes(b"".join(b"%d%s\n" % (length, b" x" * length) for length in lengths))
    pieces = [piece for shard in shards(paths, most, whole_lines=True) for piece in shard.pieces]
    read = [Path(path).read_bytes()[begin:end] for path, begin, end in pieces]
    assert b"".join(read) == b"".join(Path(path).read_bytes() for path in paths)
    assert all(piece.endswith(b"\n") for piece in read)


def test_a_shard_of_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"some words\n")
    (shard,) = shards([str(path)], 99)
    path.write_bytes(b"some other words\n")
    with pytest.raises(WvError, match="text: 17 bytes here, 11 where the work was divided; all must see the same"):
        b"".join(Source(input_texts(shard.paths, log=lambda message: None, part=shard)))


def test_the_paths_of_shards_do_not_depend_on_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_bytes(b"some words\n")
    monkeypatch.chdir(tmp_path)
    assert shards(["text"], 99) == shards([str(tmp_path / "text")], 99)
