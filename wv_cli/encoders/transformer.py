"""A BERT-like encoder's folder: its tokenizer, and its network through ONNX Runtime or NumPy.

config.json, tokenizer.json and either model.onnx (or onnx/model.onnx) or model.safetensors must be there.

The inputs and outputs of a network in ONNX are known by their names. Inputs: input_ids,
attention_mask and token_type_ids, int64 (n, tokens); the last two only where the graph has them.
Outputs: last_hidden_state of plain exports, token_embeddings of those that pool by themselves, hidden_states.K (or _K)
of those that give all layers. The file is data: operators of other libraries are not loaded.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.base import States, kept_dim, pad_batch
from wv_cli.encoders.bert import Bert
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.folder import Folder
from wv_cli.encoders.pooling import Pooling
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import BadFile, UsageError
from wv_cli.io.extra import foreign, require
from wv_cli.io.folders import Settings, Usage
from wv_cli.io.kinds import refuse_other_file
from wv_cli.vectors.formats.safetensors import Tensors

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_LAST = ("last_hidden_state", "token_embeddings")
_LAYER = re.compile(r"hidden_states[._](\d+)")
_ONLY_FATAL = 4  # of ONNX Runtime's own messages, which go past ours


class Onnx:
    """`dim` is that of config.json, which every output is held to."""

    parallel = False  # it has threads of its own

    def __init__(self, path: Path, *, layers: int, dim: int, threads: int) -> None:
        """Raises BadFile for a file that is no such network."""
        package = require("onnxruntime", "an encoder's model.onnx")
        options = package.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = _ONLY_FATAL
        refuse_other_file(path, "a network in ONNX")
        with foreign(path, "expected a network in ONNX"):
            self._session = package.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.path, self.dim, self.layers = path, dim, layers
        self._inputs = [each.name for each in self._session.get_inputs()]
        outputs = [each.name for each in self._session.get_outputs()]
        if "input_ids" not in self._inputs or not set(self._inputs) <= set(_INPUTS):
            raise BadFile(path, f"expected the inputs {', '.join(_INPUTS)}, found {', '.join(self._inputs)}")
        self._outputs = {int(found[1]): name for name in outputs if (found := _LAYER.fullmatch(name))}
        last = next((name for name in _LAST if name in outputs), None)
        if last is not None:
            self._outputs[layers] = last
        if layers not in self._outputs:
            raise BadFile(path, f"expected an output {' or '.join(_LAST)}, found {', '.join(outputs)}")

    def lacks(self, layers: Sequence[int]) -> list[int]:
        """Those of the layers that the file does not give."""
        return [layer for layer in layers if layer not in self._outputs]

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.bool_], layers: Sequence[int]) -> list[NDArray[np.float32]]:
        """(n, tokens, dim) of each of these layers; ids and mask are (n, tokens)."""
        feeds: dict[str, Any] = {"input_ids": ids, "attention_mask": mask.astype(np.int64)}
        feeds["token_type_ids"] = np.zeros_like(ids)
        with foreign(self.path, "the network fails", quiet=True):
            found = self._session.run(
                [self._outputs[layer] for layer in layers], {name: feeds[name] for name in self._inputs}
            )
        for each in found:
            if each.shape != (*ids.shape, self.dim) or each.dtype != np.float32:
                problem = f"expected states of {ids.shape} x {self.dim} float32, found {each.shape} of {each.dtype}"
                raise BadFile(self.path, problem)
        return list(found)


_ROBERTA = ("roberta", "xlm-roberta", "camembert")  # their positions are counted from behind the padding's


class Transformer:
    """An encoders.base.Encoder."""

    in_order = False

    def __init__(self, path: Path, config: EncoderConfig, poolings: Sequence[str]) -> None:
        """`poolings` are those that will be asked for, none: the folder's own. Raises BadFile, WvError, UsageError."""
        if config.stateful:
            message = f"--stateful is for ELMo; {path} keeps nothing from sentence to sentence"
            raise UsageError(message)
        folder = Folder.open(path)
        settings = Settings(folder.root / "config.json")
        self.name, self.pooling, self.normalize = str(path), folder.pooling, folder.normalize
        self.root = folder.root
        usage = Usage.from_folder(path)
        self._pools_prompt = folder.pools_prompt
        if usage.prompt:
            self._require_pooled_prompt()
        self.dim, self.scales_whole = kept_dim(config, settings.number("hidden_size", 1, 1 << 16), self.name, usage)
        self.layers = settings.number("num_hidden_layers", 1, 999)
        wanted = (
            list(range(self.layers + 1))
            if config.mix
            else sorted(
                {i for each in poolings or [self.pooling] for i in Pooling.parse(each, self.layers, self.name).layers}
            )
        )
        self._network = _network(folder, settings, config, wanted)
        self.parallel = self._network.parallel
        most = settings.number("max_position_embeddings", 1, 1 << 20, 512)
        padding = settings.number("pad_token_id", 0, 1 << 30, 0)
        if settings.facts.get("model_type") in _ROBERTA:
            most -= padding + 1
        rows = settings.number("vocab_size", 1, 1 << 30, 1 << 30)
        if isinstance(self._network, Bert):
            most, rows = min(most, self._network.longest), self._network.rows
        if config.max_length > most:
            message = f"--max-length {config.max_length} is more than the {most} positions {path} has"
            raise UsageError(message)
        self.max_length = config.max_length or min(most, folder.max_length or most)
        self._padding = padding if padding < rows else 0
        self._tokenizer = Tokenizer(
            folder.root / "tokenizer.json", max_length=self.max_length, rows=rows, prompt=usage.prompt
        )

    def _require_pooled_prompt(self) -> None:
        if not self._pools_prompt:
            problem = "include_prompt: expected true for a prompt, found false, which wv does not do"
            raise BadFile(Path(self.name) / "1_Pooling" / "config.json", f"{problem}; take the prompt out")

    def tokens(self, texts: Sequence[str], *, prompt: str | None = None) -> tuple[list[NDArray[Any]], int]:
        if prompt:
            self._require_pooled_prompt()
        found, cut = self._tokenizer.ids(texts, prompt=prompt)
        return list(found), cut

    def names(self, text: str, tokens: NDArray[Any]) -> list[str]:
        return self._tokenizer.names(tokens.tolist())

    def states(self, tokens: Sequence[NDArray[Any]], layers: Sequence[int]) -> States:
        ids, mask = pad_batch(tokens, self._padding)
        return self._network.run(ids, mask, layers), mask


def _network(folder: Folder, settings: Settings, config: EncoderConfig, layers: Sequence[int]) -> Bert | Onnx:
    """What gives these layers, of the runtimes that `config` allows. Raises BadFile when none does."""
    graph, weights = folder.find("model.onnx"), folder.find("model.safetensors")
    places = f"model.onnx, onnx/model.onnx or model.safetensors in {folder.root}"
    if config.runtime == "numpy":
        graph, places = None, f"model.safetensors in {folder.root} for --runtime numpy"
    elif config.runtime == "onnx":
        weights, places = None, f"model.onnx or onnx/model.onnx in {folder.root} for --runtime onnx"
    if graph is None and weights is None:
        raise BadFile(
            folder.path, f"expected {places}, found none; Python pickles such as pytorch_model.bin are not read"
        )
    if graph is not None and (weights is None or importlib.util.find_spec("onnxruntime")):
        network = Onnx(
            graph,
            layers=settings.number("num_hidden_layers", 1, 999),
            dim=settings.number("hidden_size", 1, 1 << 16),
            threads=config.threads,
        )
        if not (lacking := network.lacks(layers)):
            return network
        if weights is None:
            problem = (
                f"gives the last layer only, not {', '.join(map(str, lacking))}: this pooling needs an export with all "
                "hidden states, or model.safetensors beside it (with --runtime auto or numpy)"
            )
            raise BadFile(graph, problem)
    assert weights is not None
    return Bert(Tensors.open(weights), settings)
