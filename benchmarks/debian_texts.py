"""Texts of an installed Debian for suite `duplicates`: `debian_texts.py FILE` writes JSON lines.

Licenses are /usr/share/common-licenses and the copyright files of packages. `changelog` are their Debian changelogs,
`manual` the manual pages of section 1 without the commands of roff. A line of the source `packages` has the name,
version and maintainer of one. `dpkg -l` tells which packages there are; the record has the file's size and digest.
"""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LEAST = 450  # words: a template has up to 400
_ROFF = re.compile(r"\\f.|\\[&/,|^]|\\\((?:..)|\\\*\(..|\\s[-+]?\d")
SOURCES = {
    "license": ("/usr/share/common-licenses/*", "/usr/share/doc/*/copyright"),
    "changelog": ("/usr/share/doc/*/changelog.Debian.gz",),
    "manual": ("/usr/share/man/man1/*.1.gz",),
}


def read(path: Path) -> str:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    if "/man/" not in str(path):
        return text
    lines = (line for line in text.splitlines() if not line.startswith((".", "'")))
    return _ROFF.sub("", "\n".join(lines)).replace("\\-", "-")


def texts() -> Iterator[dict[str, str]]:
    for source, patterns in SOURCES.items():
        seen: set[str] = set()
        for pattern in patterns:
            for path in sorted(Path("/").glob(pattern[1:])):
                text = " ".join(read(path).split()) if path.is_file() and not path.is_symlink() else ""
                if len(text.split()) >= LEAST and text not in seen:
                    seen.add(text)
                    yield {"source": source, "name": str(path), "text": text}
    listed = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package}\t${Version}\t${Maintainer}\n"], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        yield {"source": "packages", "name": line.split("\t")[0], "text": line}


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for each in texts():
            file.write(json.dumps(each) + "\n")
