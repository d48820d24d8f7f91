"""Whole files to begin with: golden ones, cut where they are large, and files that our own writers make. Small, so that
a damaged byte is likely to matter and a file takes a millisecond."""

import bz2
import gzip
import io
import itertools
import lzma
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from tests import zstd
from tests.conftest import GOLDEN, ROOT
from tests.reference.fasttext import oldest
from wv_cli.filtering.decisions import NAME as DECISIONS
from wv_cli.filtering.decisions import decide
from wv_cli.filtering.duplicates import ExactDuplicates
from wv_cli.filtering.known_texts import VerifiedDuplicates
from wv_cli.filtering.near_duplicates import NearDuplicates
from wv_cli.filtering.part_keys import KeyWriter, StoredKeys, StoredShard, keys_path
from wv_cli.filtering.parts import Part
from wv_cli.hashing import HASHERS
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit
from wv_cli.retrieval.build import build
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import find_files
from wv_cli.retrieval.model import Model
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import fit as fit_transform
from wv_cli.vectors import formats
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.codes import save as save_codes
from wv_cli.vectors.stored_index import SearchIndex

OWN = GOLDEN / "own"


@cache
def small() -> Embeddings:
    """Some forty words of eight numbers."""
    vectors = formats.load(OWN / "vectors.vec")
    return Embeddings(vectors.words[:40], np.ascontiguousarray(vectors.matrix[:40]))


def written(save: Callable[[Path], object], name: str = "file") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder) / name)
        return (Path(folder) / name).read_bytes()


def golden(*names: str, most: int = 0) -> list[bytes]:
    """Golden files, unpacked; of long ones the first `most` bytes up to a line's end."""
    found = []
    for name in names:
        data = (GOLDEN / name).read_bytes()
        data = lzma.decompress(data) if name.endswith(".xz") else data
        found.append(data[: data.rindex(b"\n", 0, most) + 1] if 0 < most < len(data) else data)
    return found


@cache
def web_archives() -> list[bytes]:
    """WET, plain and in members of gzip."""
    begin, end = "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Target-URI: http://a/{}\r\nContent-Length: {}\r\n\r\n", "\r\n\r\n"
    texts = ["software: x", "bake the bread", "", "the oven is hot"]
    kinds = ["warcinfo", *["conversion"] * 3]
    records = [
        f"{begin.format(kind, number, len(text))}{text}{end}".encode()
        for number, (kind, text) in enumerate(zip(kinds, texts, strict=True))
    ]
    return [b"".join(records), b"".join(gzip.compress(each, mtime=0) for each in records)]


def record_texts(kind: str) -> list[bytes]:
    """The files of golden/records.tar.xz with this ending, but for a long one."""
    with tarfile.open(GOLDEN / "records.tar.xz") as packed:
        members = [member for member in packed if member.name.endswith(f".{kind}") and 0 < member.size < 20_000]
        found = [file.read() for member in members if (file := packed.extractfile(member))]
    return [data for data in found if not data.startswith(b"\x1f\x8b")]


def vectors(name: str) -> list[bytes]:
    """The small vectors in a format."""
    return [written(lambda path: formats.save(path, small(), format=name))]


@cache
def word2vec_text() -> list[bytes]:
    broken = sorted(f"broken/{path.name}" for path in (GOLDEN / "broken").glob("*.vec"))
    exact = written(lambda path: formats.save(path, small(), format="word2vec-text", precision="exact"))
    return [*vectors("word2vec-text"), exact, *golden("gensim-spaces.vec", *broken)]


@cache
def word2vec_binary() -> list[bytes]:
    broken = sorted(f"broken/{path.name}" for path in (GOLDEN / "broken").glob("*.bin") if path.stem != "floret")
    return [*vectors("word2vec-binary"), *golden(*broken)]


@cache
def glove_text() -> list[bytes]:
    return [*vectors("glove-text"), *golden("glove.txt", most=4000), *golden("broken/not-a-number.glove")]


@cache
def floret() -> list[bytes]:
    return golden("hashed.floret", "hashed-letters.floret")


@cache
def npy() -> list[bytes]:
    made = []
    for kind, version in (("<f4", (1, 0)), ("<f8", (2, 0)), (">f2", (3, 0))):
        stream = io.BytesIO()
        np.lib.format.write_array(stream, small().matrix.astype(kind), version, allow_pickle=False)
        made.append(stream.getvalue())
    return [*vectors("npy"), *made]


@cache
def words_beside() -> list[bytes]:
    words = small().words
    return [b"".join(words.bytes_at(row) + b"\n" for row in range(len(words)))]


@cache
def codes() -> list[bytes]:
    names = ("dense", "sparse", "product", "bioword")
    return [*golden("sign.codes"), *golden(*(f"own/{name}.codes" for name in names))]


@cache
def codes_text() -> list[bytes]:
    methods = {"lsh": HashConfig(length=20), "fly": HashConfig(length=4), "pq": HashConfig(length=8)}
    made = [fit(small(), method, config).encode(small()) for method, config in methods.items()]
    return [written(lambda path, each=each: save_codes(path, each, text=True)) for each in made]


@cache
def fasttext() -> list[bytes]:
    """Dense, quantized and, of the dense one, the oldest layout: without magic number, pruned buckets and flags."""
    models = golden("ft-words.bin", "ft-labels.bin", "ft-labels.ftz", "broken/floret.bin")
    return [*models, oldest(models[0])]


@cache
def hasher(method: str) -> list[bytes]:
    """Fitted on few rows; of biohash both rules."""
    row, many = HASHERS[method], formats.load(OWN / "vectors.vec")
    length = {"sign": 8, "pq": 16}.get(method, 4 if row.sparse else 8)
    config = HashConfig(length=length, expansion=24 if row.sparse else 0, threads=1)
    found = [written(fit(many, method, config).save)]
    return found + (golden(f"own/{method}.hasher") if method in ("itq", "fly", "pq") else [])


@cache
def text() -> bytes:
    """A hundred lines of the shipped corpus, some with labels."""
    with lzma.open(ROOT / "data" / "corpus" / "wiki8-slice.txt.xz", "rb") as packed:
        lines = [b" ".join(line.split()[:12]) for line in itertools.islice(packed, 300) if line.strip()][:60]
    return b"".join(b"__label__%c %s\n" % (b"abc"[number % 3], line) for number, line in enumerate(lines))


@cache
def packed(codec: str) -> list[bytes]:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": lambda data: gzip.compress(data, mtime=0),
        "bzip2": bz2.compress,
        "xz": lzma.compress,
        "zstd": partial(zstd.pack, checksum=True),
    }
    one, other = pack[codec](text()[:1500]), pack[codec](vectors("word2vec-text")[0])
    return [one, other, one + pack[codec](text()[1500:2000]), pack[codec](b"the of and " * 200_000)]


@cache
def vocabularies() -> list[bytes]:
    return golden("glove.vocab.txt", "w2v.vocab", most=1500)


@cache
def records() -> list[bytes]:
    """Counts for the words of vocabulary()."""
    kept = len(vocabularies()[0].splitlines())
    found = np.frombuffer(golden("glove.cooccurrence.bin.xz")[0], np.dtype([("i", "<i4"), ("j", "<i4"), ("x", "<f8")]))
    found = found[(found["i"] <= kept) & (found["j"] <= kept)][:300]
    return [found.tobytes(), np.sort(found, order=["i", "j"]).tobytes()]


@cache
def word_pairs() -> list[bytes]:
    words = list(small().words[:12])
    rows = [(a, b, f"{number / 7:.2f}") for number, (a, b) in enumerate(itertools.combinations(words, 2))][:30]
    head = (ROOT / "data" / "similarity" / "EN-WS-353-ALL.txt").read_bytes()[:800]
    return [*("".join(sign.join(row) + "\n" for row in rows).encode() for sign in "\t,; "), head]


@cache
def questions() -> list[bytes]:
    words = list(small().words[:10])
    rows = [" ".join(words[(start + step) % 10] for step in range(4)) for start in range(10)]
    text = ": one\n" + "\n".join(rows[:5]) + "\n: gram2\n" + "\n".join(rows[5:]) + "\n"
    return [text.encode(), text.replace(" ", "\t").encode()]


@cache
def dictionaries() -> list[bytes]:
    words = list(small().words[:12])
    text = "".join(f"{word} {other}\n" for word, other in zip(words, [*words[:6], *words[:6]], strict=True))
    return [text.encode(), text.replace(" ", "\t").encode()]


@cache
def sentence_pairs() -> list[bytes]:
    words = list(small().words[:20])
    pairs = [(" ".join(words[n : n + 4]), " ".join(words[n + 1 : n + 5]), str(n % 5)) for n in range(12)]
    csv = "".join(f'"{a}","{b}",{score}\n' for a, b, score in pairs)
    named = "sentence_A\tsentence_B\trelatedness_score\n" + "".join("\t".join(pair) + "\n" for pair in pairs)
    original = "".join(f"g\tf\t2012\t{n}\t{score}\t{a}\t{b}\n" for n, (a, b, score) in enumerate(pairs))
    return [part.encode() for part in (csv, named, original)]


@cache
def semeval() -> tuple[list[bytes], bytes]:
    """(scores, the sentences they are for)."""
    words = list(small().words[:20])
    sentences = "".join(f"{' '.join(words[n : n + 4])}\t{' '.join(words[n + 1 : n + 5])}\n" for n in range(12))
    return ["".join(f"{n % 5}.0\n" for n in range(12)).encode()], sentences.encode()


@cache
def saved_moments() -> list[bytes]:
    return [written(Moments.none(8).with_rows(small().matrix).save)]


@cache
def saved_transforms() -> list[bytes]:
    found = Moments.none(8).with_rows(small().matrix)
    return [written(fit_transform(found, WhitenConfig(method=method)).save) for method in ("whiten", "abtt")]


@cache
def saved_near_duplicates() -> list[bytes]:
    known = NearDuplicates()
    known.insert(known.keys([b"one two three four five six seven", b"a b c d e f g h i j"]))
    return [written(known.save)]


@cache
def saved_known_texts() -> list[bytes]:
    known = VerifiedDuplicates(0.72, ["a.jsonl"])
    texts = [b"one two three four five six seven", b"a b c d e f g h i j", b"short"]
    known.first_seen(known.keys(texts), np.arange(3), 0, np.arange(3))
    return [written(known.save)]


def _keys_of_part(folder: Path) -> Path:
    """Of two shards, with one duplicate of each kind."""
    rules = [ExactDuplicates(), VerifiedDuplicates(0.72)]
    writer, path = KeyWriter(folder, rules), keys_path(folder, Part(1, 1))
    texts = [b"one two three four five six seven", b"short", b"short", b"One two three four five six seven"]
    for rule in writer.rules:
        rule.first_seen(rule.keys(texts), np.arange(4), 0, np.arange(4) + 1)
    shards = [StoredShard(number, name, name, 9, "", 2, 2) for number, name in enumerate(("a.jsonl", "b.jsonl"))]
    writer.save(path, {"rules": []}, shards, [rule.name for rule in rules])
    return path


@cache
def saved_part_keys() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return [_keys_of_part(Path(folder)).read_bytes()]


@cache
def saved_decisions() -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        parts = [StoredKeys(_keys_of_part(Path(name)))]
        decide(parts, [ExactDuplicates(), VerifiedDuplicates(0.72, ["a", "b"])], Path(name), sparse=True)
        return [(Path(name) / DECISIONS).read_bytes()]


def of_texts(old: SearchIndex | None = None) -> SearchIndex:
    """The index of two small texts with vectors, one of them taken from the `old` index."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.txt").write_text("one two three\nfour\n\ngetUser of one\n")
        (Path(folder) / "b.txt").write_text("the of and")
        files = find_files([folder], print)
        model = Model(str(OWN / "vectors.vec"))
        return build(files, TextConfig(stop_words="keep"), log=print, model=model, old=old)[0]


@cache
def saved_search_indexes() -> list[bytes]:
    return [written(of_texts().save)]


@cache
def glove_start() -> list[bytes]:
    """Two matrices of dim 4 for the words of the first vocabulary."""
    words = len(vocabularies()[0].splitlines())
    return [np.random.default_rng(1).uniform(0.1, 1, (2, words, 5)).tobytes()]


@cache
def rule_files() -> list[bytes]:
    rules = b'words = "50..100000"\nheuristic = ["characters=5..", "mean-word-length=..9"]\nnear-duplicates = 0.72\n'
    return [rules + b'language = "lid.176.ftz:en>=0.65"\nunit = "document"\n', rules]


@cache
def pieces() -> list[bytes]:
    """Unigram models of sentencepiece, one of which has pieces for bytes."""
    from sentencepiece import SentencePieceTrainer

    found = []
    for options in ({"vocab_size": 40}, {"vocab_size": 300, "byte_fallback": True}):
        model, lines = io.BytesIO(), text().decode().splitlines()
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=1, **options
        )
        found.append(model.getvalue())
    return found
