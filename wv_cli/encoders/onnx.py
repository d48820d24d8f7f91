"""A network in an ONNX file, through ONNX Runtime: its inputs and outputs are known by their names.

Inputs: input_ids, attention_mask and token_type_ids, int64 (n, tokens); the last two only where the graph has them.
Outputs: last_hidden_state of plain exports, token_embeddings of those that pool by themselves, hidden_states.K (or _K)
of those that give all layers. The file is data: operators of other libraries are not loaded.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.io.extra import foreign, require
from wv_cli.io.kinds import refuse_other_file

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
