"""The command lines of the guides that change the imports of a script of fastText's or gensim's."""

import subprocess

import pytest

from tests.guides.console import blocks
from wv_cli.guides import guide_text

FASTTEXT = [
    ("import fasttext", "import wv_cli.fasttext as fasttext"),
    ("import fasttext  # a note", "import wv_cli.fasttext as fasttext  # a note"),
    ("    import fasttext", "    import wv_cli.fasttext as fasttext"),
    ("import fasttext as ft", "import wv_cli.fasttext as ft"),
    ("import fasttext.util", "import wv_cli.fasttext as fasttext"),
    ("import fasttext.FastText as F", "import wv_cli.fasttext.FastText as F"),
    ("from fasttext import load_model", "from wv_cli.fasttext import load_model"),
    ("from fasttext.FastText import _FastText", "from wv_cli.fasttext.FastText import _FastText"),
    ("import fasttext_tools", "import fasttext_tools"),
    ("from fasttext_tools import x", "from fasttext_tools import x"),
]
GENSIM = [
    ("import gensim", "import wv_cli.gensim as gensim"),
    ("import gensim.models.word2vec as w", "import wv_cli.gensim.models.word2vec as w"),
    ("import gensim.downloader", "import wv_cli.gensim as gensim"),
    ("from gensim.models import Word2Vec", "from wv_cli.gensim.models import Word2Vec"),
    ("from gensimx import x", "from gensimx import x"),
]


@pytest.mark.parametrize(("guide", "lines"), [("fasttext-module", FASTTEXT), ("gensim", GENSIM)])
def test_one_sed_changes_the_imports(guide, lines, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("".join(f"{before}\n" for before, _ in lines))
    recipe = next(body for body in blocks(guide_text(guide), "text") if body.startswith("sed "))
    subprocess.run(["bash", "-c", recipe], cwd=tmp_path, check=True)
    assert script.read_text().splitlines() == [after for _, after in lines]
    for _, after in lines:
        if "wv_cli" in after:
            exec(after.strip(), {})
