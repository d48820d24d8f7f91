"""Suite `tutorials`: the originals' own tutorials, typed as on their pages, by the originals and by `wv`.

    python benchmarks/run.py corpus.txt --suite tutorials --data cooking.stackexchange.txt --originals DIR --rounds 1

`wv` is called by the originals' names (`wv links`). DIR holds word2vec's, fastText's and GloVe's programs under their
own names. A tutorial whose program is missing is run by `wv` alone. The pages of word2vec and GloVe train on text8,
which is one line, so the corpus is made one line. fastText's page on word vectors uses fil9, the same text. If a score
of `wv` is lower by more than the tutorial's tolerance, the run ends with exit code 1.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, measure

DATA = HERE.parent / "data"
_VECTORS = "-cbow 1 -size 200 -window 8 -negative 25 -hs 0 -sample 1e-4 -threads 20 -iter 15"


@dataclass(frozen=True)
class Tutorial:
    """`lines` of shell; each of `figures` is a name and an expression for the number in what they print, the last of
    several; `vectors` is a file that WordSim-353 scores. Scores differ by `tolerance` from run to run."""

    lines: tuple[str, ...]
    figures: tuple[tuple[str, str, float], ...] = ()
    vectors: str = ""


_TOTAL = ("analogies, %", r"Total accuracy: ([\d.]+)", 2.0)
TUTORIALS = {
    "word2vec, words": Tutorial(
        (
            f"word2vec -train text8 -output vectors.bin {_VECTORS} -binary 1",
            "printf 'france\\nEXIT\\n' | distance vectors.bin",
            "printf 'france paris germany\\nEXIT\\n' | word-analogy vectors.bin",
            "compute-accuracy vectors.bin 30000 < questions-words.txt",
        ),
        (_TOTAL,),
        "vectors.bin",
    ),
    "word2vec, phrases": Tutorial(
        (
            "word2phrase -train text8 -output phrases0 -threshold 200 -debug 2",
            "word2phrase -train phrases0 -output phrases1 -threshold 100 -debug 2",
            "word2vec -train phrases1 -output vectors-phrase.bin -cbow 1 -size 200 -window 10 -negative 25 -hs 0 "
            "-sample 1e-5 -threads 20 -binary 1 -iter 15",
            "compute-accuracy vectors-phrase.bin < questions-phrases.txt",
            "wc -w phrases1 | sed 's/ .*/ words/'",
        ),
        (("words after joining", r"(\d+) words", 0.0),),
        "vectors-phrase.bin",
    ),
    "word2vec, classes": Tutorial(
        (
            f"word2vec -train text8 -output classes.txt {_VECTORS} -classes 500",
            "sort classes.txt -k 2 -n > classes.sorted.txt",
            "wc -l classes.sorted.txt | sed 's/ .*/ rows/'",
        ),
        (("rows", r"(\d+) rows", 0.0),),
    ),
    "fastText, labels": Tutorial(
        (
            "fasttext supervised -input cooking.train -output model_cooking -epoch 25 -lr 1.0 -wordNgrams 2",
            "fasttext test model_cooking.bin cooking.valid",
            "fasttext test model_cooking.bin cooking.valid 5",
            "echo 'Why not put knives in the dishwasher?' | fasttext predict model_cooking.bin - 5",
            "fasttext quantize -input cooking.train -output model_cooking -qnorm -retrain -epoch 1 -cutoff 100000",
            "fasttext test model_cooking.ftz cooking.valid | sed 's/P@1/quantized/'",
        ),
        (
            ("P@1", r"P@1\t([\d.]+)", 0.01),
            ("R@5", r"R@5\t([\d.]+)", 0.01),
            ("P@1 quantized", r"quantized\t([\d.]+)", 0.01),
        ),
    ),
    "fastText, labels, hs": Tutorial(
        (
            "fasttext supervised -input cooking.train -output model_hs -lr 1.0 -epoch 25 -wordNgrams 2 -bucket 200000 "
            "-dim 50 -loss hs",
            "fasttext test model_hs.bin cooking.valid",
        ),
        (("P@1", r"P@1\t([\d.]+)", 0.015),),
    ),
    "fastText, labels, one-vs-all": Tutorial(
        (
            "fasttext supervised -input cooking.train -output model_ova -lr 0.5 -epoch 25 -wordNgrams 2 -bucket 200000 "
            "-dim 50 -loss one-vs-all",
            "fasttext test model_ova.bin cooking.valid",
            "fasttext predict-prob model_ova.bin cooking.valid -1 0.5 > all-labels.txt",
        ),
        (("P@1", r"P@1\t([\d.]+)", 0.015),),
    ),
    "fastText, words": Tutorial(
        (
            "fasttext skipgram -input fil9 -output fil9",
            "echo 'asparagus pidgey yellow' | fasttext print-word-vectors fil9.bin > three.vec",
            "echo 'asparagus' | fasttext nn fil9.bin",
        ),
        (),
        "fil9.vec",
    ),
    "GloVe": Tutorial(
        (
            "vocab_count -min-count 5 -verbose 2 < text8 > vocab.txt",
            "cooccur -memory 4.0 -vocab-file vocab.txt -verbose 2 -window-size 15 < text8 > cooccurrence.bin",
            "shuffle -memory 4.0 -verbose 2 < cooccurrence.bin > cooccurrence.shuf.bin",
            "glove -save-file vectors -threads 8 -input-file cooccurrence.shuf.bin -x-max 10 -iter 15 -vector-size 50 "
            "-binary 2 -vocab-file vocab.txt -verbose 2",
        ),
        (),
        "vectors.txt",
    ),
}
_TOLERANCE_WS353 = 0.03


def _prepare(options: Any, folder: Path) -> None:
    text = Path(options.corpus).read_bytes()
    (folder / "text8").write_bytes(text.replace(b"\n", b" "))
    (folder / "fil9").symlink_to(folder / "text8")
    lines = record.data(options, "cooking").read_bytes().splitlines(keepends=True)
    (folder / "cooking.train").write_bytes(b"".join(lines[: -options.validation]))
    (folder / "cooking.valid").write_bytes(b"".join(lines[-options.validation :]))
    for name in ("questions-words.txt", "questions-phrases.txt"):
        (folder / name).symlink_to(DATA / "analogy" / name)


def _run(tutorial: Tutorial, programs: Path, folder: Path) -> dict[str, Any]:
    """CPU seconds of all lines, and the figures in what they print."""
    script = "set -e\ncd {}\nexport PATH={}:$PATH\n{}\n".format(folder, programs, "\n".join(tutorial.lines))
    used = measure(["bash", "-c", script])
    figures: dict[str, Any] = {"cpu_seconds": used.cpu_seconds, "wall_seconds": used.wall_seconds}
    for name, expression, _ in tutorial.figures:
        figures[name] = float(re.findall(expression, used.stdout)[-1])
    if tutorial.vectors:
        task = [*WV, "eval", "similarity", str(folder / tutorial.vectors), "--json"]
        found = measure([*task, "-d", str(DATA / "similarity" / "EN-WS-353-ALL.txt")])
        figures["WS353"] = round(_spearman(found.stdout), 3)
    return figures


def _spearman(text: str) -> float:
    return float(re.findall(r'"spearman": (-?[\d.]+)', text)[0])


def tutorials(options: Any, result: dict[str, Any], say: Callable[[str], None]) -> bool:
    result["data"] = record.inputs(Path(options.corpus), *options.data)
    good = True
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        links = Path(name) / "links"
        subprocess.run([*WV, "links", str(links)], check=True, stdout=subprocess.DEVNULL)
        places = {"wv": links, **({"original": options.originals.resolve()} if options.originals else {})}
        for number, _ in record.rounds(options):
            for task, tutorial in TUTORIALS.items():
                found: dict[str, dict[str, Any]] = {}
                for program, place in places.items():
                    if not _has_all(tutorial, place, links):
                        continue
                    folder = Path(name) / program
                    folder.mkdir(exist_ok=True)
                    if not (folder / "text8").exists():
                        _prepare(options, folder)
                    found[program] = _run(tutorial, place, folder)
                    result["runs"].append({"round": number, "task": task, "program": program, **found[program]})
                    say(f"{task}, {program}: {found[program]}")
                if "original" in found:
                    good &= _as_good(tutorial, found["wv"], found["original"])
    result["summary"] = record.summary(result["runs"])
    return good


def _has_all(tutorial: Tutorial, place: Path, links: Path) -> bool:
    """Whether `place` has the programs of the tutorial, which all are among our `links`."""
    typed = set(re.findall(r"[\w-]+", "\n".join(tutorial.lines)))
    return all((place / link.name).exists() for link in links.iterdir() if link.name in typed)


def _as_good(tutorial: Tutorial, ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    bounds = {name: tolerance for name, _, tolerance in tutorial.figures} | {"WS353": _TOLERANCE_WS353}
    return all(ours[name] >= theirs[name] - bounds[name] for name in bounds if name in ours)
