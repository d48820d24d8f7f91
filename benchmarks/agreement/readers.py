"""Records that went through `wv filter --add-scores` and `wv predict --add`, read back by seven programs.

    python benchmarks/agreement/readers.py --peer PYTHON --spark PYTHON --spark PYTHON \\
        > benchmarks/agreement/readers.jsonl

PYTHON of --peer has `pip install pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 pandas==3.1.1 datafusion==55.0.0`, those
of --spark `pyspark==3.3.4` and `pyspark==4.0.2` with Java 17. Each program writes files of its own types
(readers_peers.py), and reads all of them before and after `wv`. A line of the record is one program and one file:

* `filter`, `predict`: "same" when each column of the input has the type and the values that this program reads in the
  input, and added columns hold what `wv` says; otherwise what differs.
* `empty`: the same for a filter that keeps no record. JSON lines without records have no columns: pyarrow and polars
  refuse them, DuckDB invents one. pandas types columns of nulls by their number.
* `input`: what the program says when it cannot read the input; its outputs are then not compared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TEXTS = [
    "bake the bread in a hot oven", 'he said "bread, please" to them', '"quoted" from the start', "", None,
    "naïve façade 豫章故郡 🎉", "the program reads a file, and writes it", "a", "bread; oven | pan", "print('program')",
]  # fmt: skip
TRAINING = "__label__cook bake the bread in the hot oven pan\n__label__code print the program that reads a file\n"
ADDED = {"filter": ["words", "mean-word-length", "cook"], "predict": ["guess", "guess_score", "guess_known"]}
ADDED["empty"] = [*ADDED["filter"], "characters"]
Expected = dict[str, dict[str, str]]


def wv(*asked: object) -> str:
    """What the program says when it refuses, else nothing."""
    command = [sys.executable, "-m", "wv_cli", *map(str, asked)]
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stderr.strip().split("\n") or [""])[-1] if done.returncode else ""


def run_wv(model: Path, path: Path, place: Path) -> dict[str, Path | str]:
    """The files of each output, or why there is none."""
    rules = ["--words", "1..", "--heuristic", "mean-word-length=..", "--classifier", f"cook={model}:cook=.."]
    found: dict[str, Path | str] = {}
    for name, more in (("filter", []), ("empty", ["--heuristic", "characters=100000.."])):
        out = place / name
        problem = wv("filter", path, "-o", out, "--add-scores", "-q", *rules, *more)
        found[name] = problem or out / path.name
    (place / "predict").mkdir(exist_ok=True)
    out = place / "predict" / path.name
    found["predict"] = wv("predict", model, path, "--add", "guess", "-o", out) or out
    return found


def base(path: Path, null: str | None = None) -> Path:
    """40 records; the texts of TEXTS in turn, with `null` for None: CSV and TSV have no other one than ""."""
    rows = [{"id": i, "text": null if (text := TEXTS[i % len(TEXTS)]) is None else text} for i in range(1, 41)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def expected(model: Path, path: Path, place: Path) -> dict[str, Expected]:
    """The added columns of each output by the number of the record, from JSON lines as Python reads them."""
    outputs = run_wv(model, path, place)
    found = {}
    for name, added in ADDED.items():
        rows = map(json.loads, Path(outputs[name]).read_text().splitlines())
        found[name] = {str(row["id"]): {each: str(row[each]) for each in added} for row in rows}
    return found


def read(program: str, python: str, paths: list[str]) -> Any:
    command = [python, HERE / "readers_peers.py", "read", program]
    done = subprocess.run(command, input=json.dumps(paths), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # Spark prints, too


def compare(before: Any, after: Any, kind: str, added: list[str], truth: Expected) -> str:
    """What differs between an input and an output, as one program reads them."""
    if "error" in after:
        return str(after["error"])
    if kind != ".parquet" and not truth:  # text without records has no types, and JSON lines no columns
        return (
            "same" if after["types"].keys() in ({*before["types"], *added}, set()) else f"columns {[*after['types']]}"
        )
    wrong = [
        f"{name}: {kind} became {after['types'].get(name, 'nothing')}"
        for name, kind in before["types"].items()
        if after["types"].get(name) != kind
    ]
    rows = {row["id"].removesuffix(".0"): row for row in before["rows"]}
    for row in after["rows"]:
        number = row["id"].removesuffix(".0")
        for name in [*rows[number], *added]:
            right = truth[number][name] if name in added else rows[number][name]
            if row.get(name) != right:
                wrong.append(f"{name} of record {number}: {row.get(name)} for {right}")
    if truth and len(after["rows"]) != sum(number in truth for number in rows):
        wrong.append(f"{len(after['rows'])} records")
    return "; ".join(wrong[:3]) or "same"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with the five packages")
    parser.add_argument("--spark", action="append", default=[], help="Python with pyspark")
    given = parser.parse_args()
    programs = [(name, given.peer) for name in ("pyarrow", "polars", "duckdb", "pandas", "datafusion")]
    programs += [("spark", each) for each in given.spark]
    with tempfile.TemporaryDirectory() as name:
        place, files = Path(name), Path(name, "inputs")
        files.mkdir()
        texts = base(place / "base.jsonl")
        (place / "train.txt").write_text(TRAINING * 20)
        model = place / "model.bin"
        wv("train", "--model", "supervised", place / "train.txt", "-o", model, "--dim", 8, "--epochs", 20, "-q")
        answers = expected(model, texts, place)
        answers_without_null = expected(model, base(place / "filled.jsonl", ""), place)
        for program, python in programs:
            command = [python, HERE / "readers_peers.py", "write", program, texts, files]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        inputs = sorted(path for path in files.iterdir() if path.is_file() and path.name[0] != ".")
        outputs = {path: run_wv(model, path, place) for path in inputs}
        for program, python in programs:
            paths = [*map(str, inputs), *(str(each) for of in outputs.values() for each in of.values())]
            found = read(program, python, [each for each in paths if Path(each).is_file()])
            for path in inputs:
                before = found["files"][str(path)]
                row = {"program": f"{program} {found['version']}", "file": path.name}
                truth = answers if path.suffix in (".parquet", ".jsonl") else answers_without_null
                if "error" in before:
                    row["input"] = before["error"]
                for output, after in [] if "input" in row else outputs[path].items():
                    if isinstance(after, str):
                        row[output] = f"refused: {after.replace(str(files), '')}"
                        continue
                    added = ADDED[output]
                    row[output] = compare(before, found["files"][str(after)], path.suffix, added, truth.get(output, {}))
                print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
