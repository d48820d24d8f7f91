"""`wv whiten` as a user's shell runs it: fit, save, apply, shards, formats, refusals."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from tests.conftest import ROOT
from wv_cli.errors import BadFile, WvError
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import FormatWarning, load, save
from wv_cli.vectors.formats.streams import RowSource, save_blocks
from wv_cli.words import WordList

ROWS, DIM = 700, 12


@pytest.fixture
def matrix():
    random = np.random.default_rng(7)
    return (random.standard_normal((ROWS, DIM)) @ random.standard_normal((DIM, DIM)) + 2).astype(np.float32)


@pytest.fixture
def files(tmp_path, matrix):
    words = WordList.from_words(f"w{i}" for i in range(ROWS))
    save(tmp_path / "v.bin", Embeddings(words, matrix))
    save(tmp_path / "v.vec", Embeddings(words, matrix), precision="exact")
    np.save(tmp_path / "v.npy", matrix)
    return tmp_path


def is_white(matrix, tolerance=1e-6):
    return np.abs(np.cov(matrix.T.astype(np.float64), bias=True) - np.eye(matrix.shape[1])).max() < tolerance


@pytest.mark.parametrize("source", ["v.bin", "v.vec", "v.npy"])
@pytest.mark.parametrize("target", ["o.bin", "o.npy", "o.vec", "o.glove", "o.tsv"])
def test_formats(wv, files, source, target):
    done = wv("whiten", source, "-o", target, "--precision", "exact")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == (f"fitted on 700 rows of 12 numbers; whiten: 12 -> 12 dimensions; {target}: 700 rows\n")
    if target == "o.tsv":
        result = np.loadtxt(files / target, delimiter="\t", dtype=np.float32)
        words = (files / "o.metadata.tsv").read_text().split()
    else:
        read = load(files / target, format="glove-text" if target == "o.glove" else None)
        result, words = read.matrix, list(read.words)
    assert is_white(result)
    assert words == [f"{'' if source == 'v.npy' else 'w'}{i}" for i in range(ROWS)]
    assert (files / "o.words.txt").exists() == (target == "o.npy" and source != "v.npy")


def test_words_beside_an_array_go_along(wv, files):
    (files / "v.words.txt").write_text("".join(f"x{i}\n" for i in range(ROWS)))
    assert wv("whiten", "v.npy", "-o", "o.npy", "-q").stderr == ""
    assert list(load(files / "o.npy").words)[:2] == ["x0", "x1"]
    assert (files / "o.words.txt").read_text() == (files / "v.words.txt").read_text()


def test_a_saved_transform_is_what_was_applied(wv, files):
    facts = json.loads(wv("whiten", "v.bin", "-o", "a.bin", "--save-transform", "t", "--dim", 5, "--json").stdout)
    assert (facts["method"], facts["rows"], facts["dim"], facts["new_dim"], facts["rank"]) == ("whiten", 700, 12, 5, 12)
    done = wv("whiten", "v.bin", "-o", "b.bin", "--transform", "t")
    assert done.returncode == 0 and done.stderr == "whiten: 12 -> 5 dimensions; b.bin: 700 rows\n"
    assert (files / "a.bin").read_bytes() == (files / "b.bin").read_bytes()
    assert Transform.load(files / "t").facts["source"] == "v.bin"


def test_shards_joined_are_the_whole(wv, files, matrix):
    np.save(files / "1.npy", matrix[:9])  # fewer rows than dimensions: no covariance of its own, but moments
    np.save(files / "2.npy", matrix[9:])
    for part in "12":
        assert wv("whiten", f"{part}.npy", "--save-moments", f"{part}.m", "-q").returncode == 0
    done = wv("whiten", "--merge", "1.m", "2.m", "--save-transform", "t", "--save-moments", "all.m", "--method", "zca")
    assert done.returncode == 0 and "fitted on 700 rows" in done.stderr, done.stderr
    assert wv("whiten", "v.npy", "--save-transform", "u", "--method", "zca").returncode == 0
    joined, whole = Transform.load(files / "t"), Transform.load(files / "u")
    assert np.abs(joined.matrix - whole.matrix).max() < 1e-9 and np.abs(joined.mean - whole.mean).max() < 1e-9
    assert Moments.load(files / "all.m").rows == ROWS
    done = wv("whiten", "v.bin", "--moments", "1.m", "--moments", "2.m", "--method", "zca", "-o", "o.bin")
    assert done.returncode == 0 and is_white(load(files / "o.bin").matrix)


def test_fit_on_the_top_on_another_file_and_by_counts(wv, files, matrix):
    np.save(files / "100.npy", matrix[:100])
    (files / "counts").write_text("</s> 9\n" + "".join(f"w{i} {1 + i % 3}\n" for i in range(300)) + "other 77\n")
    runs = {
        "top": ["v.bin", "--top", 100],
        "fit": ["v.bin", "--fit", "100.npy"],
        "counts": ["v.bin", "--counts", "counts"],
    }
    transforms = {}
    for name, arguments in runs.items():
        done = wv("whiten", *arguments, "-o", f"{name}.bin", "--save-transform", f"{name}.transform")
        assert done.returncode == 0, done.stderr
        transforms[name] = Transform.load(files / f"{name}.transform")
        assert f"{name}.bin: 700 rows" in done.stderr
        assert ("400 words have no count" in done.stderr) == (name == "counts")
    assert np.array_equal(transforms["top"].matrix, transforms["fit"].matrix)
    assert is_white(load(files / "top.bin").matrix[:100])
    repeated = np.repeat(matrix[:300], [1 + i % 3 for i in range(300)], axis=0)
    mean = repeated.astype(np.float64).mean(axis=0)
    assert np.abs(transforms["counts"].mean - mean).max() < 1e-12
    assert (transforms["counts"].facts["rows"], transforms["counts"].facts["weight"]) == (300, 600.0)


def test_pipes(files, matrix):
    """Binary in on standard input, binary out on standard output; the figures on standard error."""
    call = [sys.executable, "-m", "wv_cli", "whiten", "-", "-o", "-", "--to", "word2vec-binary", "--json"]
    done = subprocess.run(call, input=(files / "v.bin").read_bytes(), capture_output=True, check=True)
    (files / "o.bin").write_bytes(done.stdout)
    assert is_white(load(files / "o.bin").matrix)
    assert json.loads(done.stderr)["written"] == ROWS


def test_onto_itself(wv, files):
    assert wv("whiten", "v.bin", "-o", "v.bin", "-q").returncode == 0
    assert is_white(load(files / "v.bin").matrix)


def test_few_rows_for_the_dimensions_are_told(wv, files):
    cases = {"--top 59": True, "--top 60": False, "--top 59 --method soft": False, "--dim 2": False}
    for options, told in cases.items():
        summary = wv("whiten", "v.bin", "-o", "out.vec", *options.split()).stderr
        assert ("59 rows are few, and similarities may suffer; give 60, a smaller --dim or" in summary) == told, summary


def test_zero_vectors_are_counted(wv, files, matrix):
    """A row that is the mean has no direction any more."""
    whole = np.round(matrix * 8)  # sums without rounding
    np.save(files / "s.npy", np.concatenate([whole, -whole, np.zeros((3, DIM), np.float32)]))
    done = wv("whiten", "s.npy", "-o", "o.npy", "--method", "abtt")
    assert done.stderr.endswith("o.npy: 1,403 rows; 3 of them are zero\n")


def test_only_a_block_is_held_in_memory(files):
    """A file of 200 MB under a limit of address space that does not hold it."""
    rows, dim = 500_000, 100
    np.lib.format.open_memmap(files / "big.npy", "w+", np.float32, (rows, dim)).flush()
    with (files / "big.npy").open("r+b") as stream:  # a file with holes: rows of zeros but for the first ones
        stream.seek(128)
        stream.write(np.random.default_rng(1).standard_normal((1000, dim)).astype("<f4").tobytes())
    code = (
        "import resource, sys; from wv_cli.commands.whiten import *; import numpy\n"
        "held = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (held + 150_000_000,) * 2)\n"
        "from wv_cli.commands.job import build\n"
        "job = build(WhitenJob, {'inputs': ('big.npy',), 'output': '/dev/null', 'to_format': 'npy'})\n"
        "print(job.run(print)[1]['written'])"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=files, capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{rows}\n"), done.stderr


def test_blocks_are_what_load_reads(files, matrix):
    for name in ("v.bin", "v.vec", "v.npy"):
        for limit in (None, 5, ROWS, ROWS + 9):
            source = RowSource(files / name, limit=limit)
            for _ in range(2):
                blocks = [(list(block.words), block.matrix.copy()) for block in source.blocks()]
                whole = load(files / name, limit=limit)
                assert [word for words, _ in blocks for word in words] == list(whole.words)
                assert np.array_equal(np.concatenate([part for _, part in blocks]), whole.matrix)
                assert (source.rows, source.dim) == whole.matrix.shape


@pytest.mark.parametrize("name", ["w2v-sg-ns.bin", "gensim.bin", "gensim-spaces.vec", "glove.txt"])
def test_files_of_other_programs_in_blocks(name):
    path = ROOT / "tests" / "golden" / name
    whole = load(path)
    blocks = [(list(block.words), block.matrix.copy()) for block in RowSource(path).blocks()]
    assert [word for words, _ in blocks for word in words] == list(whole.words)
    assert np.array_equal(np.concatenate([part for _, part in blocks]), whole.matrix)


@pytest.mark.parametrize("name", ["truncated.bin", "not-finite.bin", "header-too-small.bin", "header-huge.bin"])
def test_a_broken_file_harms_nothing(wv, tmp_path, name):
    (tmp_path / "o.bin").write_text("yesterday")
    broken = ROOT / "tests" / "golden" / "broken" / name
    done = wv("whiten", broken, "-o", "o.bin", "--method", "pca")
    assert done.returncode == 1 and done.stderr.startswith(f"wv whiten: {broken}:"), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["o.bin"] and (tmp_path / "o.bin").read_text() == "yesterday"


BROKEN = sorted((ROOT / "tests" / "golden" / "broken").iterdir())


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.name)
def test_what_is_wrong_with_a_file_is_said_of_its_blocks_too(path):
    def outcome(read):
        try:
            return read()
        except BadFile as error:
            return str(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        for limit in (None, 3):
            found = outcome(lambda limit=limit: sum(map(len, RowSource(path, limit=limit).blocks())))
            assert found == outcome(lambda limit=limit: len(load(path, limit=limit, keep_repeated=True)))


@pytest.mark.parametrize("suffix", [".vec", ".glove"])
def test_text_is_read_a_block_at_a_time(files, suffix):
    """Some megabytes, so that there are several blocks; as word2vec writes <unk>, it is not in the header."""
    matrix = np.random.default_rng(2).standard_normal((20_000, 30)).astype(np.float32)
    whole = Embeddings(WordList.from_words([*(f"w{i}" for i in range(19_999)), "<unk>"]), matrix)
    save(files / f"big{suffix}", whole, precision="exact")
    if suffix == ".vec":
        text = (files / "big.vec").read_bytes()
        (files / "big.vec").write_bytes(text.replace(b"20000 30", b"19999 30", 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        source = RowSource(files / f"big{suffix}")
        blocks = [(list(block.words), block.matrix.copy()) for block in source.blocks()]
        assert len(blocks) > 2 and max(len(words) for words, _ in blocks) < 10_000
        assert [word for words, _ in blocks for word in words] == list(whole.words)
        assert np.array_equal(np.concatenate([part for _, part in blocks]), matrix)
        assert source.rows == RowSource(files / f"big{suffix}").rows == 20_000


def test_a_file_that_grows_between_two_passes_is_noticed(files):
    save(files / "v.glove", load(files / "v.bin"))
    source = RowSource(files / "v.glove")
    assert source.rows == ROWS
    with (files / "v.glove").open("ab") as stream:
        stream.write(b"more" + b" 1" * DIM + b"\n")
    with pytest.raises(WvError, match="the file was changed while it was read"):
        list(source.blocks())


def test_rows_in_blocks_are_written_as_at_once(files):
    source = RowSource(files / "v.bin")
    for name in ("a.bin", "a.vec", "a.glove", "a.npy", "a.tsv"):
        save(files / name, load(files / "v.bin"))
        save_blocks(files / f"b{name}", source.rows, source.dim, source.blocks())
        assert (files / name).read_bytes() == (files / f"b{name}").read_bytes()
    assert (files / "a.words.txt").read_bytes() == (files / "ba.words.txt").read_bytes()


@pytest.fixture
def bad(files, matrix):
    """Bad inputs by name, beside good ones."""
    (files / "empty").touch()
    (files / "rubbish").write_bytes(bytes(range(256)) * 40)
    (files / "nocounts").write_text("zebra 3\n")
    nan = matrix.copy()
    nan[300, 4] = np.nan
    np.save(files / "nan.npy", nan)
    np.save(files / "few.npy", matrix[:12])
    constant = matrix.copy()
    constant[:, 2] = 4
    np.save(files / "constant.npy", constant)
    np.save(files / "other.npy", matrix[:, :7])
    np.save(files / "same.npy", np.ones((50, 4), np.float32))
    np.save(files / "norows.npy", matrix[:0])
    for name, method in [("t", "whiten"), ("p", "pca")]:
        source = Moments.none(DIM).with_rows(matrix)
        from wv_cli.transforms.config import WhitenConfig
        from wv_cli.transforms.whiten import fit

        fit(source, WhitenConfig(method=method)).save(files / name)
    Moments.none(DIM).with_rows(matrix).save(files / "m")
    Moments.none(7).with_rows(matrix[:, :7]).save(files / "m7")
    (files / "out").mkdir()
    return files


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("empty -o out/o.bin", 1, "empty: the file is empty"),
        ("rubbish -o out/o.bin", 1, "rubbish: byte 0: expected word vectors"),
        ("nan.npy -o out/o.npy", 1, "nan.npy: byte 14544: row 301: expected finite numbers, found nan as number 5"),
        ("few.npy -o out/o.npy", 1, "few.npy: 12 rows of 12 numbers cannot be whitened"),
        ("norows.npy -o out/o.npy", 1, "norows.npy: a covariance needs at least 2 rows, found 0"),
        ("same.npy -o out/o.npy", 1, "same.npy: all 50 rows are equal"),
        ("constant.npy -o out/o.npy --dim 12", 1, "only 11 of 12 directions"),
        ("v.npy -o out/o.npy --dim 13", 1, "--dim 13 is more than the data have"),
        ("other.npy -o out/o.npy --transform t", 1, "other.npy: the transform is for vectors of 12 numbers, these"),
        ("other.npy -o out/o.npy --fit v.npy", 1, "other.npy: the transform is for vectors of 12 numbers"),
        ("v.npy -o out/o.npy --transform m", 1, "m: byte 0: expected a transform file of wv (version 1), "
         "found a moments file"),
        ("v.npy -o out/o.npy --transform v.npy", 1, "v.npy: byte 0: expected a transform file of wv"),
        ("v.npy -o out/o.npy --transform empty", 1, "empty: the file is empty; expected a transform"),
        ("--merge m m7 --save-moments out/o", 1, "m7: expected moments of 12 dimensions as in m, found 7"),
        ("--merge m t --save-moments out/o", 1, "t: byte 0: expected a moments file of wv (version 1), "
         "found a transform file"),
        ("v.npy -o out/o.npy --moments m7", 1, "v.npy: the transform is for vectors of 7 numbers"),
        ("v.npy -o out/o.npy --counts nocounts", 1, "needs at least 2 rows, found 0"),
        ("v.npy -o no/o.npy", 1, "no does not exist"),
        ("v.npy -o out", 1, "out: cannot write: is a folder"),
        ("v.npy -o white", 2, "names no format"),
        ("v.npy -o out/o.bin --save-transform no/t", 1, "no does not exist"),
        ("v.npy", 2, "nothing would be written"),
        ("v.npy v.bin -o out/o.npy", 2, "one file of vectors"),
        ("--merge m m -o out/o.bin", 2, "a second run applies the sum, as --moments"),
        ("--merge m m --top 3 --save-moments out/o", 2, "--top has no effect with --m"),
        ("v.npy --transform t --method pca -o out/o.npy", 2, "--method has no effect with --transform"),
        ("v.npy --transform t --save-transform out/t", 2, "give -o"),
        ("v.npy --transform t --fit v.bin -o out/o.npy", 2, "--fit has no effect with --transform"),
        ("v.npy --moments m --top 5 -o out/o.npy", 2, "--top has no effect with --m"),
        ("v.npy -o out/o.npy --method zca --dim 3", 2, "--method zca keeps every axis"),
        ("v.npy -o out/o.npy --remove 3", 2, "--remove goes with --method abtt"),
        ("v.npy -o out/o.npy --method abtt --remove 12", 2, "would leave nothing"),
        ("v.npy -o out/o.bin --save-moments out/o.bin", 2, "two outputs have this name"),
        ("- --fit - -o out/o.npy", 2, "can be read only once"),
        ("v.npy -o out/o.npy --from projector-tsv", 2, "projector-tsv is written but not read"),
        ("v.npy -o out/o.npy --method whitten", 2, "whitten"),
        ("v.npy -o out/o.npy --beta 2 --method soft", 2, "--beta must be between 0"),
    ],
)  # fmt: skip
def test_refusals(wv, bad, arguments, code, message):
    done = wv("whiten", *arguments.split())
    assert done.returncode == code and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == ""
    assert list((bad / "out").iterdir()) == []


def test_constant_columns_are_told(wv, bad):
    done = wv("whiten", "constant.npy", "-o", "out/o.npy")
    assert done.returncode == 0 and "whiten: 12 -> 11 dimensions; only 11 directions vary" in done.stderr
