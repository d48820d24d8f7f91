"""No option is ignored, walked over all commands. Every option is given explicitly in every variant of its command
(method, model, loss, task, ...: tests/calls.py). It changes what comes out, makes it impossible on these data, or is
refused with exit code 2.
A new option needs a value in VALUES, or a place in PLAIN if it never changes results; the walk finds both missing.
"""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import click
import numpy as np
import pytest

from tests.calls import CALLS, GLOVE, NEURAL, SUP, W2V
from tests.conftest import GOLDEN
from wv_cli import __main__, train
from wv_cli.cli.program import wv
from wv_cli.errors import UsageError

# What never changes results: the talk, where files go, how a run is saved and goes on, the machine.
PLAIN = {
    "as_json", "quiet", "layout", "meta", "threads", "memory", "dask", "checkpoint", "checkpoint_every", "resume",
    "overwrite", "max_time", "force_text", "again", "bad_records", "bad_rows", "output", "outputs", "from_format",
    "strict", "bad_files", "save_hasher", "save_transform", "save_moments", "save_counts", "save_vocab", "save_state",
    "save", "save_phrases", "min_score", "max_problems", "autotune_validation", "validation", "help", "data", "title",
}  # fmt: skip
# An argument that changes something, and what goes with it; {} are files of the fixture.
VALUES = {
    **dict.fromkeys(("tokenizer", "field", "add"), "text.txt"),  # is refused
    "words": "few.vocab", "variance": "0.5", "clusters": "3", "train": "other.txt",
    "vector": "1,0,1,0,1,0,1,0", "sentence": "of the", "exclude": "half.txt", "window_side": "left",
    "class_weights": "balanced",
    "connectors": "english",
    "weights": "3,1",
    "no_header": "--no-header --field 1", "flatten": "none", "unknown": "x",
    "dim": "3", "window": "1", "negative": "2", "power": "0.1", "sample": "0", "minn": "1", "maxn": "5", "lr": "0.4",
    "buckets": "7", "lr_floor": "0.9", "epochs": "4", "max_sentence": "3", "seed": "9", "min_count": "6",
    "max_vocab": "9", "word_ngrams": "3", "min_count_label": "45", "label_prefix": "__l", "classes": "3",
    "vocab": "few.vocab", "init": "init.vec", "pretrained": "init.vec", "output_vectors": "context.vec",
    "save_output_vectors": "context.vec", "preset": "fasttext", "model": "cbow", "autotune_log": "x.log",
    "autotune_size": "1M", "autotune_predictions": "2", "autotune_metric": "f1", "autotune_duration": "1",
    "length": "16", "expansion": "90", "sampling": "0.6", "iterations": "2", "p": "3", "rank": "3", "delta": "0.4",
    "batch": "11", "limit": "50", "hasher": "lsh.hasher", "normalize": "--no-normalize --center mean",
    "lowercase": "--lowercase", "beta": "0.9", "remove": "2", "tolerance": "0.5", "fit": "other.vec", "top": "40",
    "counts": "text.vocab", "moments": "other.moments", "transform": "t.transform", "to_format": "npy",
    "merge": "--merge", "precision": "3", "escape": "--escape", "unescape": "--unescape", "x_max": "3",
    "alpha": "0.2", "eta": "0.2", "bias_lr": "0.3", "steps": "2", "rcsls_words": "40",
    "grad_clip": "0.01", "init_gradsq": "g.bin", "counts_only": "--counts-only", "cells": "30",
    "apply": "text.phrases", "phrases": "text.phrases",
    "restrict_vocab": "40", "at": "3", "queries": "5", "neighbors": "4", "pooling": "idf", "after": "abtt",
    "stop_list": "stop.txt", "sif_a": "0.5", "resamples": "50", "k": "2", "confusions": "0", "best": "f1",
    "candidates": "30", "rerank": "words.vec", "sentences": "--sentences", "ngrams": "king", "perplexity": "5",
    "prob": "--prob", "cutoff": "300", "dsub": "5", "inputs": "labeled.txt", "retrain": "--retrain", "size": "25k",
    "passes": "4", "delimiter": "+", "stop_words": "drop",
    "shrink_window": "--no-shrink-window", "share_negatives": "--no-share-negatives",
    "share_positions": "--share-positions", "cbow_mean": "--cbow-sum", "deterministic": "--deterministic",
    "positive": "the", "beside": "other.vec", "among": "pairs.txt",
    "threshold": "0.9999", "center": "mean", "oov": "empty",
    "order": "2", "prune": "1", "limit_vocab": "few.vocab", "vocab_pad": "90000", "add_k": "0.3", "katz_max": "3",
    "max_words": "3", "count": "3", "start": "king", "mix": "other.txt", "count_files": "text.counts",
    "prune_entropy": "1e-4", "quantize": "2", "hidden": "3", "dropout": "0.3", "codes": "3",
    "tree_from": "neural.lm", "encoder": str(GOLDEN / "encoders" / "tiny-bert-st6"), "max_length": "3",
    "dictionary": "words.dictionary", "anchors": "60", "refine": "2", "refine_words": "70", "target": "turned.vec",
    "csls_neighbors": "3", "patience": "1", "dedup": "--dedup", "min_line": "50",
    "dev": "few.data.txt", "published": "--published",
    "keep_words": "--keep-words", "continue_": "small.state", "decay": "0.5",
    "gamma": "2", "split": "punctuation", "fit_data": "few.csv", "sentence_vectors": "sentences.npy",
    "learn_phrases": "2 --phrase-threshold 9", "phrase_threshold": "11", "phrase_min_count": "2",
    "tokenizer": str(GOLDEN / "encoders" / "tiny-bert" / "tokenizer.json"), "fields": "positive,anchor", "nested": "2",
    "scale": "5", "warmup": "0.5",
    "ngram_dim": "3", "ngram_lr": "0.4", "ngram_dropout": "0.1", "row_lr": "0.2", "label_smoothing": "0.3",
    "label_field": "stars", "calibration": "few.labeled.txt",
    "vector_weight": "0.9", "tokenize": "unicode,lowercase",
    "phrase_score": "npmi", "phrase_delimiter": "+", "dropout_ngrams": "5", "doc_vectors": "out.docs.vec",
}  # fmt: skip
# The same of options that other commands have with another meaning.
OF_COMMAND = {
    "filter": {
        "words": "20..60", "clusters": "out.clusters", "split": "stars", "perplexity": "text.lm<=9",
        "rules": "rules.toml", "rejected": "out.rejected",
        "where": "stars>=3", "blocked_hosts": "hosts.txt", "heuristic": "mean-word-length=4..5", "url_field": "link",
        "contamination": "o=bench.jsonl:text<=0.1", "classifier": "n=classifier.bin:a>=0.4", "near_duplicates": "0.5",
        "language": f"{GOLDEN / 'ft-labels.bin'}:baking>=0.6", "against": "known.index", "reason": "why",
        "explain": "2", "save_index": "out.index", "part": "2/2", "keys": "out.keys", "summary": "out.folder",
    },
    "search": {"words": "9"},
    "plot": {"to_format": "svg"},
}  # fmt: skip
VARIANTS = [f"{name} {call}" for name, row in CALLS.items() for call in row.variants]
OTHERS = [f"{name} {call.strip()}" for name, row in CALLS.items() for call in row.more_variants]
# Pairs of which an effect cannot be seen on these data, each with the reason. The option is not ignored there.
UNSEEN = {
    ("lm train", "skip_symbols"): "there are none in the text",
    ("lm train", "discount_fallback"): "the counts give discounts",
    ("lm train", "lmplz_last"): "the last n-gram is one of many",
    ("eval perplexity", "common_vocab"): "the models list the same words, and those of the text",
    ("--model supervised", "preset"): "fastText's settings are its own",
    ("--model supervised", "line_weights"): "no line has a weight",
    ("convert", "escape"): "no word needs it",
    ("convert", "unescape"): "no word needs it",
    ("whiten", "escape"): "no word needs it",
    ("align", "escape"): "no word needs it",
    ("sign", "length"): "the one length it has",
    ("phrases text", "across_lines"): "long lines: pairs across their ends are too rare",
    ("phrases", "passes"): "higher thresholds join a subset here",
    ("analogy words", "oov"): "all words are known",
    ("elmo", "runtime"): "NumPy computes it in any case",
    ("eval sts --encoder", "oov"): "every sentence has a vector",
    ("nn words.vec --positive", "oov"): "all words are known",
    ("nn words.vec --vector", "oov"): "numbers are never unknown",
    ("similarity words", "oov"): "all words are known",
    ("odd-one-out", "oov"): "all words are known",
    ("texts-distance", "oov"): "all texts have words that are known",
    ("pq", "length"): "refused unless it fits",
    ("eval", "subwords"): "whole words have none",
    ("eval wic", "encoder"): "refused: it is no ELMo",
    ("eval wic", "hasher"): "refused: of vectors",
    ("of' --words 50", "chunks"): "no blank line parts paragraphs",
    ("search", "identifiers"): "there are none in the text",
    **dict.fromkeys(
        [(call, "tokenize") for call in ("vectors words", "predict", "lm score", "eval perplexity", "eval labels")],
        "the words of the text are cut already, in lower case",
    ),
    ("quantize", "qout"): "few labels: the codes would be larger",
}


def call(arguments: str) -> int:
    return __main__.run(shlex.split(arguments))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, slice_text):
    """Small inputs of every kind, made by the commands."""
    path = tmp_path_factory.mktemp("meaning")
    before = Path.cwd()
    os.chdir(path)
    lines = [line for line in slice_text.read_text().splitlines() if len(line) > 40][:150]
    cased = [line[:400].replace("the ", "The ", i % 2) for i, line in enumerate(lines)]
    cased += cased[:1]  # for --dedup
    Path("text.txt").write_text("".join(f"{line}\n" for line in cased))
    hosts = ["a.com", "b.org"]
    records = [
        {
            "text": f"{line} 8.8.8.{i % 9}\n{line[:50]}",
            "stars": i % 5,
            "url": f"http://{hosts[i % 2]}/",
            "link": "b.org",
        }
        for i, line in enumerate([*cased, *(line.replace(" of ", " 7 ") for line in cased[::4]), *cased[:9]])
    ]
    Path("r.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    Path("bench.jsonl").write_text("".join(f"{json.dumps({'text': line[:90]})}\n" for line in cased[::7]))
    Path("hosts.txt").write_text("a.com\n")
    Path("rules.toml").write_text('heuristic = "lines=..1"\n')
    Path("raw.txt").write_text("Bake it, at 3.1 (9). e\u0301 \ufb01ne Ok? Yes!\n")
    labels = ["__label__a", "__label__b", "__l_c"]
    labeled = [f"{labels[i % 150 % 7 % 3]} {line[:200]}\n" for i, line in enumerate(cased)]
    Path("labeled.txt").write_text("".join(labeled))
    Path("few.labeled.txt").write_text("".join(labeled[::3]))
    golden = [f"{'__label__baking' if i % 2 else '__label__cake'} how to bake a cake {i}" for i in range(30)]
    Path("golden-labeled.txt").write_text("".join(f"{line}\n" for line in golden))
    words = "king the of to in and a is was for as by on with that it from at an are were his be or which one two three"
    random = np.random.default_rng(1)
    for name, dim in (("words.vec", 8), ("other.vec", 8), ("init.vec", 4)):
        every = [*words.split(), "The", "KING", *(f"w{i}" for i in range(400))]
        rows = random.standard_normal((len(every), dim)) @ random.standard_normal((dim, dim)) + 1
        rows = [" ".join(f"{x:.4f}" for x in row) for row in rows]
        body = "".join(f"{word} {row}\n" for word, row in zip(every, rows, strict=True))
        Path(name).write_text(f"{len(every)} {dim}\n{body}")
    Path("stop.txt").write_text("king\n")
    Path("half.txt").write_text("".join(f"{word}\n" for word in every[::2]))
    Path("other.txt").write_text("".join(f"{line[:90].lower()}\n" for line in cased[::9]))
    Path("similar.txt").write_text("KING the 1\nof to 2\nw60 a 5\nmissing and 3\nis w3 4\nking was 0.5\n")
    Path("words.dictionary").write_text("".join(f"w{i} w{i * 7 % 400}\n" for i in range(200)) + "KING none\nW3 w5\n")
    Path("questions.txt").write_text(": s\nking the of to\nin and a w90\nKing is was for\nnone as by on\n")
    pairs = [
        "king the of,The of to,1",
        "w60 and,is was,2",
        "was for as,by on w77,4",
        "missing,it from,3",
        "a b it,an be,5",
    ]
    drawn = random.integers(0, 400, (40, 4))
    pairs += [f"king w{a} the w{b},w{c} of w{d},{(a + c) % 7}" for a, b, c, d in drawn]
    Path("pairs.csv").write_text("".join(f"{pair}\n" for pair in pairs))
    rows = [f'"king w{a} the w{b}"\tw{c} of w{d} The\n' for a, b, c, d in drawn % 30]
    Path("pairs.tsv").write_text("anchor\tpositive\n" + "".join(rows))
    Path("pairs.txt").write_text("".join(f"{pair.replace(',', ' ')}\n" for pair in pairs))
    Path("few.csv").write_text("".join(f"{pair}\n" for pair in pairs[3:30]))
    places = random.integers(0, 400, (60, 5)).tolist()
    items = [f"w{a}\tN\t1-0\tw{b} w{a} w{c} it\tw{a} KING w{d} was the w{e} in of to\n" for a, b, c, d, e in places]
    Path("wic.data.txt").write_text("".join(items))
    Path("wic.gold.txt").write_text("".join("TF"[i * 7 % 5 % 2] + "\n" for i in range(60)))
    Path("few.data.txt").write_text("".join(items[:7]))
    Path("few.gold.txt").write_text("T\nT\nF\nT\nT\nT\nF\n")
    rows = random.standard_normal((2 * len(pairs), 8)).astype(np.float32)
    rows[5] = 0
    np.save("sentences.npy", rows)
    for made in (
        "lm train text.txt -o text.lm --smoothing witten-bell -q",
        "lm train text.txt -o text.counts --counts-only -q",
        "lm train text.txt -o two.lm --order 2 --smoothing witten-bell -q",
        f"train {NEURAL} --model nplm --hidden 5 --negative 9 -o neural.lm -q",
        "build-vocab text.txt -o text.vocab --min-count 2 -q",
        "phrases text.txt -o joined.txt --threshold 9 --min-count 2 --save-phrases text.phrases -q",
        "build-vocab text.txt -o few.vocab --min-count 20 -q",
        "train other.txt -o other.bin --save-state small.state --dim 4 --min-count 2 --epochs 1 -q --no-meta",
        "hash words.vec -m lsh --length 24 -o a.codes --save-hasher lsh.hasher -q",
        f"glove other.txt -o other.bin --save-state glove.state {GLOVE} -q --no-meta",
        "filter r.jsonl -o known --words 60.. --near-duplicates 0.7 --save-index known.index -q",
        "whiten words.vec --save-moments m.moments -q",
        "whiten words.vec -o turned.vec -q",
        "whiten other.vec --save-moments other.moments -q",
        "whiten other.vec --save-transform t.transform -q",
        "search index text.txt -o words.texts -q --no-meta --model words.vec",
        "glove text.txt --vocab text.vocab --counts-only --save-counts c.bin -q",
        "bioword text.txt --cells 40 --length 4 --epochs 1 --save-hasher bio.hasher -q",
        f"train {SUP} -o classifier.bin --word-ngrams 2 --buckets 900 -q",
    ):
        assert call(made) == 0, made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)  # thousands of files that nobody keeps
        yield path
    os.chdir(before)


def options_of(variant: str) -> list[click.Option]:
    command: click.Command = wv
    context, arguments = click.Context(command), variant.split()
    while isinstance(command, click.Group):
        _, found, arguments = command.resolve_command(context, arguments)
        assert found is not None
        command = found
    return [each for each in command.params if isinstance(each, click.Option)]


def given(option: click.Option, variant: str) -> list[str]:
    """The option on the command line, with another value than the variant's."""
    name, values = str(option.name), VALUES | OF_COMMAND.get(variant.split()[0], {})
    if values.get(name, "").startswith("--"):
        return values[name].split()
    if name == "to":
        binary = "binary" if variant.startswith("lm") else "word2vec-binary"
        return ["--to", "arpa" if variant.endswith("out.lm") else binary]
    if option.secondary_opts:
        off = option.default and option.opts[-1] not in variant
        return [option.secondary_opts[0] if off else option.opts[0]]
    flag = option.opts[-1]
    if name == "center" and ("pcah" in variant or "itq" in variant):
        return [flag, "none"]  # the mean is what they take off anyway
    if isinstance(option.type, click.Choice) and values.get(name) not in {*option.type.choices} - {option.default}:
        words = variant.split()
        now = words[words.index(flag) + 1] if flag in words else option.default
        return [flag, next(choice for choice in reversed(list(option.type.choices)) if choice != now)]
    if option.is_flag:
        return [flag]
    assert name in values, f"--{name}: give it a value in VALUES, or a place in PLAIN"
    return [flag, values[name]]


def outcome(arguments: str, capfdbinary) -> tuple[int, bytes, str]:
    """(exit code, all that was written: standard output and files, standard error)."""
    for path in [*Path().glob("out.*"), Path("context.vec")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    capfdbinary.readouterr()
    code = call(arguments)
    out, err = capfdbinary.readouterr()
    made = sorted([*Path().glob("out.*"), *Path().glob("context.vec"), *Path().glob("out.*/*")])
    made = [path for path in made if path.is_file() and not path.name.endswith(("meta.json", ".report"))]
    files = [path.name.encode() + path.read_bytes() for path in made]
    out = re.sub(rb'"config": \{.*?\}|"[a-z_]*seconds": [0-9.e-]+|took [0-9.]+', b"", out)
    return code, b"".join([out, *files]), err.decode()


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_option_changes_something_or_is_refused(variant, folder, capfdbinary):
    require_meaning(variant, folder, capfdbinary)


@pytest.mark.full
@pytest.mark.parametrize("variant", [each for each in OTHERS if each not in VARIANTS])
def test_every_option_of_the_other_variants_changes_something_or_is_refused(variant, folder, capfdbinary):
    require_meaning(variant, folder, capfdbinary)


def require_meaning(variant, folder, capfdbinary):
    os.chdir(folder)
    code, plain, err = outcome(variant, capfdbinary)
    assert code == 0, err
    ignored = []
    for option in options_of(variant):
        if option.name in PLAIN or option.name == "method":
            continue
        words = given(option, variant)
        if " ".join(words) in variant:
            continue
        reason = next((why for (what, name), why in UNSEEN.items() if name == option.name and what in variant), None)
        code, changed, err = outcome(f"{variant} {' '.join(words)}", capfdbinary)
        if reason is None and not (code != 0 or changed != plain):
            ignored.append((words, code, err))
        assert "Traceback" not in err
    assert not ignored


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("whiten words.vec -o o.vec --beta 0.3", "--beta has no effect with --method whiten; it needs --method s"),
        ("whiten words.vec -o o.vec --beta 0.5", "--beta has no effect with --method whiten"),
        ("whiten words.vec --save-moments o.m --method zca", "--method needs --output or --save-transform"),
        ("hash words.vec -o o.codes -m pcah --seed 1", "--seed has no effect with --method pcah; it needs --method "),
        ("hash words.vec -o o -m biohash --lr 0.2", "--lr has no effect with --rule kmeans; it needs --rule sgd"),
        ("hash words.vec -o o.codes -m lsh --resume", "--resume has no effect: this run trains nothing"),
        ("hash words.vec -o o.codes --hasher lsh.hasher --seed 1", "--seed has no effect with --hasher"),
        ("train text.txt -o o.vec --loss hs --negative 5", "--negative has no effect with --loss hs; it needs "),
        ("train text.txt -o o.vec --cbow-mean", "--cbow-mean has no effect with --model skipgram"),
        ("train text.txt -o o.vec --minn 2", "--minn has no effect with --maxn 0; it needs --maxn above 0"),
        ("quantize classifier.bin -o o.ftz --lr 0.1", "--lr needs --retrain"),
        ("eval sts words.vec -d pairs.csv --sif-a 0.001", "--sif-a needs --pooling sif"),
        ("lm train text.txt -o o.arpa --no-interpolate-unigrams --vocab-pad 9", "--vocab-pad needs --interpolate-un"),
        ("nn a.codes king --candidates 5", "--candidates needs --rerank"),
        ("plot words.vec king the of -o o.html --seed 1", "--seed has no effect with --method pca"),
        ("vectors words.vec --sentences king --oov zero", "--oov has no effect with --sentences"),
        ("predict classifier.bin text.txt --json --prob", "--prob has no effect with --as-json"),
    ],
)  # fmt: skip
def test_messages(call, message, folder, capfd):
    """A value equal to the default is refused as well: what counts is that it was given."""
    os.chdir(folder)
    assert __main__.run(call.split()) == 2
    assert message.replace("--as-json", "--json") in capfd.readouterr().err
    assert not list(Path().glob("o.*"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hs", "negative": 5}, "negative has no effect with loss hs"),
        ({"model": "supervised", "buckets": 9}, "buckets has no effect with maxn 0 and with word_ngrams 1"),
        ({"model": "cbow", "share_negatives": True}, "share_negatives has no effect with model cbow"),
        ({"share_positions": True}, "share_positions has no effect with model skipgram"),
        ({"model": "cbow", "loss": "hs", "share_positions": True}, "share_positions has no effect with loss hs"),
        ({"model": "cbow", "loss": "nce", "share_positions": True}, "share_positions has no effect with loss nce"),
        (
            {"model": "cbow", "minn": 2, "maxn": 3, "share_positions": True},
            "share_positions has no effect with maxn",
        ),
        ({"preset": "balanced", "share_positions": False}, "share_positions has no effect with model skipgram"),
    ],
)
def test_the_library_refuses_too(options, message, folder):
    with pytest.raises(UsageError, match=message):
        train(folder / "labeled.txt", folder / "o.bin", **options)


def test_a_preset_gives_nothing(folder, capfd):
    """Its values are defaults: those that mean nothing beside the options given are no contradiction."""
    os.chdir(folder)
    assert call(f"train {W2V} --preset fasttext --loss hs --maxn 0 -q") == 0, capfd.readouterr().err
