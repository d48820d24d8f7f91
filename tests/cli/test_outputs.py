"""Outputs anywhere: under any name with --to, through pipes and descriptors, compressed by their name; and what is
refused because two outputs, or an output and an input, are one file."""

import bz2
import gzip
import lzma
import os
import re
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from tests.guides.console import make_path
from tests.processes import PATIENCE
from tests.tiers import full
from wv_cli.text.vocab import read_vocab
from wv_cli.vectors.formats import FORMATS, load

FAST = ["--dim", "8", "--epochs", "1", "--threads", "1", "--no-meta", "-q"]
GLOVE = ["--dim", "8", "--iterations", "1", "--threads", "1", "--no-meta", "-q"]
PAIR = ["--minn", "3", "--maxn", "4", "--buckets", "500"]
WRITABLE = [row.name for row in FORMATS.values() if row.write]
MODEL = GOLDEN / "ft-words.bin"


@pytest.fixture
def text(slice_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 200)))
    return "text.txt"


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a line in bash, `wv` being the program under test -> what it prints."""
    path = make_path(tmp_path_factory.mktemp("program") / "bin")

    def run(line):
        env = {**os.environ, "PATH": path}
        done = subprocess.run(["bash", "-ec", line], env=env, capture_output=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def names():
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize(("command", "options"), [("train", FAST), ("glove", GLOVE)])
def test_any_name_with_to(command, options, text, wv):
    """As the name that asks for the format would have it."""
    for name, format in [("a.bin", "word2vec-binary"), ("a.glove", "glove-text"), ("a.npy", "npy")]:
        assert wv(command, text, "-o", name, *options).returncode == 0
        assert wv(command, text, "-o", "vectors", "--to", format, *options).returncode == 0
        assert Path("vectors").read_bytes() == Path(name).read_bytes()
    assert Path("vectors.words.txt").read_bytes() == Path("a.words.txt").read_bytes()
    done = wv(command, text, "-o", "other", *options)
    assert done.returncode == 2 and "choose one by --to or the ending" in done.stderr
    done = wv(command, text, "-o", "vectors", "--to", "npy", "-o", "vectors.words.txt", *options)
    assert done.returncode == 2 and "two outputs have this name" in done.stderr


def test_models_under_any_name(text, wv):
    assert wv("train", text, "-o", "a.bin", *PAIR, *FAST).returncode == 0
    assert wv("train", text, "-o", "model", "--to", "fasttext-bin", *PAIR, *FAST).returncode == 0
    assert Path("model").read_bytes() == Path("a.bin").read_bytes()
    both = ["-o", "a.bin", "--save-output-vectors", "context.vec"]
    assert wv("train", text, *both, "--to", "fasttext-bin", *FAST).returncode == 0
    assert load("a.bin").dim == load("context.vec").dim == 8
    assert wv("train", text, "-o", "a.bin", "--to", "word2vec-binary", *PAIR, *FAST).returncode == 0
    assert wv("check", "a.bin").stdout.startswith("a.bin: word2vec-binary")
    done = wv("train", text, "-o", "a", "--to", "fasttext-bin", "--loss", "hs_ns", *FAST)
    assert done.returncode == 2 and "fastText's models know no --loss hs_ns" in done.stderr


def test_saved_vocabularies(text, wv):
    assert wv("build-vocab", text, "-o", "counted", "-q").returncode == 0
    assert wv("train", text, "-o", "a.vec", "--save-vocab", "vocab", *FAST).returncode == 0
    assert Path("vocab").read_bytes() == Path("counted").read_bytes()
    done = wv("glove", text, "--counts-only", "--save-counts", "counts.gz", "--save-vocab", "of-counts.gz", "--no-meta")
    assert done.returncode == 0 and done.stderr.endswith("wrote of-counts.gz, counts.gz\n")
    assert b"</s>" not in gzip.decompress(Path("of-counts.gz").read_bytes())
    assert read_vocab("of-counts.gz").words == read_vocab("counted").words
    assert wv("glove", text, "-o", "of-text.vec", *GLOVE).returncode == 0
    assert wv("glove", "--counts", "counts.gz:of-counts.gz", "-o", "of-counts.vec", *GLOVE).returncode == 0
    assert Path("of-counts.vec").read_bytes() == Path("of-text.vec").read_bytes()
    cut = Path("counts.gz").read_bytes()[:-100]
    Path("counts.gz").write_bytes(cut)
    done = wv("glove", "--counts", "counts.gz:of-counts.gz", "-o", "x.vec", *GLOVE)
    assert done.returncode == 1 and "expected more gzip data" in done.stderr
    Path("counts.gz").write_bytes(gzip.compress(bytes([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x3F, 7])))
    done = wv("glove", "--counts", "counts.gz:of-counts.gz", "-o", "x.vec", *GLOVE)
    assert done.returncode == 1 and "expected records of 16 bytes, found 17 bytes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train TEXT -o x.vec --to nope", "unknown format 'nope'"),
        ("train TEXT -o x.vec --to codes", "codes is read but not written"),
        ("train TEXT -o x --to npy --classes 3", "--to has no effect with --classes"),
        ("train TEXT -o x.bin --to npy --model supervised", "--to has no effect with --model supervised"),
        ("train TEXT -o x.bin --save-vocab v --model supervised", "--save-vocab has no effect with --model supervised"),
        ("train TEXT -o x.vec --save-vocab x.vec", "two outputs have this name"),
        ("train TEXT -o x.vec --save-vocab TEXT", "is both read and written"),
        ("glove TEXT --counts-only --save-counts x --to npy", "--to has no effect with --counts-only"),
        ("glove TEXT -o x.vec --save-vocab x.vec", "two outputs have this name"),
    ],
)
def test_refusals(arguments, message, text, wv):
    done = wv(*arguments.replace("TEXT", text).split())
    assert done.returncode == 2 and message in done.stderr and names() == [text]


@pytest.mark.parametrize("format", ["word2vec-text", *full(*sorted({*WRITABLE} - {"word2vec-text"}))])
def test_every_format_through_pipes(format, text, wv, shell):
    """The bytes of a file, but npy's digest of the words, which are nowhere; what a file held before stays."""
    plain = Path("plain")
    assert wv("convert", MODEL, plain, "--to", format).returncode == 0
    head = 128 if format == "npy" else 0
    os.mkfifo("fifo")
    ways = [
        "wv convert {m} - --to {f} > out",
        "wv convert {m} /dev/stdout --to {f} > out",
        "wv convert {m} /dev/stdout --to {f} | cat > out",
        "wv convert {m} /proc/self/fd/1 --to {f} > out",
        "ln -sf /dev/stdout link; wv convert {m} link --to {f} > out",
        "wv convert {m} /dev/fd/7 --to {f} 7> out",
        "cat fifo > out & wv convert {m} fifo --to {f}; wait",
    ]
    for way in ways:
        shell(way.format(m=MODEL, f=format))
        assert Path("out").read_bytes()[head:] == plain.read_bytes()[head:], way
    shell(f"printf before > out; wv convert {MODEL} /dev/stdout --to {format} >> out; printf after >> out")
    found = Path("out").read_bytes()
    assert found.startswith(b"before") and found.endswith(after := b"after")
    assert found[6 + head : -len(after)] == plain.read_bytes()[head:]
    assert set(names()) <= {text, "plain", "plain.words.txt", "plain.metadata.tsv", "fifo", "link", "out"}


def test_models_through_pipes(text, shell):
    """With long runs of zeros, which are holes in a file."""
    train = "wv train text.txt --to fasttext-bin --dim 8 --epochs 1 --threads 1 --minn 3 --maxn 4 --buckets 200000 -q"
    shell(f"{train} --no-meta -o plain")
    for target in ("/dev/stdout > out", "- > out", "/dev/stdout | cat > out", "/dev/fd/5 5> out"):
        shell(f"{train} -o {target}")
        assert Path("out").read_bytes() == Path("plain").read_bytes(), target
    assert names() == ["out", "plain", text]


def test_process_substitution_and_nothing_beside_it(text, shell):
    shell("wv train text.txt -o >(gzip > out.gz) -o a.vec --dim 8 --epochs 1 --threads 1; sleep 0.1; wait")
    assert gzip.decompress(Path("out.gz").read_bytes()) == Path("a.vec").read_bytes()
    told = shell(
        "wv train text.txt -o /dev/stdout -o a.vec --json --dim 8 --epochs 1 --threads 1 --checkpoint-every 1h"
    )
    assert told == Path("a.vec").read_bytes()
    assert names() == ["a.vec", "a.vec.meta.json", "out.gz", text]


def test_descriptors_that_are_not_open(text, wv):
    done = wv("train", text, "-o", "/dev/fd/77", *FAST)
    assert done.returncode == 1 and "no such descriptor is open; name a file, or - for standard output" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "train TEXT -o", "train TEXT --model supervised -o", "train TEXT -o x.vec --save-vocab",
        "train TEXT -o x.vec --learn-phrases 1 --save-phrases", "glove TEXT -o",
        "bioword TEXT -o", "build-vocab TEXT -o", "phrases TEXT -o", "phrases TEXT --save-phrases", "convert MODEL",
        "whiten MODEL -o", "hash MODEL -m lsh -o", "quantize MODEL -o", "plot MODEL the of in -o",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["folder", "folder/", "new/"])
def test_folders(command, name, text, wv):
    Path("folder").mkdir()
    done = wv(*command.replace("TEXT", text).replace("MODEL", str(MODEL)).split(), name)
    assert done.returncode == 1 and f"{name}: cannot write: is a folder; name a file in it\n" in done.stderr
    assert names() == ["folder", text]


UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
WRITERS = [
    f"train TEXT -o OUT.vec --save-output-vectors TOO.vec {' '.join(FAST)}",
    f"train TEXT -o OUT.bin {' '.join([*PAIR, *FAST])}",
    f"train TEXT -o OUT.bin --learn-phrases 1 --save-phrases TOO {' '.join(FAST)}",
    f"train TEXT -o OUT --classes 5 {' '.join(FAST)}",
    f"train LABELS -o OUT.bin --model supervised --min-count 1 {' '.join(FAST)}",
    f"glove TEXT -o OUT.glove --save-counts TOO {' '.join(GLOVE)}",
    "bioword TEXT -o OUT.codes --save-hasher TOO --cells 50 --length 4 --epochs 1 --threads 1 --no-meta -q",
    "build-vocab TEXT -o OUT -q",
    "phrases TEXT -o OUT --save-phrases TOO -q",
    "convert MODEL OUT.txt -q",
    "convert MODEL OUT --to fasttext-bin -q",
    "whiten MODEL -o OUT.bin --save-transform TOO -q",
    "whiten MODEL --save-moments OUT -q",
    "hash MODEL -m lsh -o OUT.tsv --save-hasher TOO --no-meta -q",
    "quantize MODEL -o OUT.ftz --dsub 2 --no-meta -q",
    "plot MODEL the of in and -o OUT.html --title x -q",
    "vectors MODEL --sentences --pooling mean -o OUT.vec the of",
]


@pytest.mark.parametrize("command", WRITERS, ids=lambda command: command.partition(" -q")[0][:40])
@pytest.mark.parametrize("ending", [".gz", *full(".bz2", ".xz")])
def test_every_writer_compresses(command, ending, text, wv):
    """The same bytes as without the ending."""
    Path("labels.txt").write_text("__label__a one two three\n__label__b four five six\n" * 20)
    command = command.replace("TEXT", text).replace("LABELS", "labels.txt").replace("MODEL", str(MODEL))
    done = wv(*re.sub(r"(OUT|TOO)", r"plain-\1", command).split())
    assert done.returncode == 0, done.stderr
    made = [name for name in names() if name.startswith("plain-")]
    assert made
    packed = re.sub(r"(OUT|TOO)(\.\w+)?", rf"packed-\1\2{ending}", command).split()
    done = wv(*packed)
    assert done.returncode == 0, done.stderr
    for name in made:
        data = Path(name.replace("plain-", "packed-") + ending).read_bytes()
        assert UNPACK[ending](data) == Path(name).read_bytes(), name


def test_compressed_files_of_our_own_are_read(text, wv):
    """Containers have a check sum at their end, a classifier is mapped where it can be."""
    Path("labels.txt").write_text("__label__a one two three\n__label__b four five six\n" * 20)
    for line in [
        f"hash {MODEL} -m lsh -o v.codes.xz --save-hasher lsh.gz --no-meta",
        f"hash {MODEL} --hasher lsh.gz -o again.codes --no-meta",
        "nn v.codes.xz the",
        f"whiten {MODEL} --save-moments m.gz --save-transform t.bz2",
        f"whiten {MODEL} --transform t.bz2 -o white.npy.gz",
        "check white.npy.gz",
        "whiten --merge m.gz m.gz --save-transform t.gz",
        f"train labels.txt --model supervised -o c.bin.gz --min-count 1 {' '.join(FAST)}",
        "predict c.bin.gz labels.txt",
        "quantize c.bin.gz -o c.ftz.gz --dsub 2 --no-meta",
        "predict c.ftz.gz labels.txt",
        f"bioword {text} --save-hasher b.gz --cells 50 --length 4 --epochs 1 -q --no-meta",
        f"bioword {text} --hasher b.gz -o b.codes.gz --no-meta",
    ]:
        done = wv(*line.split())
        assert done.returncode == 0, (line, done.stderr)


def test_a_compressed_checkpoint_goes_on(text, wv):
    run = f"train {text} -o a.vec.gz --checkpoint c.gz --dim 8 --epochs 100000 --threads 1 --no-meta".split()
    for told in ("", "c.gz: going on at"):
        done = wv(*run, "--max-time", "0.2", *(["--resume"] if told else []))
        assert done.returncode == 124 and told in done.stderr
        assert Path("c.gz").read_bytes().startswith(b"\x1f\x8b")


def test_a_log_is_not_compressed(text, wv):
    search = ["--autotune-validation", text, "--autotune-log", "log.gz"]
    done = wv("train", text, "-o", "x.bin", "--model", "supervised", *search)
    assert done.returncode == 2 and "log.gz: a log grows line by line and is not compressed" in done.stderr


def test_one_file_for_two(text, wv):
    Path("v.vec").write_bytes((GOLDEN / "gensim.vec").read_bytes())
    for name in ("phrases", "a.words.txt", "hard.txt"):
        Path(name).hardlink_to(text) if name == "hard.txt" else Path(name).symlink_to("v.vec")
    for line, message in [
        (f"phrases {text} -o v.vec --save-phrases phrases", "phrases: is the same file as v.vec; give each its own"),
        (f"phrases {text} -o - --save-phrases /dev/stdout", "/dev/stdout: is the same file as -; give each its own"),
        (f"phrases {text} -o hard.txt", "hard.txt is also an input"),
        (f"phrases {text} --save-phrases hard.txt", "hard.txt is also an input"),
        (f"build-vocab {text} -o hard.txt", "hard.txt is also an input"),
        (f"train {text} -o hard.txt", "hard.txt: is both read and written"),
        ("convert v.vec a.npy", "a.words.txt: is both read and written"),
        ("whiten v.vec -o a.npy --save-moments a.words.txt", "two outputs have this name"),
    ]:
        done = wv(*line.split())
        assert done.returncode == 2 and message in done.stderr, (line, done.stderr)
    assert Path("v.vec").read_bytes() == (GOLDEN / "gensim.vec").read_bytes()
