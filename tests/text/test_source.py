"""Sources: every kind of input gives the same bytes; every bad one gives an error that says where and what to do."""

import bz2
import gzip
import lzma
import os
import stat
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import zstd
from tests.processes import PATIENCE, Process
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.compression import CHUNK
from wv_cli.text.input_files import refuse_overwriting, shared_file
from wv_cli.text.lowercase import lowercase_chunks
from wv_cli.text.source import Source

COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd.pack,
}
codecs = pytest.mark.parametrize("codec", COMPRESS)


def read(*inputs, **options):
    return b"".join(Source([str(path) for path in inputs], **options))


@pytest.fixture(scope="module")
def text(slice_text):
    return slice_text.read_bytes()


# ---------------------------------------------------------------- what is read


def test_plain(slice_text, text):
    assert read(slice_text) == text


def test_the_end_of_a_file_ends_the_line(tmp_path):
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "c").write_bytes(b"two\n")
    (tmp_path / "d").write_bytes(b"three")
    assert read(*(tmp_path / name for name in "abcd")) == b"one\ntwo\nthree\n"


@codecs
def test_compressed_by_first_bytes_not_by_name(codec, tmp_path, text):
    (tmp_path / "corpus.txt").write_bytes(COMPRESS[codec](text))
    assert read(tmp_path / "corpus.txt") == text


@codecs
def test_concatenated_members_and_padding(codec, tmp_path, text):
    compress = COMPRESS[codec]
    (tmp_path / "members").write_bytes(compress(text[:1000]) + compress(b"") + compress(text[1000:]) + bytes(512))
    assert read(tmp_path / "members") == text


@codecs
def test_empty_compressed_file(codec, tmp_path):
    (tmp_path / "empty").write_bytes(COMPRESS[codec](b""))
    assert read(tmp_path / "empty") == b""


@codecs
def test_much_text_in_few_bytes(codec, tmp_path):
    (tmp_path / "zeros").write_bytes(COMPRESS[codec](b"a " * 4_000_000))
    sizes = [len(chunk) for chunk in Source([str(tmp_path / "zeros")])]
    assert sum(sizes) == 8_000_001
    assert max(sizes) < 4 * CHUNK


def test_zstd_skippable_frame_first(tmp_path):
    skippable = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    (tmp_path / "x.zst").write_bytes(skippable + COMPRESS["zstd"](b"text\n"))
    assert read(tmp_path / "x.zst") == b"text\n"


def test_text_that_begins_like_bzip2(tmp_path):
    (tmp_path / "x").write_bytes(b"BZh9 is how bzip2 files begin\n")
    assert read(tmp_path / "x") == b"BZh9 is how bzip2 files begin\n"


def test_the_last_file_may_keep_its_bare_end(tmp_path):
    for name, text in (("a", "one"), ("b", "two")):
        (tmp_path / name).write_text(text)
    assert b"".join(Source([str(tmp_path / "a"), str(tmp_path / "b")], bare_end=True)) == b"one\ntwo"


@pytest.mark.parametrize("codec", [None, *COMPRESS])
def test_byte_order_mark_is_dropped_at_the_start_only(codec, tmp_path):
    marked = b"\xef\xbb\xbfone\xef\xbb\xbf\n"
    (tmp_path / "a").write_bytes(COMPRESS[codec](marked) if codec else marked)
    assert read(tmp_path / "a", tmp_path / "a") == b"one\xef\xbb\xbf\n" * 2


def test_folder(tmp_path):
    for name in ["b", "a/z", "a/y", ".hidden", ".git/x", "a/.x", "c.gz"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(name.encode()) if name.endswith("gz") else name.encode())
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    assert read(tmp_path) == b"a/y\na/z\nb\nc.gz\nb\n"


def test_standard_input(slice_text, text):
    script = "import sys; from wv_cli.text.source import Source; s = Source(['-']); sys.stdout.buffer.writelines(s)"
    with slice_text.open("rb") as stdin:
        assert (
            subprocess.run([sys.executable, "-c", script], stdin=stdin, capture_output=True, check=True).stdout == text
        )
    packed = subprocess.run([sys.executable, "-c", script], input=gzip.compress(text), capture_output=True, check=True)
    assert packed.stdout == text


def test_a_pipe_that_dribbles(tmp_path):
    """The first read of a pipe may be one byte: magic numbers and byte order marks must still be seen."""
    packed = gzip.compress(b"\xef\xbb\xbfslow text")
    os.mkfifo(tmp_path / "pipe")

    def dribble():
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            for byte in packed:
                pipe.write(bytes([byte]))

    writer = threading.Thread(target=dribble, daemon=True)
    writer.start()
    assert read(tmp_path / "pipe") == b"slow text\n"
    writer.join()


def test_a_pipe_that_does_not_block():
    """Reading an empty one gives nothing yet, which is not the end."""
    writer = "import time; time.sleep(0.3); print('late')"
    reader = (
        "import os, sys; os.set_blocking(0, False)\n"
        "from wv_cli.text.source import Source\n"
        "sys.stdout.buffer.writelines(Source(['-']))\n"
    )
    with Process([sys.executable, "-c", writer], stdout=subprocess.PIPE) as process:
        done = subprocess.run([sys.executable, "-c", reader], stdin=process.stdout, capture_output=True, check=True)
    assert done.stdout == b"late\n"


def test_progress_counts_compressed_bytes(tmp_path, text):
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    (tmp_path / "b").write_bytes(text)
    total = sum((tmp_path / name).stat().st_size for name in ["a.gz", "b"])
    calls = []
    read(tmp_path / "a.gz", tmp_path / "b", progress=lambda *state: calls.append(state))
    consumed = [call[0] for call in calls]
    assert consumed == sorted(consumed)
    assert calls[-1] == (total, total)
    assert {call[1] for call in calls} == {total}


def test_a_reader_that_stops_early_stops_the_decompressor(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"word " * 4_000_000))
    chunks = iter(Source([str(tmp_path / "x.gz")]))
    next(chunks)
    chunks.close()
    for thread in threading.enumerate():
        if thread.name == "decompress":
            thread.join(PATIENCE)
            assert not thread.is_alive()


# ---------------------------------------------------------------- lowercase


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        ("PLAIN ascii\n", "plain ascii\n"),
        ("ΟΔΥΣΣΕΥΣ ΣΑΣ\n", "οδυσσευς σας\n"),  # a final sigma is another letter
        ("İstanbul STRASSE ẞ ÅNGSTRÖM\n", "i̇stanbul strasse ß ångström\n"),
    ],
)
def test_lowercase_by_unicode_rules_at_every_cut(text, lower):
    data = text.encode()
    for cut in range(len(data) + 1):
        assert b"".join(lowercase_chunks([data[:cut], data[cut:]])).decode() == lower
    assert b"".join(lowercase_chunks(data[i : i + 1] for i in range(len(data)))).decode() == lower


@given(st.binary(), st.lists(st.integers(0, 100), max_size=4))
def test_lowercase_keeps_what_is_not_utf8(data, cuts):
    places = sorted(min(cut, len(data)) for cut in cuts)
    chunks = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    lower = b"".join(lowercase_chunks(chunks))
    assert lower == data.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def test_lowercase_of_a_long_word_is_not_quadratic():
    chunks = [b"A" * (1 << 16)] * 800
    assert b"".join(lowercase_chunks(chunks)) == b"a" * (800 << 16)


def test_lowercase_option(tmp_path):
    (tmp_path / "x").write_bytes("Größe ΣΑΣ".encode())
    assert read(tmp_path / "x", lowercase=True).decode() == "größe σας\n"


# ---------------------------------------------------------------- errors


def error(kind, *inputs):
    with pytest.raises(kind) as caught:
        read(*inputs)
    return str(caught.value)


def test_names_that_lead_nowhere(tmp_path):
    assert error(UsageError) == "no input; name files or folders, or - for standard input"
    assert "given twice" in error(UsageError, "-", "-")
    missing = error(WvError, tmp_path / "missing")
    assert missing.startswith(f"{tmp_path}/missing: cannot read: no such file or directory; check the spelling")
    assert "cannot read" in error(WvError, "a\0b")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".dot").write_bytes(b"x")
    assert error(WvError, tmp_path / "empty").startswith(f"{tmp_path}/empty: no files in this folder")


def test_a_wrong_name_fails_before_anything_is_read(tmp_path):
    (tmp_path / "good").write_bytes(b"x")
    with pytest.raises(WvError):
        Source([str(tmp_path / "good"), str(tmp_path / "missing")])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    assert "permission denied; check the permissions" in error(WvError, tmp_path / "secret")


def test_no_permission_as_root_sees_it(tmp_path, monkeypatch):
    (tmp_path / "secret").write_bytes(b"x")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "permission denied; check the permissions" in error(WvError, tmp_path / "secret")


@codecs
def test_truncated(codec, tmp_path, text):
    packed = COMPRESS[codec](text)
    for size in [20, len(packed) // 2, len(packed) - 1]:
        (tmp_path / "cut").write_bytes(packed[:size])
        message = error(BadFile, tmp_path / "cut")
        assert message == (
            f"{tmp_path}/cut: byte {size}: expected more {codec} data, found the end of the file: "
            "it is incomplete; get the file again"
        )


@codecs
def test_damaged(codec, tmp_path, text):
    checked = partial(zstd.pack, checksum=True) if codec == "zstd" else COMPRESS[codec]
    packed = bytearray(checked(text))
    packed[len(packed) // 2] ^= 0x55
    (tmp_path / "bad").write_bytes(packed)
    message = error(BadFile, tmp_path / "bad")
    assert message.startswith(f"{tmp_path}/bad: byte ")
    assert f"damaged {codec} data" in message
    assert "get the file again" in message


@codecs
def test_garbage_behind_the_data(codec, tmp_path):
    (tmp_path / "bad").write_bytes(COMPRESS[codec](b"text") + b"no such member here")
    assert f"damaged {codec} data" in error(BadFile, tmp_path / "bad")


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"PK\x03\x04", "a zip archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x04\x22\x4d\x18", "lz4-compressed"),
        (b"\x1f\x9d", "compressed with `compress`"),
    ],
)
def test_what_is_no_text(head, what, tmp_path):
    (tmp_path / "x").write_bytes(head + bytes(100))
    assert f"is {what}" in error(BadFile, tmp_path / "x")


def test_utf16(tmp_path):
    (tmp_path / "x").write_bytes("text".encode("utf-16"))
    assert "expected UTF-8 text, found UTF-16; convert it: iconv" in error(BadFile, tmp_path / "x")


def test_zstd_without_its_package(tmp_path, monkeypatch):
    (tmp_path / "x.zst").write_bytes(COMPRESS["zstd"](b"text"))
    monkeypatch.setitem(sys.modules, zstd.NAME, None)
    message = error(WvError, tmp_path / "x.zst")
    assert "compressed with zstd" in message
    assert message.endswith(zstd.REMEDY)


def test_a_read_that_fails(tmp_path):
    """/proc/self/mem can be opened, but its first page cannot be read."""
    assert "/proc/self/mem: cannot read: input/output error" in error(WvError, "/proc/self/mem")


def test_a_file_that_two_lists_name(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    for name in ("folder/a", "b"):
        (tmp_path / name).write_bytes(b"x")
    path, other, folder = (str(tmp_path / name) for name in ("folder/a", "b", "folder"))
    (tmp_path / "same").hardlink_to(path)
    assert shared_file([path], [other]) is shared_file([folder], [other]) is None
    assert shared_file([other, folder], [str(tmp_path / "same")]) == str(tmp_path / "same")
    assert shared_file([str(tmp_path / "same")], [other, folder]) == path
    read, write = os.pipe()
    assert shared_file(["-"], [path, f"/dev/fd/{read}"]) is None and shared_file(["-"], ["-"]) == "standard input"
    monkeypatch.setattr(os, "fstat", lambda _: Path(path).stat())
    assert shared_file(["-"], [path]) == path
    os.close(read)
    os.close(write)
    with pytest.raises(WvError, match="cannot read"):
        shared_file([path], [str(tmp_path / "absent")])


def test_output_must_not_be_an_input(tmp_path):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "a"
    path.write_bytes(b"x")
    (tmp_path / "same").hardlink_to(path)
    for inputs in [[path], [tmp_path / "folder"], [tmp_path / "same"]]:
        with pytest.raises(UsageError, match="is also an input"):
            refuse_overwriting([str(name) for name in inputs], str(path))
    refuse_overwriting([str(path)], str(tmp_path / "other"))
    refuse_overwriting([str(path)], "/dev/null")
    script = f"from wv_cli.text.input_files import refuse_overwriting; refuse_overwriting([{str(path)!r}], '-')"
    with path.open("ab") as stdout:
        done = subprocess.run([sys.executable, "-c", script], stdout=stdout, stderr=subprocess.PIPE, check=False)
    assert b"standard output is also an input" in done.stderr
    assert stat.S_ISREG(path.stat().st_mode)
    assert path.read_bytes() == b"x"
