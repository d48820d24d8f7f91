"""Readers that are given another known kind of file name what they found."""

import gzip
import io
import pickle
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.encoders import open_encoder
from wv_cli.errors import BadFile
from wv_cli.evaluation.data import data_lines
from wv_cli.filtering.rule_files import read_rules
from wv_cli.hashing.bioword import load_hasher as load_bioword
from wv_cli.hashing.fit import load_hasher
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.kinds import HEAD_BYTES, kind_of, records_of
from wv_cli.lm.files import load as load_language_model
from wv_cli.text.connectors import read_connectors
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.saved_phrases import read_phrases
from wv_cli.text.source import Source
from wv_cli.text.stop_words import read_stop_words
from wv_cli.text.vocab import read_vocab
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform
from wv_cli.vectors import formats
from wv_cli.vectors.formats import checking, load
from wv_cli.vectors.formats.fasttext_bin import load_model
from wv_cli.vectors.recognize import input_texts

FILES = {
    "gensim.bin": "word2vec-binary vectors",
    "gensim.vec": "word2vec-text vectors",
    "glove.txt": "glove-text vectors",
    "hashed.floret": "floret's table of hashed n-grams",
    "gensim.npy": "a NumPy array",
    "sign.codes": "a codes file of wv",
    "encoders/static-model2vec/model.safetensors": "a safetensors file",
    "sign.codes.txt": "codes of words",
    "texts.d2v": "a text-model file of wv",
    "ft-words.bin": "a fastText model",
    "cook-ns.bin.xz": "a fastText model",
    "lm/micro.o3.arpa": "an ARPA file of n-grams",
    "own/itq.hasher": "a hasher file of wv",
    "own/zca.transform": "a transform file of wv",
    "own/vectors.moments": "a moments file of wv",
    "own/bioword.hasher": "a bioword file of wv",
    "run.checkpoint": "a checkpoint file of wv",
}
# Each reads files of one kind.
READERS = {
    "a fastText model": load_model,
    "a hasher file of wv": load_hasher,
    "a bioword file of wv": load_bioword,
    "a moments file of wv": Moments.load,
    "a transform file of wv": Transform.load,
}
TEXTS = {"gensim.vec", "glove.txt"}


def file_of(name, folder):
    if name == "run.checkpoint":
        container.save(folder / name, "checkpoint", {}, {"input": np.zeros((2, 3), np.float32)})
        return folder / name
    return GOLDEN / name


@pytest.mark.parametrize("reads", READERS)
@pytest.mark.parametrize("name", FILES)
def test_named_where_something_else_is_expected(name, reads, tmp_path):
    kind = FILES[name]
    if kind == reads:
        READERS[reads](str(file_of(name, tmp_path)))
        return
    with pytest.raises(BadFile) as caught:
        READERS[reads](str(file_of(name, tmp_path)))
    said = kind.removesuffix(" of wv"), "these are codes"
    assert any(each in str(caught.value) for each in said) and "expected dim" not in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_named_where_vectors_are_expected(name, tmp_path):
    if FILES[name] in {"a codes file of wv", *(row.holds for row in formats.FORMATS.values())}:
        found = formats.load(file_of(name, tmp_path))
        assert len(found) or found.composes_only
        return
    with pytest.raises(BadFile, match=f"expected word vectors .*, found {FILES[name]}$"):
        formats.load(file_of(name, tmp_path))


@pytest.mark.parametrize("name", [name for name in FILES if name not in TEXTS])
@pytest.mark.parametrize("read", [data_lines, read_vocab], ids=lambda read: read.__name__)
def test_named_where_lines_are_expected(name, read, tmp_path):
    """What is binary is certain; vectors in text might be lines of anything, and are refused for what they lack."""
    with pytest.raises(BadFile, match=f"byte 0: expected lines of .*, found {FILES[name]}$"):
        read(str(file_of(name, tmp_path)))


@pytest.mark.parametrize("command", [["predict", "{}", "-"], ["quantize", "{}", "-o", "x.ftz"], ["dump", "{}", "args"]])
def test_commands_for_models_name_vectors(command, wv):
    done = wv(*(part.format(GOLDEN / "gensim.bin") for part in command))
    assert done.returncode == 1
    found = "found word2vec-binary vectors; wv nn and wv vectors read these"
    assert done.stderr.endswith(f"byte 0: expected a fastText model, {found}\n")


def test_the_table_knows_every_format(tmp_path):
    heads = {row.holds: row for row in formats.FORMATS.values() if row.read}
    lacking = {*heads} - {"codes of words"} - {*FILES.values()}
    assert not lacking, f"FILES of tests/io/test_kinds.py lacks a file for: {', '.join(lacking)}"
    assert kind_of(b"\x80\x04pickle").startswith("a Python pickle") and kind_of(b"the of and\n") is None
    for name, kind in FILES.items():
        with open_input(file_of(name, tmp_path)) as source:
            assert kind_of(source.peek(HEAD_BYTES)) == kind


def test_first_bytes_exclude_no_file_of_their_format(tmp_path):
    for name in FILES:
        with open_input(file_of(name, tmp_path)) as source:
            head = source.peek(HEAD_BYTES)
        sniffed = [row.name for row in formats.FORMATS.values() if row.sniff(head)]
        assert sniffed == [row.name for row in formats.candidates(head) if row.sniff(head)]


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return file.getvalue()


def tarred():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("v.vec"))
    return file.getvalue()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\nsize 18234567\n"
FOREIGN = {
    "tar": (tarred(), "a tar archive; unpack it first"),
    "tar.gz": (gzip.compress(tarred()), "a tar archive; unpack it first"),
    "zip": (zipped("v.vec"), "a zip archive"),
    "npz": (zipped("a.npy"), "NumPy arrays (.npz)"),
    "pickle": (pickle.dumps([1]), "a Python pickle"),
    "Magnitude": (b"SQLite format 3\0" + b"\0" * 50 + b"tablemagnitude(", "a Magnitude file (SQLite)"),
    "SQLite": (b"SQLite format 3\0" + b"\0" * 50, "an SQLite database"),
    "UTF-16": ("2 2\ncat 1 0\ndog 0 1\n".encode("utf-16"), "UTF-16; convert it"),
    "UTF-16 without a mark": ("2 2\ncat 1 0\n".encode("utf-16-be"), "UTF-16BE; convert it: iconv -f UTF-16BE -t UTF-8"),
    "UTF-32": ("2 2\ncat 1 0\n".encode("utf-32"), "UTF-32; convert it: iconv -f UTF-32 -t UTF-8"),
    "UTF-32 without a mark": ("2 2\ncat 1 0\n".encode("utf-32-le"), "UTF-32LE; convert it: iconv -f UTF-32LE -t UTF-8"),
    "Git LFS": (LFS, "a pointer of Git LFS, not the file itself (18.2 MB); fetch it: git lfs pull"),
    "Git LFS, CRLF": (LFS.replace(b"\n", b"\r\n"), "a pointer of Git LFS, not the file itself (18.2 MB)"),
    "WARC": (b"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a web archive (WARC); end its name in .warc or .wet"),
    "Arrow file": (
        b"ARROW1\0\0\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0\0\0\n\0",
        "an Arrow IPC file (Feather); end its name",
    ),
    "Arrow stream": (b"\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0\0\0\n\0\x0c\0", "an Arrow IPC stream; end its name"),
    "old Arrow stream": (b"\xac\0\0\0\x10\0\0\0\0\0\n\0\x0c\0\x06\0", "an Arrow IPC stream; end its name"),
    "Feather": (b"FEA1\0\0\0\0\0\0\0\0\3\0\0\0", "a Feather file; write its rows"),
    "ORC": (b"ORC\x11\0\0\n\6\x12\4\x08dP\0", "an ORC file; write its rows"),
    "ORC without compression": (b"ORC\n\6\x12\4\x08dP\0", "an ORC file; write its rows"),
    "Avro": (b"Obj\1\4\x14avro.codec\x08null", "an Avro file; write its rows"),
    "Hadoop": (b"SEQ\6\x19org.apache.hadoop.io.Text", "a Hadoop sequence file; write its rows"),
    "DuckDB": (b"\xc7\xeb\x83\x8a\x18\x1eF\xeeDUCK\xe7\3\0\0", "a DuckDB database; write its rows"),
    "R": (b"RDX3\nX\n\0\0\0\3", "data of R; write its rows"),
    "GGUF": (b"GGUF\3\0\0\0" + bytes(9), "a GGUF file of llama.cpp"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\n", "a PDF file"),
    "Word": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(9), "a file of an older Microsoft Office"),
    "PNG": (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
    "JPEG": (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG picture"),
    "RAR": (b"Rar!\x1a\x07\1\0", "a RAR archive"),
    "CSV": (b"cat,1,0\ndog,0,1\n", "comma-separated values (CSV)"),
    "JSONL": (b'{"word": "cat", "vector": [1, 0]}\n', "JSON"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_named_with_what_to_do(name, tmp_path):
    content, what = FOREIGN[name]
    (tmp_path / "f").write_bytes(content)
    for read in (formats.load, checking.check, load_language_model):
        with pytest.raises(BadFile, match=re.escape(what)) as raised:
            read(tmp_path / "f")
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "advice", "command"),
    [
        (",0,1\ncat,1,0\ndog,0.6,0.8\n", "make word vectors of it: ", "tail -n +2 FILE | tr , ' '"),
        ("word,x,y\ncat,1,0\ndog,0.6,0.8\n", "make word vectors of it: ", "tail -n +2 FILE | tr , ' '"),
        ("word,1,2\ncat,1,0\ndog,0.6,0.8\n", "make word vectors of it: ", "tail -n +2 FILE | tr , ' '"),
        ("cat,1,0\ndog,0.6,0.8\n", "make word vectors of it: ", "cat FILE | tr , ' '"),
        (
            '"","V1","V2"\n"cat",1,0\n"dog",0.6,1\n',
            "make word vectors of it: ",
            "tail -n +2 FILE | tr -d '\"' | tr , ' '",
        ),
        ("id,text\n1,a\n2,b\n", "which are no vectors: expected a word and numbers", ""),
        ('{"cat": [1, 0]}\n', "; write its vectors as lines `word number ...`", ""),
    ],
)
def test_vectors_in_records_are_told_how_to_be_read(content, advice, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text(content)
    for read in (formats.load, checking.check):
        with pytest.raises(BadFile) as raised:
            read("FILE")
        assert str(raised.value).endswith(f"{advice}{command} > vectors.txt" if command else advice)
    if command:
        subprocess.run(f"{command} > vectors.txt", shell=True, check=True)
        assert formats.load("vectors.txt").index_to_key == ["cat", "dog"]


@pytest.mark.parametrize("name", [name for name in FOREIGN if "UTF-" not in name])
def test_a_foreign_file_is_no_text(name, tmp_path):
    content, what = FOREIGN[name]
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(BadFile, match=re.escape(what)):
        list(Source(input_texts([str(tmp_path / "f")], log=print)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (b'a,b\nx,"y, z"\n', "csv"), (b"label,text\nx,the cat sat\ny,a dog\n", "csv"),
        (b'[\n {"a": 1}]', "jsonl"), (b'  {"a": "b"}', "jsonl"),
        (b"one, two\nthree, four\n", None), (b"one , two\nthree , four\n", None),
        (b"a,b\n", None), (b"a,b\nc,d,e\n", None),
        ("大学学习,王后阅读国王。\n小猫在河边,喝水睡觉。\n".encode(), None), ("これ,それ\nあれ,どれ\n".encode(), None),
        ("1,大学\n2,小猫\n".encode(), "csv"), ("标题,正文,日期\n小猫,喝水,今天\n".encode(), "csv"),
        (b"a,b\nno comma\n", None), (b"w 0,5 0,1\nv 0,2 0,3\n", None), (b"{curly} text\n", None), (b"", None),
    ],
)  # fmt: skip
def test_records(text, kind):
    assert records_of(text) == kind


def test_a_web_page_is_named_where_numbers_are_expected(tmp_path, monkeypatch):
    """It is no text either, unless its marks are asked for."""
    (tmp_path / "f").write_bytes(b"<!DOCTYPE html>\n<html><body>not found</body></html>\n")
    with pytest.raises(BadFile, match=r"expected word vectors .*, found a web page"):
        formats.load(tmp_path / "f")
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(BadFile, match=r"expected text, found a web page .*, pip install 'wv-toolkit\[html\]'"):
        list(Source(input_texts([str(tmp_path / "f")], log=print)))
    assert list(Source(input_texts([str(tmp_path / "f")], log=print, reading=ReadingConfig(force_text=True))))


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("static-model2vec", "model.safetensors"),
        ("static-model2vec", "tokenizer.json"),
        ("tiny-bert", "config.json"),
        ("tiny-bert", "modules.json"),
        ("tiny-bert", "tokenizer.json"),
        ("tiny-bert", "model.safetensors"),
        ("tiny-bert", "onnx/model.onnx"),
    ],
)
def test_a_pointer_in_the_folder_of_an_encoder_is_named(folder, name, tmp_path):
    for package in ("tokenizers", "onnxruntime"):
        pytest.importorskip(package)
    place = Path(shutil.copytree(GOLDEN / "encoders" / folder, tmp_path / "f"))
    if folder == "tiny-bert":
        other = "model.safetensors" if name.endswith(".onnx") else "onnx/model.onnx"
        (place / other).unlink()
    (place / name).write_bytes(LFS)
    with pytest.raises(BadFile, match=r"expected .*, found a pointer of Git LFS"):
        open_encoder(place)


@pytest.mark.parametrize("read", [partial(read_rules, options={}), read_stop_words, read_connectors, read_phrases])
def test_a_pointer_is_no_list(read, tmp_path):
    (tmp_path / "f").write_bytes(LFS)
    with pytest.raises(BadFile, match=r"byte 0: expected .*, found a pointer of Git LFS"):
        read(str(tmp_path / "f"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
@pytest.mark.parametrize(
    "read", [partial(read_rules, options={}), read_stop_words, read_connectors, read_phrases, read_vocab, data_lines]
)
def test_another_encoding_of_a_list_is_named(read, encoding, tmp_path):
    """The line that is proposed gives the text."""
    text = 'words = "1.."\n'
    (tmp_path / "f").write_bytes(text.encode(encoding))
    with pytest.raises(BadFile, match=r"found UTF-[1236LBE]+; convert it: iconv -f") as raised:
        read(str(tmp_path / "f"))
    line = str(raised.value).partition("convert it: ")[2].replace("FILE", str(tmp_path / "f"))
    if shutil.which("iconv"):
        assert subprocess.run(line.split(), capture_output=True, check=True).stdout.decode() == text


def test_a_mark_before_rules_is_no_part_of_them(tmp_path):
    (tmp_path / "f").write_bytes(b'\xef\xbb\xbfwords = "1.."\r\n')
    assert read_rules(str(tmp_path / "f"), {})[0] == [("words", "1..")]


@pytest.mark.parametrize(
    ("kind", "reader"),
    [("pooled-classifier", "wv predict"), ("packed-ngrams", "wv lm"), ("state", "--continue"), ("decisions", "")],
)
def test_what_reads_a_file_that_is_no_vectors(kind, reader, tmp_path):
    container.save(tmp_path / "file", kind, {}, {"x": np.zeros(3)})
    with pytest.raises(BadFile, match=f"found a {kind} file of wv" + (f"; {reader} " if reader else "$")):
        load(tmp_path / "file")
