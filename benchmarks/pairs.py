"""Suite `pairs`: static embeddings trained on pairs of texts, scored by retrieval beside BM25.

    python benchmarks/run.py --suite pairs --data PAIRS --keep small

PAIRS is a folder with a folder for each of SETS: train.tsv.xz and valid.tsv.xz (anchor, tab, positive), and test/ in
BEIR's layout. `all sets` is one epoch over the four sets from random rows. `small` is the recipe of the shipped model:
four epochs over the sets that may be shipped, the best epoch by their validation pairs, int8; --keep gets its folder.
Both take the word pieces that are counted in the shipped sets. `shipped` is data/small as it is. `distilled` starts
from the pieces of an --encoder and from words that six pairs have: three epochs, a set a batch.
`+ bm25` sums the scores of a system and of BM25, `4 x` with this weight of the system's. On the validation pairs the
first is best where BM25 is near or ahead, and the second where the vectors are far ahead.

With --encoder and --peers, `curve` trains beside sentence-transformers, in pieces of the encoder. It is one epoch over
the pairs whose texts stand in no other pair, in one order, from the same random rows. `loss` is the mean of the last
ten steps. `apart` is the largest relative difference of a step's two losses.
"""

import json
import lzma
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

SHIPPED = ("wiki", "wordnet", "python")
SETS = ("debian", *SHIPPED)
PIECES = 12_000
COMMON = ["--model", "pairs", "--no-header", "-q", "--no-meta"]
ALL = ["--nested", "32,64,128", "--max-length", "0"]
SMALL = ["--nested", "64,128", "--epochs", "4"]
DISTILLED = ["--max-length", "0", "--lr", "0.1", "--epochs", "3"]
FUSED = ["--bm25", "lucene", "--stem", "english", "--fuse-by", "scores", "--fuse", "1,1", "--fuse", "4,1"]
PROGRAMS = ["{}", "bm25", "{} + bm25", "4 x {} + bm25"]
TRAINERS = "wv", "sentence-transformers"
CURVE = {"dim": 256, "levels": [32, 64, 128, 256], "batch": 2048, "lr": 0.2}


def _lines(folder: Path, names: tuple[str, ...], part: str) -> list[str]:
    lines: list[str] = []
    for name in names:
        with lzma.open(folder / name / f"{part}.tsv.xz", "rt", encoding="utf-8", newline="\n") as stream:
            lines += stream
    return lines


def _tokenizer(lines: list[str], target: Path) -> None:
    """Word pieces as BERT cuts them, of lower-case text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=PIECES, special_tokens=["[PAD]", "[UNK]"], limit_alphabet=300, show_progress=False
    )
    pieces.train_from_iterator((text for line in lines for text in line.rstrip("\n").split("\t")), trainer)
    pieces.save(str(target))


def _words(lines: list[str]) -> list[str]:
    """Words of three letters or more that at least six lines have."""
    counts = Counter(word for line in lines for word in set(re.findall("[a-z]{3,}", line.lower())))
    return [word for word, count in counts.most_common() if count >= 6]


def _curves(options: Any, folder: Path, lines: list[str], number: int, seed: int) -> list[Run]:
    """Training beside sentence-transformers; the folders are `curve PROGRAM`."""
    seen: set[str] = set()
    once = [line for line in lines if not seen.intersection(line.split("\t")) and not seen.update(line.split("\t"))]
    (folder / "once.tsv").write_text("".join(once), encoding="utf-8")
    shared = {"pairs": str(folder / "once.tsv"), "tokenizer": str(options.encoder), "seed": seed}
    runs, curves = [], []
    for program, python in zip(TRAINERS, (sys.executable, options.peers), strict=True):
        job = {**CURVE, **shared, "threads": options.threads, "output": str(folder / f"curve {program}")}
        used, told = record.used([python, HERE / "peer_pairs.py", program, json.dumps(job)])
        curves.append(json.loads(told.splitlines()[-1]))
        loss = sum(curves[-1][-10:]) / len(curves[-1][-10:])
        runs.append({"task": "curve", "program": program, "round": number, "pairs": len(once), **used, "loss": loss})
    runs[-1]["apart"] = max(abs(ours / theirs - 1) for ours, theirs in zip(*curves, strict=True))
    return runs


def pairs(options: Any, result: Run, say: Any) -> bool:
    if len(options.data) != 1:
        sys.exit("--suite pairs needs one --data FOLDER with debian, wiki, wordnet and python in it")
    data = options.data[0]
    result["data"] = record.inputs(*(data / name / "train.tsv.xz" for name in SETS))
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        shipped = _lines(data, SHIPPED, "train")
        (folder / "shipped.tsv").write_text("".join(shipped), encoding="utf-8")
        for data_set in SETS:
            (folder / f"{data_set}.tsv").write_text("".join(_lines(data, (data_set,), "train")), encoding="utf-8")
        (folder / "all.tsv").write_text("".join(_lines(data, SETS, "train")), encoding="utf-8")
        (folder / "valid.tsv").write_text("".join(_lines(data, SHIPPED, "valid")), encoding="utf-8")
        _tokenizer(shipped, folder / "tokenizer.json")
        start = [*WV, "train", *COMMON, "--threads", options.threads]
        pieces = ["--tokenizer", folder / "tokenizer.json", "--dim", "256"]
        for number, seed in record.rounds(options):

            def train(system: str, texts: str, *arguments: object, number: int = number, seed: int = seed) -> None:
                files = [folder / name for name in texts.split()]
                used, _ = record.used([*start, *files, "-o", folder / system, "--seed", seed, *arguments])
                count = sum(file.read_bytes().count(b"\n") for file in files)
                runs.append({"task": "train", "program": system, "round": number, "pairs": count, **used})

            train("all sets", "all.tsv", *pieces, *ALL)
            train("float", "shipped.tsv", *pieces, *SMALL, "--validation", folder / "valid.tsv")
            kept = options.keep if options.keep and number == 1 else folder / "small"
            record.used([*WV, "convert", folder / "float", kept, "--to", "static", "--dtype", "int8"])
            systems = {"all sets": folder / "all sets", "small": kept, "shipped": "wv/small"}
            if options.encoder:
                systems["distilled"] = folder / "distilled"
                words = _words(_lines(data, SETS, "train"))
                (folder / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
                own = ["--words", folder / "words.txt", "--dim", "384"]
                distil = [*WV, "distil", "--encoder", options.encoder, "-o", folder / "start", "-q", *own]
                runs.append({"task": "distil", "program": "distilled", "round": number, **record.used(distil)[0]})
                train("distilled", " ".join(f"{name}.tsv" for name in SETS), "--init", folder / "start", *DISTILLED)
            if options.encoder and options.peers != sys.executable:
                runs.extend(_curves(options, folder, _lines(data, SETS, "train"), number, seed))
                systems |= {f"curve {program}": folder / f"curve {program}" for program in TRAINERS}
            for data_set in SETS:
                scores = []
                for system, encoder in systems.items():
                    test = data / data_set / "test"
                    how = [] if system.startswith("curve") else FUSED
                    score = [*WV, "eval", "search", "--encoder", encoder, *how, "-d", test, "--json", "-q"]
                    rows = json.loads(record.used(score)[1])["results"]
                    for row, program in zip(rows, (each.format(system) for each in PROGRAMS[: len(rows)]), strict=True):
                        figures = {key: row[key] for key in ("ndcg", "recall")}
                        if program != "bm25" or system == "shipped":
                            scores.append((program, round(row["ndcg"], 3)))
                            runs.append({"task": data_set, "program": program, "round": number, **figures})
                say(f"round {number}, {data_set}: {scores}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True
