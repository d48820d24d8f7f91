"""BERT's network (Devlin et al. 2019, arXiv 1810.04805) of a model.safetensors, with NumPy: no framework is needed.

    x  = LN(word + type 0 + position)                        layer 0
    x <- LN(x + softmax(q k^T / sqrt(head) + mask) v W + b)  twelve times, or as many as config.json says:
    x <- LN(x + gelu(x W + b) W + b)                         layers 1, 2, ...

LN(y) = (y - mean) / sqrt(var + eps) * w + b over the last axis. gelu is the exact one, x/2 (1 + erf(x / sqrt 2)), or
its tanh form where config.json asks for that. Masked scores are -1e9. All in float32; weights are [out, in], as they
are published, with or without a prefix such as `bert.`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, show_value
from wv_cli.io.folders import Settings
from wv_cli.vectors.formats.safetensors import Tensors

Floats = NDArray[np.float32]
_WORDS = "embeddings.word_embeddings.weight"
_BLOCK_VALUES = 1 << 16  # what an activation works on at once: it stays in the cache
_MASKED = np.float32(-1e9)
# erf(x) = x P(x^2) / Q(x^2) for |x| <= 4, beyond which it is 1 in float32; the highest power first. A minimax fit,
# within 4e-7 (the coefficients are those of Eigen's and XLA's float erf).
_P = (
    -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05, -7.34990630326855e-04,
    -2.95459980854025e-03, -1.60960333262415e-02,
)  # fmt: skip
_Q = (-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02)


def erf(x: Floats) -> Floats:
    """The error function of float32 numbers, within 4e-7."""
    x = np.clip(x, -4, 4)
    square = x * x
    upper, lower = np.full_like(x, _P[0]), np.full_like(x, _Q[0])
    for each in _P[1:]:
        upper *= square
        upper += np.float32(each)
    for each in _Q[1:]:
        lower *= square
        lower += np.float32(each)
    upper *= x
    upper /= lower
    return upper


def _gelu(x: Floats) -> Floats:
    result: Floats = x * np.float32(0.5)
    result *= 1 + erf(x * np.float32(np.sqrt(0.5)))
    return result


def _gelu_tanh(x: Floats) -> Floats:
    inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x * x * x)
    result: Floats = x * np.float32(0.5)
    result *= 1 + np.tanh(inner)
    return result


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0)


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "gelu": _gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "relu": _relu,
}


class Bert:
    """`dim` numbers a token, `layers` above the embeddings, `rows` tokens with a vector, `longest` positions."""

    parallel = True

    def __init__(self, tensors: Tensors, settings: Settings) -> None:
        """Raises BadFile for settings of another network, for arrays that are missing or of other sizes."""
        for key, wanted in (("model_type", "bert"), ("position_embedding_type", "absolute")):
            if settings.facts.get(key, wanted) != wanted:
                found = f"found {show_value(settings.facts[key])}, which only ONNX Runtime can compute"
                problem = f"{key}: expected {wanted!r}, {found}; export the model to onnx/model.onnx"
                raise BadFile(settings.path, problem)
        self.dim = settings.number("hidden_size", 1, 1 << 16)
        self.layers = settings.number("num_hidden_layers", 1, 999)
        self._heads = settings.number("num_attention_heads", 1, self.dim)
        self._epsilon = np.float32(settings.real("layer_norm_eps", 1e-12))
        activation = settings.facts.get("hidden_act", "gelu")
        if self.dim % self._heads or not (isinstance(activation, str) and activation in ACTIVATIONS):
            problem = f"expected heads that divide {self.dim} and one of {', '.join(ACTIVATIONS)}"
            raise BadFile(settings.path, f"{problem}, found {self._heads} heads and {show_value(activation)}")
        self._activation = ACTIVATIONS[activation]
        self._tensors = tensors
        self._prefix = next((name.removesuffix(_WORDS) for name in tensors.names if name.endswith(_WORDS)), "")
        self._words = self._read(_WORDS, None, self.dim)
        self.rows = len(self._words)
        places = self._read("embeddings.position_embeddings.weight", None, self.dim)
        kinds = self._read("embeddings.token_type_embeddings.weight", None, self.dim)
        if not self.rows or not len(places) or not len(kinds):
            raise BadFile(tensors.path, "expected vectors of words, positions and types, found an array without rows")
        self._places = places + kinds[0]
        self.longest = len(places)
        self._first = self._norm("embeddings.LayerNorm")
        inner = settings.number("intermediate_size", 1, 1 << 20)
        self._each = [self._layer(f"encoder.layer.{number}.", inner) for number in range(self.layers)]

    def _read(self, name: str, *shape: int | None) -> Floats:
        return self._tensors.floats(self._prefix + name, shape)

    def _norm(self, name: str) -> tuple[Floats, Floats]:
        old = f"{self._prefix}{name}.gamma" in self._tensors
        names = ("gamma", "beta") if old else ("weight", "bias")
        scale, shift = (self._read(f"{name}.{part}", self.dim) for part in names)
        return scale, shift

    def _linear(self, name: str, rows: int, columns: int) -> tuple[Floats, Floats]:
        return self._read(f"{name}.weight", rows, columns).T, self._read(f"{name}.bias", rows)

    def _layer(self, name: str, inner: int) -> "_Layer":
        parts = [self._linear(f"{name}attention.self.{part}", self.dim, self.dim) for part in ("query", "key", "value")]
        return _Layer(
            (np.concatenate([weight for weight, _ in parts], axis=1), np.concatenate([bias for _, bias in parts])),
            self._linear(f"{name}attention.output.dense", self.dim, self.dim),
            self._norm(f"{name}attention.output.LayerNorm"),
            self._linear(f"{name}intermediate.dense", inner, self.dim),
            self._linear(f"{name}output.dense", self.dim, inner),
            self._norm(f"{name}output.LayerNorm"),
        )

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.bool_], layers: Sequence[int]) -> list[Floats]:
        """(n, tokens, dim) of each of these layers; ids and mask are (n, tokens). Numbers that overflow are the
        caller's."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._run(ids, mask, layers)

    def _run(self, ids: NDArray[np.int64], mask: NDArray[np.bool_], layers: Sequence[int]) -> list[Floats]:
        count, length = ids.shape
        x = self._words[ids] + self._places[:length]
        self._normalize(x, self._first)
        kept = {0: x}
        unseen = np.where(mask, np.float32(0), _MASKED)[:, None, None, :]
        for number in range(1, max(layers) + 1):
            x = self._step(x.reshape(count * length, self.dim), unseen, self._each[number - 1])
            x = x.reshape(count, length, self.dim)
            if number in layers:
                kept[number] = x
        return [kept[layer] for layer in layers]

    def _step(self, x: Floats, unseen: Floats, layer: "_Layer") -> Floats:
        """(n * tokens, dim) -> the same of the next layer."""
        count, length = unseen.shape[0], unseen.shape[3]
        split = _affine(x, layer.attend).reshape(count, length, 3, self._heads, self.dim // self._heads)
        query, key, value = split.transpose(2, 0, 3, 1, 4)
        scores = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32((self.dim // self._heads) ** -0.5)
        scores += unseen
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        joined = (scores @ value).transpose(0, 2, 1, 3).reshape(x.shape)
        out = _affine(joined, layer.attended)
        out += x
        self._normalize(out, layer.first)
        inner = _affine(out, layer.widen)
        step = max(1, _BLOCK_VALUES // inner.shape[1])
        for first in range(0, len(inner), step):
            inner[first : first + step] = self._activation(inner[first : first + step])
        result = _affine(inner, layer.narrow)
        result += out
        self._normalize(result, layer.second)
        return result

    def _normalize(self, x: Floats, norm: tuple[Floats, Floats]) -> None:
        x -= x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self._epsilon)
        x *= norm[0]
        x += norm[1]


class _Layer:
    """The arrays of one layer: (weight, bias) of each affine map and of each layer norm."""

    def __init__(self, *parts: tuple[Floats, Floats]) -> None:
        self.attend, self.attended, self.first, self.widen, self.narrow, self.second = parts


def _affine(x: Floats, parts: tuple[Floats, Floats]) -> Floats:
    result: Floats = x @ parts[0]
    result += parts[1]
    return result
