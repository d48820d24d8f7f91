"""Scores of ARPA files as KenLM, SRILM and IRSTLM write them, beside the package kenlm of PyPI.

    python benchmarks/agreement/kenlm_arpa.py --peer PYTHON > benchmarks/agreement/kenlm_arpa.jsonl

PYTHON has `pip install kenlm==0.3.0`. A line of the record is one file: the words scored, the largest difference of a
word's log10 p, by wv from the ARPA and from the .lm made of it, or what each of the two programs says instead.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from wv_cli.errors import WvError
from wv_cli.lm.files import load, load_ngrams, save
from wv_cli.lm.scoring import Scorer

SRILM = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.2\t<UNK>\t-0.3
-99\t<s>\t-0.4
-0.9\t</s>
-0.7\tthe\t-0.2
-0.8\tcat\t-0.1

\\2-grams:
-0.3\t<s> the
-0.4\tthe cat
-0.2\tcat </s>

\\end\\
"""
BOTH = SRILM.replace("ngram 1=5", "ngram 1=6")
FILES = {
    "lower": SRILM.replace("<UNK>", "<unk>"),
    "upper": SRILM,
    "mixed case": SRILM.replace("<UNK>", "<Unk>"),
    "without": SRILM.replace("-1.2\t<UNK>\t-0.3\n", "").replace("ngram 1=5", "ngram 1=4"),
    "both, upper last": BOTH.replace("-1.2\t<UNK>", "-2.5\t<unk>\t-0.1\n-1.2\t<UNK>"),
    "both, lower last": BOTH.replace("-99\t<s>", "-2.5\t<unk>\t-0.1\n-99\t<s>"),
    "upper as context": SRILM.replace("ngram 2=3", "ngram 2=4").replace("\n\n\\end", "\n-0.05\t<UNK> cat\n\n\\end"),
    "back-off of 0": SRILM.replace("the cat\n", "the cat\t0\n"),
    "back-off behind the longest": SRILM.replace("the cat\n", "the cat\t-0.5\n"),
    "-inf": SRILM.replace("-0.8\tcat", "-inf\tcat"),
    "below -100": SRILM.replace("-0.8\tcat", "-150\tcat"),
    "without </s>": SRILM.replace("-0.9\t</s>\n", "").replace("-0.2\tcat </s>\n", "").replace("m 1=5", "m 1=4"),
    "positive": SRILM.replace("-0.4\tthe cat", "0.4\tthe cat"),
    "iARPA": f"iARPA\n{SRILM}",
    "qARPA": f"qARPA 2\n{SRILM}",
    "text before": f"made by hand\n{SRILM}",
    "comment before": f"# made by hand\n\n{SRILM}",
}
FILES["without </s>"] = FILES["without </s>"].replace("ngram 2=3", "ngram 2=2")
TEXTS = [
    "the cat", "", "zzz", "zzz the cat", "<UNK> cat", "<unk> <unk> cat", "cat <unk> the", "<Unk>", "the <s> cat",
    "the </s> cat", "<s> the cat </s>", "<s> <s> </s> </s>", "the the the cat cat",
]  # fmt: skip
PEER = """
import json, sys, kenlm
found = {}
for name, path in json.loads(sys.argv[1]).items():
    try:
        model = kenlm.Model(path)
        found[name] = [[p for p, _, _ in model.full_scores(text)] for text in json.loads(sys.argv[2])]
    except Exception as error:
        found[name] = str(error).partition("because")[2].partition(".")[0].strip() or str(error)[-120:]
print(json.dumps(found))
"""


def scores(path: Path) -> "list[list[float]] | str":
    """log10 p of each word and the end of each text, or what is wrong."""
    try:
        found = [*Scorer(load(path)).read(["".join(f"{text}\n" for text in TEXTS).encode()])]
    except WvError as error:
        return str(error).removeprefix(f"{path}")
    return [part.scores[sentence].tolist() for part in found for sentence in part.sentences()]


def difference(one: "list[list[float]] | str", other: "list[list[float]] | str") -> "float | str":
    if isinstance(one, str) or isinstance(other, str):
        return "both refuse" if isinstance(one, str) and isinstance(other, str) else "one refuses"
    pairs = [pair for rows in zip(one, other, strict=True) for pair in zip(*rows, strict=True)]
    largest = max(0.0 if a == b else abs(a - b) for a, b in pairs)
    return largest if math.isfinite(largest) else "infinite"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=sys.executable, help="Python with the package kenlm")
    peer = parser.parse_args().peer
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for number, (name, text) in enumerate(FILES.items()):
            paths[name] = Path(folder, f"{number}.arpa")
            paths[name].write_text(text)
        asked = json.dumps({name: str(path) for name, path in paths.items()}), json.dumps(TEXTS)
        done = subprocess.run([peer, "-c", PEER, *asked], check=True, capture_output=True, text=True)
        theirs = json.loads(done.stdout.splitlines()[-1])
        for name, path in paths.items():
            row = {"file": name, "texts": len(TEXTS), "arpa": difference(ours := scores(path), theirs[name])}
            if isinstance(ours, list):
                save(str(path.with_suffix(".lm")), load_ngrams(path))
                row["lm"] = difference(scores(path.with_suffix(".lm")), theirs[name])
            said = {"wv": ours, "kenlm": theirs[name]}
            row |= {program: text for program, text in said.items() if isinstance(text, str)}
            print(json.dumps(row))


if __name__ == "__main__":
    main()
