"""The file of a neural language model (`.lm`): a container (io.container) of the arrays of NeuralModel as in
memory, to be used where they lie in the file. What a model has not is an array of no numbers."""

from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import container
from wv_cli.io.input import Input
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.neural import Classes, NeuralModel, Paths, Words
from wv_cli.lm.vocabulary import SPECIAL, read_words

KIND = "neural-lm"
NOTHING = -1e30  # the bias of rows that are nothing to predict
_LARGEST = 1e9  # sums of products are finite then
_LAYOUT: container.Layout = {
    "starts": ("<i8", ("starts",)),
    "path_starts": ("<i8", ("path starts",)),
    "code_starts": ("<i8", ("code starts",)),
    "input": ("<f4", ("words", "dim")),
    "mixing": ("<f4", ("mixing rows", "mixing columns")),
    "hidden_bias": ("<f4", ("hidden biases",)),
    "output": ("<f4", ("output rows", "output columns")),
    "bias": ("<f4", ("rows",)),
    "path_nodes": ("<i4", ("nodes",)),
    "class_starts": ("<i4", ("class starts",)),
    "path_answers": ("|u1", ("nodes",)),
    "letters": ("|u1", ("letters",)),
}


def write(stream: BinaryIO, model: NeuralModel) -> None:
    outputs = model.outputs
    paths = outputs if isinstance(outputs, Paths) else None
    tied = model.output is model.input
    arrays: dict[str, NDArray[Any]] = {
        "starts": model.words.starts,
        "path_starts": paths.start if paths else np.empty(0, np.int64),
        "code_starts": paths.codes if paths and paths.codes is not None else np.empty(0, np.int64),
        "input": model.input,
        "mixing": model.mixing,
        "hidden_bias": model.hidden_bias if model.hidden_bias is not None else np.empty(0, np.float32),
        "output": np.empty((0, 0), np.float32) if tied else model.output,
        "bias": model.bias,
        "path_nodes": paths.node if paths else np.empty(0, np.int32),
        "class_starts": outputs.start if isinstance(outputs, Classes) else np.empty(0, np.int32),
        "path_answers": paths.answer if paths else np.empty(0, np.uint8),
        "letters": np.frombuffer(model.words.blob, np.uint8),
    }
    container.write(stream, KIND, {"order": model.order, "loss": model.loss}, arrays, aligned=True)


def read(source: Input) -> NeuralModel:
    """The model in a file, which is mapped where that can be. Raises BadFile for a file that is damaged, or whose
    arrays do not fit each other."""
    reader = container.Reader(source, KIND)
    order, loss = reader.fact("order", int, 2, LARGEST_ORDER), reader.fact("loss", str)
    sizes = reader.expect(_LAYOUT, "a neural language model")
    if sizes["words"] + 1 != sizes["starts"] or sizes["words"] <= len(SPECIAL):
        reader.refuse("the sizes of its arrays do not fit each other")
    arrays = reader.views()
    matrices = ("input", "mixing", "hidden_bias", "output")
    reader.require_finite({name: arrays[name] for name in matrices}, _LARGEST)
    reader.require_finite({"bias": arrays["bias"]}, -2 * NOTHING)
    words = read_words(reader, arrays)
    if not words.is_a_vocabulary():
        reader.refuse("a word is listed twice", reader.offset("letters"))
    _require_shapes(reader, order, sizes)
    output = arrays["output"] if sizes["output columns"] else arrays["input"]
    hidden_bias = arrays["hidden_bias"] if sizes["hidden biases"] else None
    outputs = _outputs(reader, arrays, len(words), len(output))
    return NeuralModel(
        words, order, loss, arrays["input"], arrays["mixing"], hidden_bias, output, arrays["bias"], outputs
    )


def _require_shapes(reader: container.Reader, order: int, sizes: dict[str, int]) -> None:
    """A context of order - 1 words, mixed to a vector that the rows of the output can be multiplied with."""
    length, dim, columns = (order - 1) * sizes["dim"], sizes["dim"], sizes["output columns"]
    diagonal = (sizes["mixing rows"], sizes["mixing columns"]) == (order - 1, dim) and not sizes["hidden biases"]
    hidden = dim if diagonal else sizes["mixing rows"]
    fits = diagonal or sizes["mixing columns"] == length
    if sizes["hidden biases"]:
        fits = fits and sizes["hidden biases"] == hidden and columns in (hidden, hidden + length)
    else:
        fits = fits and hidden == dim and columns in (0, dim)
    rows = sizes["output rows"] if columns else sizes["words"]
    if not fits or dim < 1 or sizes["rows"] != rows:
        reader.refuse("the sizes of its arrays do not fit each other")


def _outputs(
    reader: container.Reader, arrays: dict[str, NDArray[Any]], words: int, rows: int
) -> Words | Paths | Classes:
    def refuse(name: str) -> NoReturn:
        reader.refuse(f"the array {name} is not that of a model", reader.offset(name))

    start, node, answer = (arrays[name] for name in ("path_starts", "path_nodes", "path_answers"))
    classes = arrays["class_starts"]
    codes = arrays["code_starts"]
    if len(codes) and (len(codes) != words + 1 or codes[0] != 0 or (np.diff(codes) < 0).any() or not len(start)):
        refuse("code_starts")
    if len(start):
        if (
            len(start) != (codes[-1] if len(codes) else words) + 1
            or start[0] != 0
            or start[-1] != len(node)
            or (np.diff(start) < 0).any()
        ):
            refuse("path_starts")
        if not len(node) or node.min() < 0 or node.max() >= rows:
            refuse("path_nodes")
        if answer.max() > 1:
            refuse("path_answers")
        return Paths(start, node, answer, codes if len(codes) else None)
    if len(classes):
        if classes[0] != 0 or classes[-1] != words or (np.diff(classes) < 1).any() or rows != words + len(classes) - 1:
            refuse("class_starts")
        return Classes(classes)
    if rows != words or len(node) or arrays["bias"][SENTENCE] > NOTHING / 10:
        reader.refuse("the sizes of its arrays do not fit each other")
    return Words()
