"""What each output layer asks of the models that train it: one row per --loss.

The layers themselves are rows of tables in C: csrc/kernels/word2vec/layers.h (word2vec), supervised.c and prediction.c,
neural_outputs.h (neural language models).
"""

from dataclasses import dataclass

from wv_cli.vectors.fasttext import Loss


@dataclass(frozen=True)
class OutputLayer:
    """`draws`: some outputs are drawn from a noise distribution; `tree`: the outputs are the inner nodes of a Huffman
    tree, one fewer than there are words; with both the words follow the nodes, with neither every word is an output.
    `biases`: each word has a bias, which is learnt. `fasttext`: how fastText's files name it, None where they cannot.
    `step_ids`: ids of words in some 10 ms of work.
    `version` is raised when a step of the layer computes something else: no older checkpoint then goes on."""

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
    "ns": OutputLayer("ns", draws=True),
    "hs": OutputLayer("hs", tree=True, step_ids=20_000),
    "softmax": OutputLayer("softmax", step_ids=100),
    "nce": OutputLayer("ns", draws=True, biases=True, version=2),  # 2: noise may be the word itself
    "ova": OutputLayer("ova"),
    "hs_ns": OutputLayer(None, draws=True, tree=True, step_ids=20_000),
}

# Those of neural language models. Every row has a bias there; the columns are the same words, many more than labels.
NEURAL_LAYERS = {
    "softmax": OutputLayer(None, step_ids=500),
    "nce": OutputLayer(None, draws=True, step_ids=4_000),
    "ns": OutputLayer(None, draws=True, step_ids=4_000),
    "hs": OutputLayer(None, tree=True, step_ids=4_000),
    "importance": OutputLayer(None, draws=True, step_ids=4_000),
    "class": OutputLayer(None, step_ids=2_000),
}
