"""What each output layer asks of the models that train it: one row per --loss.

The layers themselves are rows of tables in C: csrc/kernels/word2vec/layers.h (word2vec), supervised.c and prediction.c,
neural_outputs.h (neural language models).
"""

from typing import NamedTuple

from wv_cli.vectors.fasttext import Loss


class OutputLayer(NamedTuple):
    """`summary` says what it computes. `draws`: some outputs are drawn from a noise distribution; `tree`: the outputs
    are the inner nodes of a Huffman tree, one fewer than there are words; with both the words follow the nodes, with
    neither every word is an output. `biases`: each word has a bias, which is learnt. `fasttext`: how fastText's files
    name it, None where they cannot. `step_ids`: ids of words in some 10 ms of work.
    `version` is raised when a step of the layer computes something else: no older checkpoint then goes on."""

    summary: str
    fasttext: Loss | None
    draws: bool = False
    tree: bool = False
    biases: bool = False
    step_ids: int = 40_000
    version: int = 1

    @property
    def takes_all(self) -> bool:
        return not (self.draws or self.tree)

    @property
    def word_step_ids(self) -> int:
        """step_ids of a model whose outputs are the words of a text: many more than there are labels."""
        return _STEP_IDS_OF_ALL_WORDS if self.takes_all else self.step_ids


_STEP_IDS_OF_ALL_WORDS = 100

LAYERS = {
    "ns": OutputLayer("Negative sampling: the word against a few drawn from a noise distribution.", "ns", draws=True),
    "hs": OutputLayer("Hierarchical softmax over a Huffman tree of the outputs.", "hs", tree=True, step_ids=20_000),
    "softmax": OutputLayer("Full softmax over all outputs.", "softmax", step_ids=100),
    "nce": OutputLayer(
        "Noise-contrastive estimation: as ns, with scores that estimate probabilities.",
        "ns",
        draws=True,
        biases=True,
        version=2,
    ),  # 2: noise may be the word itself
    "ova": OutputLayer("One yes or no for each output.", "ova"),
    "hs_ns": OutputLayer(
        "Hierarchical softmax and negative sampling at once.", None, draws=True, tree=True, step_ids=20_000
    ),
}

# Those of neural language models. Every row has a bias there; the columns are the same words, many more than labels.
NEURAL_LAYERS = {
    "softmax": OutputLayer("Full softmax over all words.", None, step_ids=500),
    "nce": OutputLayer(
        "Noise-contrastive estimation: scores estimate probabilities without their sum.",
        None,
        draws=True,
        step_ids=4_000,
    ),
    "ns": OutputLayer(
        "Negative sampling: the word against a few drawn from a noise distribution.", None, draws=True, step_ids=4_000
    ),
    "hs": OutputLayer("Hierarchical softmax over a tree of the words.", None, tree=True, step_ids=4_000),
    "importance": OutputLayer(
        "Softmax whose sum over all words is estimated by importance sampling.", None, draws=True, step_ids=4_000
    ),
    "class": OutputLayer("One softmax over classes of words, one over the words of the class.", None, step_ids=2_000),
}
