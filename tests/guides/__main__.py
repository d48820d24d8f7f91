"""Runs the commands of documents and shows where their output differs from what the text shows (console.py):

python -m tests.guides FILE.md             every command, and what is wrong with it
python -m tests.guides --write FILE.md     puts the output of this run in the place of what is shown
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.guides.console import check_python, make_path, problem, rewrite, run, steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="+", type=Path, metavar="FILE.md")
    parser.add_argument("--write", action="store_true", help="put the output into the blocks")
    asked = parser.parse_args()
    bad = 0
    for document in asked.documents:
        text = document.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as work:
            (folder := Path(work) / "work").mkdir()
            path = make_path(Path(work) / "bin")
            results = []
            for step in steps(text):
                results.append(run(step, folder, path))
                wrong = problem(step, results[-1])
                bad += bool(wrong)
                sys.stdout.write(f"{wrong}\n" if wrong else f"as shown: {step.typed[0]}\n")
                sys.stdout.flush()
                if results[-1].code:
                    break
            wrong = check_python(text, folder)
            bad += bool(wrong)
            sys.stdout.write(wrong)
        if asked.write:
            document.write_text(rewrite(text, results), encoding="utf-8")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
