"""Sentence similarity: the layouts of the data sets, the numbers, transforms beside each other, sums over files."""

import json

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.reference import statistics as reference
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import StsConfig
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.evaluation.statistics import percentile_interval, spearman_resamples
from wv_cli.evaluation.sts_data import read_sentence_pairs, sts_files
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import fit
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.words import WordList

NOUNS = ["dog", "cat", "horse", "man", "woman", "child", "guitar", "piano", "ball", "river"]
WORDS = ["a", "the", "is", "in", *NOUNS, "plays", "runs", "sleeps"]


@pytest.fixture
def vectors():
    random = np.random.default_rng(5)
    common = 2 * random.standard_normal(6)
    matrix = (random.standard_normal((len(WORDS), 6)) + common).astype(np.float32)
    return Vectors("v.vec", lambda: Embeddings(WordList.from_words(WORDS), matrix.copy()))


def sentences(count, seed=1):
    """Made-up pairs: the more nouns they share the higher the score."""
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        first = list(random.choice(NOUNS, 3, replace=False))
        second = [word if random.random() < 0.5 else str(random.choice(NOUNS)) for word in first]
        score = 5 * sum(map(str.__eq__, first, second)) / 3 + random.normal() / 5
        texts = [f"The {x} plays, a {y} runs in the {z}." for x, y, z in (first, second)]
        pairs.append((*texts, round(score, 3)))
    return pairs


def write_csv(path, pairs):
    path.write_text("".join(f'"{x}","{y}",{score}\n' for x, y, score in pairs))
    return str(path)


def run(vectors, data, **options):
    config = StsConfig(**options)
    return TASKS["sts"].run(vectors if isinstance(vectors, list) else [vectors], data, config)


A, B = "A man, running.", 'He said "no".'
LAYOUTS = {
    "stsb.csv": '"A man, running.","He said ""no"".",2.5\nx,y,1\n',
    "lines.csv": '"A man,\nrunning.","He said ""no"".",2.5\nx,y,1\n',
    "header.csv": 'sentence1,sentence2,score\n"A man, running.","He said ""no"".",2.5\nx,y,1\n',
    "other-header.csv": 'one,two,three\n"A man, running.","He said ""no"".",2.5\nx,y,1\n',
    "plain.tsv": f"{A}\t{B}\t2.5\nx\ty\t1\n",
    "score-first.tsv": f"2.5\t{A}\t{B}\n1\tx\ty\n",
    "crlf.tsv": f"{A}\t{B}\t2.5\r\nx\ty\t1\r\n",
    "sts-train.tsv": f"main\tMSRvid\t2012test\t0001\t2.5\t{A}\t{B}\nmain\tMSRvid\t2012test\t0002\t1\tx\ty\tmore\n",
    "SICK.txt": "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    f"1\t{A}\t{B}\t2.5\tNEUTRAL\n2\tx\ty\t1\tNEUTRAL\n",
    "glue.tsv": "index\tgenre\tfile\tyear\told\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
    f"0\tg\tf\ty\t1\ts\ts\t{A}\t{B}\t2.5\n1\tg\tf\ty\t1\ts\ts\tx\ty\t1\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name, tmp_path):
    (tmp_path / name).write_text(LAYOUTS[name])
    pairs = read_sentence_pairs(str(tmp_path / name), strict=True)
    assert pairs.texts == [(A, B), ("x", "y")] and pairs.gold.tolist() == [2.5, 1.0]


def semeval(folder):
    folder.mkdir(exist_ok=True)
    (folder / "STS.input.news.txt").write_text(f"{A}\t{B}\nx\ty\nno\tscore\nz\tz\tsource\n")
    (folder / "STS.gs.news.txt").write_text("2.5\n1\n\n4.0\n")
    (folder / "readme.txt").write_text("nothing to score\n")
    return folder


def test_semeval_files(tmp_path):
    folder = semeval(tmp_path / "STS")
    paths = sorted(map(str, folder.iterdir()))
    assert sts_files(paths) == [str(folder / "STS.input.news.txt")]
    pairs = read_sentence_pairs(sts_files(paths)[0])
    assert pairs.texts == [(A, B), ("x", "y"), ("z", "z")] and pairs.gold.tolist() == [2.5, 1.0, 4.0]
    (folder / "STS.input.news.txt").write_text("x\ty\nno tab\nx\ty\n\n")
    (folder / "STS.gs.news.txt").write_text("1\n2\n\n")  # the last one is not scored
    assert read_sentence_pairs(sts_files(paths)[0]).malformed.count == 1
    for gs, message in [("1\n2\n3\n4\n", "each of the 3 pairs"), ("1\nx\n2\n", "gs.news.txt:2: expected a score")]:
        (folder / "STS.gs.news.txt").write_text(gs)
        with pytest.raises(BadFile, match=message):
            read_sentence_pairs(sts_files(paths)[0])
    (folder / "STS.gs.news.txt").unlink()
    with pytest.raises(WvError, match=r"STS\.gs\.news\.txt"):
        read_sentence_pairs(sts_files(paths)[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "is empty"), ("\n \n", "is empty"), ("just words\nand more\n", "expected lines of two sentences and a score"),
     ("sentence1,sentence2,score\n", "found none"), ("a,b,nan\n", "expected lines")],
)  # fmt: skip
def test_what_is_no_data(text, message, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(BadFile, match=message):
        read_sentence_pairs(str(tmp_path / "x.csv"))


def test_line_ends_inside_quotes(tmp_path):
    """A row of CSV may have several lines; a quote that is never closed takes no other rows with it."""
    (tmp_path / "x.csv").write_text('"a\r\n""b""","c\n\nd",1\n"e,f,2\n"g",h,3\n' + "i,j,4\n" * 30)
    pairs = read_sentence_pairs(str(tmp_path / "x.csv"))
    assert pairs.texts[:2] == [('a "b"', "c  d"), ("g", "h")] and len(pairs.texts) == 32
    assert pairs.malformed.count == 1 and "line 5" in pairs.malformed.notes()[0]


def test_malformed_lines(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,1\nc,d\ne,f,x\n,,\ng,h,2\n")
    pairs = read_sentence_pairs(str(tmp_path / "x.csv"))
    assert len(pairs.texts) == 2 and pairs.malformed.count == 3 and "line 2" in pairs.malformed.notes()[0]
    with pytest.raises(BadFile, match=r"x\.csv:2: expected"):
        read_sentence_pairs(str(tmp_path / "x.csv"), strict=True)


def test_the_plain_mean_by_hand(vectors, tmp_path):
    pairs = sentences(60)
    report = run(vectors, [write_csv(tmp_path / "x.csv", pairs)])
    matrix = vectors.load().matrix.astype(float)

    def mean(text):
        return np.mean([matrix[WORDS.index(word)] for word in text.lower().replace(",", "").strip(".").split()], axis=0)

    cosines = []
    for x, y, _ in pairs:
        u, v = mean(x), mean(y)
        cosines.append(round(u @ v / np.sqrt((u @ u) * (v @ v)), 12))
    gold = [score for *_, score in pairs]
    (row,) = report.rows
    assert row["spearman"] == pytest.approx(100 * reference.spearman(cosines, gold))
    assert row["pearson"] == pytest.approx(100 * reference.correlation(cosines, gold))
    assert row["low"] < row["spearman"] < row["high"] and row["zero_vectors"] == 0 and "gain" not in row


def test_variants_beside_each_other(vectors, tmp_path):
    data = write_csv(tmp_path / "x.csv", sentences(80))
    (tmp_path / "counts").write_text("</s> 600\nthe 500\na 400\nin 300\nplays 20\nruns 10\ndog 3\n")
    words = vectors.load().matrix
    fit(Moments.none(6).with_rows(words), WhitenConfig(method="abtt")).save(tmp_path / "t")
    saved = str(tmp_path / "t")
    report = run(
        vectors,
        [data],
        pooling=("sif", "idf"),
        after=("whiten", saved),
        stop_words="both",
        counts=str(tmp_path / "counts"),
        resamples=200,
    )
    keys = [(row["stop_words"], row["pooling"], row["after"]) for row in report.rows]
    assert keys == [
        (stop, pooling, after)
        for stop in ("keep", "drop")
        for pooling in ("mean", "sif", "idf")
        for after in ("-", "whiten", saved)
    ]
    first = report.rows[0]
    assert first["gain"] is None
    for row in report.rows[1:]:
        assert row["gain"] == pytest.approx(row["spearman"] - first["spearman"])
        assert row["gain_low"] <= row["gain"] <= row["gain_high"]
    assert report.rows[1]["gain"] > 0  # a large common direction hides what the pairs share
    assert "80 sentences" not in as_table(report) and "160 sentences" in " ".join(as_table(report).split())
    assert len(report.scores) == 18
    assert json.loads(as_json(report))["results"][0]["gain"] is None
    header, line, *_ = as_tsv(report).splitlines()
    assert len(header.split("\t")) == len(set(header.split("\t"))) == len(line.split("\t"))


def test_a_transform_of_words_is_that_of_their_mean(vectors, tmp_path):
    """Poolings are linear: whitened words averaged are the whitened average."""
    data = write_csv(tmp_path / "x.csv", sentences(50))
    words = vectors.load()
    transform = fit(Moments.none(6).with_rows(words.matrix), WhitenConfig(method="whiten"))
    transform.save(tmp_path / "t")
    white = Vectors("white", lambda: Embeddings(words.words, transform.apply(words.matrix)))
    after = run(vectors, [data], after=(str(tmp_path / "t"),)).rows[1]
    before = run(white, [data]).rows[0]
    assert after["spearman"] == pytest.approx(before["spearman"], abs=1)
    assert after["pearson"] == pytest.approx(before["pearson"], abs=1e-3)


def test_zero_vectors(vectors, tmp_path):
    pairs = [*sentences(30), ("Xyzzy!", "a dog runs", 1.0), ("", "?", 2.0)]
    data = write_csv(tmp_path / "x.csv", pairs)
    for after in ((), ("whiten",)):
        kept, skipped = (run(vectors, [data], oov=oov, after=after).rows[-1] for oov in ("zero", "skip"))
        assert (kept["used"], kept["total"], kept["zero_vectors"]) == (32, 32, 3)
        assert (skipped["used"], skipped["total"], skipped["zero_vectors"]) == (30, 32, 3)
    alone = run(vectors, [write_csv(tmp_path / "y.csv", pairs[:30])]).rows[0]
    assert run(vectors, [data], oov="skip").rows[0]["spearman"] == pytest.approx(alone["spearman"])


def test_all_mean_and_wmean(vectors, tmp_path):
    sizes = {"one.csv": 20, "two.csv": 60, "three.csv": 35}
    data = [write_csv(tmp_path / name, sentences(size, size)) for name, size in sizes.items()]
    whole = write_csv(tmp_path / "together.csv", [pair for size in sizes.values() for pair in sentences(size, size)])
    rows = {row["data"]: row for row in run(vectors, data).rows}
    single = [rows[path]["spearman"] for path in data]
    assert rows[f"{tmp_path}: all"]["spearman"] == pytest.approx(run(vectors, [whole]).rows[0]["spearman"])
    assert rows[f"{tmp_path}: mean"]["spearman"] == pytest.approx(np.mean(single))
    assert rows[f"{tmp_path}: wmean"]["spearman"] == pytest.approx(np.average(single, weights=list(sizes.values())))
    assert rows[f"{tmp_path}: mean"]["used"] == 115
    gains = run(vectors, data, after=("whiten",), resamples=200).rows
    for row in gains[1::2]:
        assert row["gain_low"] < row["gain"] < row["gain_high"]


def test_several_vector_files(vectors, tmp_path):
    data = write_csv(tmp_path / "x.csv", sentences(50))
    other = Vectors("w.vec", lambda: Embeddings(WordList.from_words(WORDS), vectors.load().matrix[::-1].copy()))
    rows = run([vectors, other], [data], after=("abtt",)).rows
    assert [(row["vectors"], row["after"]) for row in rows] == [
        ("v.vec", "-"), ("v.vec", "abtt"), ("w.vec", "-"), ("w.vec", "abtt"),
    ]  # fmt: skip
    assert rows[0]["difference"] is rows[1]["difference"] is rows[2]["gain"] is None
    assert rows[3]["difference"] == pytest.approx(rows[3]["spearman"] - rows[1]["spearman"])
    assert rows[3]["gain"] == pytest.approx(rows[3]["spearman"] - rows[2]["spearman"])
    assert 0 <= rows[3]["p"] <= 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"pooling": ("sif",)}, UsageError, "--counts VOCAB"),
        ({"after": ("whitten",)}, UsageError, "--after whitten: neither a method .* nor a file"),
        ({"resamples": -1}, UsageError, "--resamples"),
        ({"sif_a": 0.0}, UsageError, "--sif-a"),
        ({"after": ("zca",), "restrict_vocab": 1}, WvError, "sentences with words"),
        ({"stop_words": "drop", "stop_list": "/no/list"}, WvError, "/no/list"),
    ],
)
def test_refusals(vectors, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        run(vectors, [write_csv(tmp_path / "x.csv", sentences(4))], **options)


def test_a_transform_of_other_vectors(vectors, tmp_path):
    fit(Moments.none(4).with_rows(np.random.default_rng(1).standard_normal((9, 4))), WhitenConfig()).save(
        tmp_path / "t"
    )
    with pytest.raises(WvError, match=r"v\.vec under .*for vectors of 4 numbers, these have 6"):
        run(vectors, [write_csv(tmp_path / "x.csv", sentences(4))], after=(str(tmp_path / "t"),))


def test_the_bootstrap_by_its_definition():
    random = np.random.default_rng(3)
    gold = random.integers(0, 5, 40)
    systems = np.array([gold + random.normal(size=40), np.round(random.normal(size=40)), np.ones(40)])
    drawn = spearman_resamples(gold, systems, 50, seed=9)
    again = np.random.default_rng(9)
    for resample in drawn:
        picked = again.integers(0, 40, 40)
        expected = [spearman(system[picked], gold[picked]) for system in systems]
        assert np.allclose(resample, expected, equal_nan=True, atol=1e-12)
    assert np.isnan(drawn[:, 2]).all() and all(np.isnan(percentile_interval(drawn[:, 2])))
    low, high = percentile_interval(np.arange(1001.0))
    assert (low, high) == (25.0, 975.0)
    assert spearman_resamples([], np.empty((2, 0)), 3).shape == (3, 2)


def test_the_interval_covers_the_difference():
    """Of two systems equally far from the gold standard, 95 % intervals of the difference hold 0 about as often."""
    held = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        gold = random.normal(size=80)
        systems = gold + random.normal(size=(2, 80))
        drawn = spearman_resamples(gold, systems, 200, seed)
        low, high = percentile_interval(drawn[:, 1] - drawn[:, 0])
        held += low <= 0 <= high
    assert 86 <= held <= 100


def test_command(wv, vectors, tmp_path):
    from wv_cli.vectors.formats import save

    save(tmp_path / "v.vec", vectors.load())
    write_csv(tmp_path / "x.csv", sentences(60))
    (tmp_path / "counts").write_text("the 500\na 400\n")
    arguments = ["sts", "v.vec", "-d", "x.csv", "--pooling", "sif", "--counts", "counts", "--after", "whiten"]
    done = wv("eval", *arguments, "--after", "abtt", "--stop-words", "both", "--resamples", 100)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1 + 12
    done = wv("eval", *arguments, "--table")
    assert "gain" in done.stdout and "paired bootstrap" in " ".join(done.stdout.split())
    assert wv("eval", "sts", "v.vec", "-d", "x.csv", "--min-score", 99.9).returncode == 3
    done = wv("eval", "sts", "v.vec", "-d", "x.csv", "--pooling", "sif")
    assert done.returncode == 2 and "--counts" in done.stderr


@pytest.mark.parametrize("name", ["texts.d2v"])
def test_a_model_of_texts_makes_its_own_sentence_vectors(name, tmp_path):
    """Punctuation and case are treated as with word vectors; --pooling shows the mean of its words beside it."""
    data = write_csv(
        tmp_path / "pairs.csv", [("The war, of the state!", "in the state", 4), ("from", "at times", 1), ("a", "of", 2)]
    )
    embeddings = load(GOLDEN / name)
    report = run(Vectors(name, lambda: embeddings), [data], pooling=("mean",), resamples=0)
    own, mean = report.rows
    assert (own["pooling"], mean["pooling"]) == ("own", "mean")
    texts = [("the", "war", "of", "the", "state"), ("in", "the", "state"), ("from",), ("at", "times"), ("a",), ("of",)]
    ids = [np.array([row for row in map(embeddings.words.find, words) if row >= 0]) for words in texts]
    made = embeddings.texts.of_ids(ids).astype(float)
    cosines = [
        a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12) for a, b in zip(made[::2], made[1::2], strict=True)
    ]
    assert own["spearman"] == pytest.approx(100 * spearman(np.array(cosines), np.array([4.0, 1, 2])))


def test_records_are_read_by_the_names_of_their_fields(tmp_path):
    """As MTEB writes them; a line that is no record of sentences is malformed."""
    texts = [('a, "b"\tc\nd', "e"), ("", "\u65e5")]
    lines = [
        json.dumps({"idx": 1, "Sentence2": two, "sentence1": one, "score": i / 2}) for i, (one, two) in enumerate(texts)
    ]
    (tmp_path / "x.jsonl").write_text("\n".join([*lines, "[1]", '{"sentence1": "x", "Sentence2": 3, "score": 1}', ""]))
    pairs = read_sentence_pairs(str(tmp_path / "x.jsonl"))
    assert pairs.texts == texts and pairs.gold.tolist() == [0, 0.5] and pairs.malformed.count == 2
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(BadFile, match=r"x.jsonl:1: expected fields such as sentence1, sentence2 and score, found a"):
        read_sentence_pairs(str(tmp_path / "x.jsonl"))


def test_json_that_is_no_lines_is_named(tmp_path):
    record = {"sentence1": "a", "sentence2": "b", "score": 1}
    for text, found in (
        (json.dumps([record, record]), "found an array; write lines: jq"),
        (json.dumps([record, record], indent=1), "found an array"),
        (json.dumps(record, indent=1), "found JSON that goes on in the next line"),
    ):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(BadFile, match=found):
            read_sentence_pairs(str(tmp_path / "x.json"))
    (tmp_path / "x.json").write_text(f"\n{json.dumps(record)}\n")
    assert read_sentence_pairs(str(tmp_path / "x.json")).texts == [("a", "b")]
