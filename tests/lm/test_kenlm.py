"""KenLM itself, where it is installed (`pip install kenlm`): it reads our files and says the same of every word."""

import pytest

from tests.lm.golden import FOLDER, TINY, trained
from wv_cli.lm.config import LmConfig
from wv_cli.lm.files import load, save
from wv_cli.lm.scoring import Scorer
from wv_cli.text.source import Source

kenlm = pytest.importorskip("kenlm", reason="KenLM is not installed")
VARIANTS = {
    "kneser-ney": {},
    "pruned": {"prune": "0,0,1"},
    "by entropy": {"prune_entropy": 1e-7},
    "katz": {"smoothing": "katz", "discount_fallback": True},
    "witten-bell": {"smoothing": "witten-bell"},
    "add-k": {"smoothing": "add-k", "add_k": 0.1},
}


@pytest.fixture(scope="module")
def sentences():
    return b"".join(Source([str(FOLDER / "wiki.test200.txt.xz")])).decode().splitlines()


def require_agreement(model, path, sentences):
    """Score, length of the n-gram and OOV of every word and end, of the model and of KenLM with the file."""
    peer = kenlm.Model(str(path))
    theirs = [answer for line in sentences for answer in peer.full_scores(line)]
    parts = list(Scorer(model).read(["".join(f"{line}\n" for line in sentences).encode()]))
    ours = [
        answer
        for part in parts
        for answer in zip(part.scores.tolist(), part.lengths.tolist(), part.oov.tolist(), strict=True)
    ]
    assert len(ours) == len(theirs) > 10_000
    assert [answer[0] for answer in ours] == pytest.approx([answer[0] for answer in theirs], abs=1e-6)
    assert [answer[2] for answer in ours] == [answer[2] for answer in theirs]
    lengths = [(one[1], other[1]) for one, other in zip(ours, theirs, strict=True)]
    # KenLM adds the ends of n-grams that are not listed, and takes them for found.
    closed = getattr(model, "packed", model).closed
    assert all(one == other or (one < other and not closed) for one, other in lengths)


@pytest.mark.parametrize("order", [2, 3, 5])
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_our_models(variant, order, sentences, tmp_path):
    options = VARIANTS[variant]
    if variant == "pruned" and order == 2:
        options = {"prune": "0,1"}
    model = trained(TINY, LmConfig(order=order, **options)).model
    save(str(tmp_path / "model.arpa"), model)
    require_agreement(model, tmp_path / "model.arpa", sentences)


def test_a_quantized_model(sentences, tmp_path):
    save(str(tmp_path / "model.lm"), trained(TINY, LmConfig(order=4)).model, quantize=6)
    model = load(tmp_path / "model.lm")
    save(str(tmp_path / "model.arpa"), model)
    require_agreement(model, tmp_path / "model.arpa", sentences)


def test_their_model(sentences):
    path = FOLDER / "micro.o3.arpa"
    require_agreement(load(path), path, sentences)
