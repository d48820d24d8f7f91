"""What the installed package says of itself: version, author, licences with their texts."""

import lzma
import re
import tomllib
from importlib.metadata import distribution

import wv_cli
from tests.conftest import ROOT
from wv_cli.guides import guide_text

WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = WHOLE["project"]
META = distribution("wv-toolkit").metadata
SCIKIT = WHOLE["tool"]["scikit-build"]
LICENSE = SCIKIT["metadata"]["license"]["result"]
OF_PROGRAM = {"MIT", "Unicode-3.0", "Apache-2.0"}


def test_one_version() -> None:
    """wv_cli/__init__.py has it; whatever else names it says the same."""
    assert META["Version"] == wv_cli.__version__ and "version" not in PROJECT
    assert f"\nversion: {wv_cli.__version__}\n" in (ROOT / "data" / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {wv_cli.__version__}\n" in guide_text("changes")


def test_author_and_licence_are_in_the_metadata() -> None:
    assert META["License-Expression"] == LICENSE
    assert META["Author"] == PROJECT["authors"][0]["name"]


def test_every_licence_file_is_there() -> None:
    named = META.get_all("License-File")
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "wv_cli" / "licenses").iterdir()}
    assert named is not None and set(named) == files
    installed = {str(path): path for path in distribution("wv-toolkit").files or []}
    for name in named:
        path = next(path for text, path in installed.items() if text.endswith(f"dist-info/licenses/{name}"))
        assert path.locate().read_bytes() == (ROOT / name).read_bytes()  # type: ignore[attr-defined]


def test_every_licence_of_the_data_is_in_the_expression_and_told() -> None:
    told = (ROOT / "wv_cli" / "licenses" / "DATA.txt").read_text(encoding="utf-8")
    table = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\| ([^|]+) \|$", table, re.MULTILINE)
    assert len(rows) == 7
    travel = [licence.replace(" ", "-") for _, what, licence in rows if "repository only" not in what]
    assert {*OF_PROGRAM, *travel} == set(LICENSE.split(" AND "))
    for file, _, licence in rows:
        assert file in told and (ROOT / "data" / file).exists() and licence.replace(" ", "-") in told


def test_every_licence_of_the_program_is_told() -> None:
    told = (ROOT / "wv_cli" / "licenses" / "PROGRAM.txt").read_text(encoding="utf-8")
    for path in re.findall(r"^(?:csrc|wv_cli)/\S+", told, re.MULTILINE):
        assert (ROOT / path).exists()
    assert all(name in told for name in OF_PROGRAM)


def test_a_wheel_without_the_sample_data_names_the_licences_of_the_program() -> None:
    """WV_SAMPLE_DATA=0 is one setting."""
    (without,) = SCIKIT["overrides"]
    assert without["if"] == {"env": {"WV_SAMPLE_DATA": "^0$"}} and without["cmake"]["define"] == {
        "WV_SAMPLE_DATA": "OFF"
    }
    assert set(without["metadata"]["license"]["result"].split(" AND ")) == OF_PROGRAM
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "wv_cli" / "licenses").iterdir()}
    assert files == {*without["metadata"]["license-files"]["result"], *without["wheel"]["exclude"]}


def test_the_text_of_the_demo_is_the_beginning_of_the_large_one() -> None:
    corpus = ROOT / "data" / "corpus"
    beginning = lzma.decompress((corpus / "wiki8-demo.txt.xz").read_bytes())
    with lzma.open(corpus / "wiki8-slice.txt.xz") as whole:
        assert whole.read(len(beginning)) == beginning and beginning.count(b"\n") == 40_000


def test_the_platforms_named_are_those_built() -> None:
    """One wheel for the first Python that is supported and all later ones."""
    wheels = WHOLE["tool"]["cibuildwheel"]
    first = PROJECT["requires-python"].removeprefix(">=3.")
    assert (
        SCIKIT["wheel"]["py-api"] == f"cp3{first}" and wheels["build"] == f"cp3{first}-manylinux_* cp3{first}-macosx_*"
    )
    assert f"Programming Language :: Python :: 3.{first}" in PROJECT["classifiers"]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    built = re.search(r"wheels:\n.*?os: \[(.*?)\]", workflow, re.DOTALL)
    assert built and {each.partition("-")[0] for each in built[1].split(", ")} == {"ubuntu", "macos"}
    systems = {each for each in PROJECT["classifiers"] if each.startswith("Operating System")}
    assert systems == {"Operating System :: MacOS", "Operating System :: POSIX :: Linux"}


def test_the_conda_recipe_says_what_pyproject_says() -> None:
    recipe = (ROOT / ".github" / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert f'  version: "{wv_cli.__version__}"\n' in recipe and f"  name: {PROJECT['name']}\n" in recipe
    assert f"  license: {LICENSE}\n" in recipe
    needed = [f"python {PROJECT['requires-python']}", *PROJECT["dependencies"], *WHOLE["build-system"]["requires"]]
    for requirement in needed:
        assert f"    - {requirement.replace('>=', ' >=').replace('  ', ' ')}\n" in recipe
