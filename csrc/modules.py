"""Writes the C of the extension modules: python csrc/modules.py DECLARATIONS FOLDER

One run of Cython makes FOLDER/NAME.c of every wv_cli/NAME.pyx, since reading its own library takes it longer than
reading ours, and FOLDER/_shared.c, the module wv_cli._shared that holds what each of them would otherwise compile again
(memoryviews). DECLARATIONS is where declarations.py has written.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CYTHON = [sys.executable, "-m", "cython", "-3"]
DIRECTIVES = "auto_pickle=False,autotestdict=False,show_performance_hints=False"


def main() -> None:
    declarations, folder = map(Path, sys.argv[1:])
    sources = sorted(HERE.glob("wv_cli/*.pyx"))
    with tempfile.TemporaryDirectory(dir=folder) as made:
        places = ["-I", str(HERE), "-I", str(declarations), "-o", f"{made}/"]
        for call in (
            ["--generate-shared", f"{made}/_shared.c"],
            ["-X", DIRECTIVES, "--shared", "wv_cli._shared", *places, *map(str, sources)],
        ):
            done = subprocess.run([*CYTHON, *call], check=False)
            if done.returncode:
                sys.exit(done.returncode)
        for path in Path(made).iterdir():
            target = folder / path.name
            # An unchanged file keeps its time, so that a change in one module does not compile the others again.
            if not target.exists() or target.read_bytes() != path.read_bytes():
                path.replace(target)


if __name__ == "__main__":
    main()
