"""What the installed package says of itself: version, author, licences with their texts."""

import re
import tomllib
from importlib.metadata import distribution

import wv_cli
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
META = distribution("wv-cli").metadata


def test_one_version() -> None:
    assert META["Version"] == PROJECT["version"] == wv_cli.__version__
    assert f"\nversion: {wv_cli.__version__}\n" in (ROOT / "data" / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {wv_cli.__version__}\n" in (ROOT / "data" / "CHANGELOG.md").read_text(encoding="utf-8")


def test_author_and_licence_are_in_the_metadata() -> None:
    assert META["License-Expression"] == PROJECT["license"]
    assert META["Author"] == PROJECT["authors"][0]["name"]


def test_every_licence_file_is_there() -> None:
    named = META.get_all("License-File")
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "wv_cli" / "licenses").iterdir()}
    assert named is not None and set(named) == files
    installed = {str(path): path for path in distribution("wv-cli").files or []}
    for name in named:
        path = next(path for text, path in installed.items() if text.endswith(f"dist-info/licenses/{name}"))
        assert path.locate().read_bytes() == (ROOT / name).read_bytes()  # type: ignore[attr-defined]


def test_every_licence_of_the_data_is_in_the_expression_and_told() -> None:
    told = (ROOT / "wv_cli" / "licenses" / "DATA.txt").read_text(encoding="utf-8")
    table = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|.*\| ([^|]+) \|$", table, re.MULTILINE)
    assert len(rows) == 5
    for file, licence in rows:
        assert file in told and (ROOT / "data" / file).exists()
        assert licence.replace(" ", "-") in PROJECT["license"].split(" AND ") and licence.replace(" ", "-") in told
