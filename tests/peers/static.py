"""What libraries of static embeddings make of texts, and `wv` of the folders in the layout of each."""

import functools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.peers import Answers, package, wv

WORDS = {"[PAD]": [0, 0, 0, 0], "[UNK]": [0, 0, 0, 9], "cat": [5, 0.1, 0, 0], "dog": [0, 3, 4, 0]}
TEXTS = {
    "an empty text": "",
    "unknown words alone": "zzz qqq",
    "a known and an unknown word": "cat zzz",
    "a word behind 511 unknown ones": "zzz " * 511 + "cat",
    "a word behind 512 unknown ones": "zzz " * 512 + "cat",
    "two words, 3,000 blanks between them": "cat" + " " * 3000 + "dog",
}
Encode = Callable[[list[str]], NDArray[Any]]


@functools.cache
def folder(*, integers: bool = False, transformers: bool = False) -> str:
    """A folder in the layout of model2vec, or of sentence-transformers, that lasts as long as the process. `integers`
    are int8 as model2vec writes them."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = tempfile.TemporaryDirectory()
    _KEPT.append(made)
    path = Path(made.name)
    tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path / "tokenizer.json"))
    rows = np.array([*WORDS.values()], np.float32)
    scaled = np.rint(rows * (127 / np.abs(rows).max())).astype(np.int8)
    name = "embedding.weight" if transformers else "embeddings"
    written = scaled if integers else rows
    header = {name: {"dtype": "I8" if integers else "F32", "shape": rows.shape, "data_offsets": [0, written.nbytes]}}
    head = json.dumps(header).encode()
    (path / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + written.tobytes())
    if transformers:
        kind = "sentence_transformers.models.StaticEmbedding"
        (path / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": kind}]))
    else:
        (path / "config.json").write_text(json.dumps(_CONFIG))
    return made.name


_CONFIG = {"model_type": "model2vec", "normalize": False, "hidden_dim": 4, "max_length": 512}
_KEPT: list["tempfile.TemporaryDirectory[str]"] = []
_ROWS = {
    "zeros": np.zeros(4), "the row of `[UNK]`": WORDS["[UNK]"], "the row of `cat`": WORDS["cat"],
    "the mean of `cat` and `[UNK]`": np.mean([WORDS["cat"], WORDS["[UNK]"]], 0),
    "the mean of 512 tokens": np.array([5, 0.1, 0, 9 * 511]) / 512,
    "the mean of 513 tokens": np.array([5, 0.1, 0, 9 * 512]) / 513,
    "the mean of `cat` and `dog`": np.mean([WORDS["cat"], WORDS["dog"]], 0),
}  # fmt: skip


def _described(vector: NDArray[Any]) -> str:
    return next(name for name, row in _ROWS.items() if np.allclose(vector, row, atol=1e-5))


def answers(encode: Encode, of_integers: Encode, shortened: Encode) -> Callable[[str], str]:
    """By functions that encode texts as they are, with rows of int8, and with two numbers of unit vectors."""

    def answer(question: str) -> str:
        text = TEXTS.get(question)
        if text is not None:
            return _described(encode([text])[0])
        if question == "no text at all":
            try:
                return f"an array of shape {encode([]).shape}"
            except ValueError:
                return "`ValueError`"
        if question == "a table of int8":
            try:
                return "the integers" if of_integers(["cat"])[0, 0] > 20 else "unit vectors"
            except RuntimeError:
                return "`RuntimeError`"
        length = np.linalg.norm(shortened(["dog"])[0])
        return "unit length" if np.isclose(length, 1) else f"length {length:.1f}"

    return answer


def _model2vec() -> Callable[[str], str]:
    def encode(texts: list[str], *, integers: bool = False, **options: Any) -> NDArray[Any]:
        from model2vec import StaticModel

        return np.asarray(StaticModel.from_pretrained(folder(integers=integers), **options).encode(texts))

    return answers(
        encode,
        lambda texts: encode(texts, integers=True),
        lambda texts: encode(texts, normalize=True, dimensionality=2),
    )


def _sentence_transformers() -> Callable[[str], str]:
    def encode(texts: list[str], *, integers: bool = False, normalize: bool = False, **options: Any) -> NDArray[Any]:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(folder(integers=integers, transformers=True), device="cpu", **options)
        return np.asarray(model.encode(texts, normalize_embeddings=normalize))

    return answers(
        encode,
        lambda texts: encode(texts, integers=True),
        lambda texts: encode(texts, normalize=True, truncate_dim=2),
    )


def _wv(*, transformers: bool) -> Callable[[str], str]:
    def encode(texts: list[str], *, integers: bool = False, **options: Any) -> NDArray[Any]:
        import wv_cli

        path = folder(integers=integers, transformers=transformers)
        return wv_cli.load_encoder(path).encode(texts, **options)

    return answers(
        encode,
        lambda texts: encode(texts, integers=True),
        lambda texts: encode(texts, normalize_embeddings=True, truncate_dim=2),
    )


TABLE = Answers(
    "question",
    [*TEXTS, "no text at all", "a table of int8", "two dimensions, normalized"],
    [
        package("model2vec==0.10.0", _model2vec()),
        wv(_wv(transformers=False), "wv, model2vec's folder"),
        package("sentence-transformers==6.2.0", _sentence_transformers()),
        wv(_wv(transformers=True), "wv, sentence-transformers' folder"),
    ],
)
