"""Writes the C of the extension modules, and their stubs: python csrc/modules.py FOLDER STUBS

First stubs.py makes STUBS/NAME.pyi of every wv_cli/NAME.pyx, and declarations.py makes of the headers, below
FOLDER/declarations, what the modules cimport.

Then one run of Cython makes FOLDER/NAME.c of every wv_cli/NAME.pyx, since reading its own library takes it longer than
reading ours, and FOLDER/_shared.c, the module wv_cli._shared that holds what each of them would otherwise compile again
(memoryviews).

A module is made again when its .pyx has changed, and all of them when a .pxd or Cython itself has: the file
FOLDER/NAME.made has the time and Cython's version.
"""

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import declarations
import stubs

HERE = Path(__file__).parent
CYTHON = [sys.executable, "-m", "cython", "-3"]
DIRECTIVES = "annotation_typing=False,auto_pickle=False,autotestdict=False,show_performance_hints=False"


def is_current(stamp: Path, sources: list[Path]) -> bool:
    if not stamp.exists() or stamp.read_text() != version("cython"):
        return False
    return all(source.stat().st_mtime < stamp.stat().st_mtime for source in sources)


def main() -> None:
    folder, stub_folder = map(Path, sys.argv[1:])
    made_of_headers = folder / "declarations"
    try:
        declarations.write(HERE, made_of_headers)
        stubs.write(HERE, stub_folder)
    except (declarations.NotUnderstood, stubs.NoType) as error:
        sys.exit(str(error))
    common = [Path(__file__), *HERE.glob("wv_cli/*.pxd"), *made_of_headers.rglob("*.pxd")]
    sources = sorted(HERE.glob("wv_cli/*.pyx"))
    sources = [source for source in sources if not is_current(folder / f"{source.stem}.made", [source, *common])]
    calls, names = [], [source.stem for source in sources]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        if not is_current(folder / "_shared.made", [Path(__file__)]):
            names.append("_shared")
            calls.append(["--generate-shared", f"{made}/_shared.c"])
        if sources:
            places = ["-I", str(HERE), "-I", str(made_of_headers), "-o", f"{made}/"]
            calls.append(["-X", DIRECTIVES, "--shared", "wv_cli._shared", *places, *map(str, sources)])
        stamps = [Path(made, f"{name}.made") for name in names]
        for stamp in stamps:  # before Cython reads: a source that is changed meanwhile is made once more
            stamp.write_text(version("cython"))
        for call in calls:
            done = subprocess.run([*CYTHON, *call], check=False)
            if done.returncode:
                sys.exit(done.returncode)
        for path in Path(made).iterdir():
            target = folder / path.name
            # An unchanged file keeps its time, so that a change in one module does not compile the others again.
            if path in stamps or not target.exists() or target.read_bytes() != path.read_bytes():
                path.replace(target)


if __name__ == "__main__":
    main()
