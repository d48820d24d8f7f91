"""What several ranks cannot do together is refused, not left out."""

from typing import Any

import pytest

from wv_cli.errors import UsageError
from wv_cli.jobs.job import build
from wv_cli.jobs.supervised import SupervisedJob
from wv_cli.jobs.word2vec import Word2vecJob


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"validation": "pairs.txt"}, "--validation"),
        ({"autotune_validation": "pairs.txt"}, "--autotune-validation"),
        ({"continue_": "a.state"}, "--continue"),
        ({"save_state": "a.state"}, "--save-state"),
        ({"preset": "quality"}, "--preset"),
        ({"deterministic": True}, "--deterministic"),
    ],
    ids=str,
)
def test_refused_with_ranks_only(options: dict[str, Any], name: str) -> None:
    build(Word2vecJob, {"inputs": ("text.txt",), "outputs": ("out.vec",)}).refuse_sharing(2)
    job = build(Word2vecJob, {"inputs": ("text.txt",), "outputs": ("out.vec",), **options})
    with pytest.raises(UsageError, match=f"{name} is for one process, not for 2 ranks; leave it out"):
        job.refuse_sharing(2)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"autotune_validation": "valid.txt"}, "--autotune-validation is"),
        ({"continue_": "a.state"}, "--continue is"),
        ({"save_state": "a.state"}, "--save-state is"),
        ({"dedup": True}, "--dedup is"),
        ({"learn_phrases": 1}, "--learn-phrases is"),
        ({"fasttext_files": True}, "fastText's command line is"),
    ],
    ids=str,
)
def test_refused_with_ranks_of_a_classifier(options: dict[str, Any], name: str) -> None:
    build(SupervisedJob, {"inputs": ("text.txt",), "outputs": ("out.bin",)}).refuse_sharing(2)
    job = build(SupervisedJob, {"inputs": ("text.txt",), "outputs": ("out.bin",), **options})
    with pytest.raises(UsageError, match=f"{name} for one process, not for 2"):
        job.refuse_sharing(2)


def test_phrases_are_found_before_ranks_start() -> None:
    job = build(Word2vecJob, {"inputs": ("text.txt",), "outputs": ("out.vec",), "learn_phrases": 2})
    with pytest.raises(UsageError, match=r"--learn-phrases is for one process, not for 2 ranks; .* give --phrases"):
        job.refuse_sharing(2)
