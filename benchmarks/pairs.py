"""Suite `pairs`: static embeddings trained on pairs of texts, scored by retrieval beside BM25.

    python benchmarks/run.py --suite pairs --data PAIRS --keep small

PAIRS is a folder with a folder for each of SETS: train.tsv.xz and valid.tsv.xz (anchor, tab, positive), and test/ in
BEIR's layout. `all sets` is one epoch over the four sets from random rows. `small` is the recipe of the shipped model:
four epochs over the sets that may be shipped, the best epoch by their validation pairs, int8; --keep gets its folder.
Both take the word pieces that are counted in the shipped sets. `shipped` is data/small as it is. `distilled` starts
from the pieces of an --encoder: three epochs over the four sets. `+ bm25` fuses the ranks of a system and of BM25,
`.5 x` and `.1 x` with these weights of the system's.
"""

import json
import lzma
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import WV
from record import Run

SHIPPED = ("wiki", "wordnet", "python")
SETS = ("debian", *SHIPPED)
PIECES = 12_000
COMMON = ["--model", "pairs", "--no-header", "-q", "--no-meta"]
ALL = ["--nested", "32,64,128", "--max-length", "0"]
SMALL = ["--nested", "64,128", "--epochs", "4"]
DISTILLED = ["--max-length", "0", "--lr", "0.1", "--epochs", "3"]
FUSED = ["--bm25", "lucene", "--stem", "english", "--fuse", "1,1", "--fuse", ".5,1", "--fuse", ".1,1"]
PROGRAMS = ["{}", "bm25", "{} + bm25", ".5 x {} + bm25", ".1 x {} + bm25"]


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
        (folder / "all.tsv").write_text("".join(_lines(data, SETS, "train")), encoding="utf-8")
        (folder / "valid.tsv").write_text("".join(_lines(data, SHIPPED, "valid")), encoding="utf-8")
        _tokenizer(shipped, folder / "tokenizer.json")
        start = [*WV, "train", *COMMON, "--threads", options.threads]
        pieces = ["--tokenizer", folder / "tokenizer.json", "--dim", "256"]
        for number, seed in record.rounds(options):

            def train(system: str, text: str, *arguments: object, number: int = number, seed: int = seed) -> None:
                used, _ = record.used([*start, folder / text, "-o", folder / system, "--seed", seed, *arguments])
                count = len(shipped) if text == "shipped.tsv" else (folder / text).read_bytes().count(b"\n")
                runs.append({"task": "train", "program": system, "round": number, "pairs": count, **used})

            train("all sets", "all.tsv", *pieces, *ALL)
            train("float", "shipped.tsv", *pieces, *SMALL, "--validation", folder / "valid.tsv")
            kept = options.keep if options.keep and number == 1 else folder / "small"
            record.used([*WV, "convert", folder / "float", kept, "--to", "static", "--dtype", "int8"])
            systems = {"all sets": folder / "all sets", "small": kept, "shipped": "wv/small"}
            if options.encoder:
                systems["distilled"] = folder / "distilled"
                distil = [*WV, "distil", "--encoder", options.encoder, "-o", folder / "start", "-q"]
                runs.append({"task": "distil", "program": "distilled", "round": number, **record.used(distil)[0]})
                train("distilled", "all.tsv", "--init", folder / "start", *DISTILLED)
            for data_set in SETS:
                scores = []
                for system, encoder in systems.items():
                    test = data / data_set / "test"
                    score = [*WV, "eval", "search", "--encoder", encoder, *FUSED, "-d", test, "--json", "-q"]
                    rows = json.loads(record.used(score)[1])["results"]
                    for row, program in zip(rows, (each.format(system) for each in PROGRAMS), strict=True):
                        figures = {key: row[key] for key in ("ndcg", "recall")}
                        if program != "bm25" or system == "shipped":
                            scores.append((program, round(row["ndcg"], 3)))
                            runs.append({"task": data_set, "program": program, "round": number, **figures})
                say(f"round {number}, {data_set}: {scores}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True
