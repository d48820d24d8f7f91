"""What several ranks cannot do together is refused, not left out."""

from types import SimpleNamespace
from typing import Any

import pytest

from wv_cli.errors import UsageError
from wv_cli.jobs.supervised import SupervisedSession
from wv_cli.jobs.word2vec import Word2vecSession
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.text.config import PhraseLearning, VocabConfig


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"validation": "pairs.txt"}, "--validation"),
        ({"autotune_validation": "pairs.txt"}, "--autotune-validation"),
        ({"continue_": "a.state"}, "--continue"),
        ({"save_state": "a.state"}, "--save-state"),
        ({"preset": "quality"}, "--preset"),
        ({"config": Word2vecConfig(deterministic=True)}, "--deterministic"),
    ],
    ids=str,
)
def test_refused_with_ranks_only(options: dict[str, Any], name: str) -> None:
    given = {"config": Word2vecConfig(), **options}
    session = Word2vecSession(inputs=("text.txt",), outputs=("out.vec",), vocab_config=VocabConfig(), **given)
    session.__dict__["ranks"] = None
    session.check_options()
    session.__dict__["ranks"] = SimpleNamespace(size=2, rank=0)
    with pytest.raises(UsageError, match=f"{name} is for one process, not for 2 ranks; leave it out"):
        session.check_options()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"autotune_validation": "valid.txt"}, "--autotune-validation is"),
        ({"continue_": "a.state"}, "--continue is"),
        ({"save_state": "a.state"}, "--save-state is"),
        ({"vocab_config": VocabConfig(dedup=True)}, "--dedup is"),
        ({"phrase_learning": PhraseLearning(learn_phrases=1)}, "--learn-phrases is"),
        ({"fasttext_files": True}, "fastText's command line is"),
    ],
    ids=str,
)
def test_refused_with_ranks_of_a_classifier(options: dict[str, Any], name: str) -> None:
    given = {"vocab_config": VocabConfig(), **options}
    session = SupervisedSession(inputs=("text.txt",), outputs=("out.bin",), config=SupervisedConfig(), **given)
    session.__dict__["ranks"] = None
    session.check_options()
    session.__dict__["ranks"] = SimpleNamespace(size=2, rank=0)
    with pytest.raises(UsageError, match=f"{name} for one process, not for 2"):
        session.check_options()


def test_phrases_are_found_before_ranks_start() -> None:
    learning = PhraseLearning(learn_phrases=2)
    session = Word2vecSession(
        inputs=("text.txt",), outputs=("out.vec",), config=Word2vecConfig(), phrase_learning=learning
    )
    session.__dict__["ranks"] = SimpleNamespace(size=2, rank=0)
    with pytest.raises(UsageError, match=r"--learn-phrases is for one process, not for 2 ranks; .* give --phrases"):
        session.check_options()
