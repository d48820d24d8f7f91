"""The child process that runs sentence-transformers.

`peer_encoding.py encode JSON` saves the vectors of the sentences of the JSON file `texts` as a NumPy file and prints
what that took; `peer_encoding.py export FOLDER FILE.onnx` writes the folder's network as an ONNX file, whose output is
the last layer's states.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer


def encode(job: dict) -> dict:
    torch.set_num_threads(job["threads"])
    begin = time.process_time()
    model = SentenceTransformer(job["folder"], device="cpu")
    loading = time.process_time() - begin
    texts = json.loads(Path(job["texts"]).read_text())
    best = {}
    for _ in range(job["repeat"]):
        wall, cpu = time.perf_counter(), time.process_time()
        vectors = model.encode(texts, batch_size=32, convert_to_numpy=True, show_progress_bar=False)
        times = {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
        if not best or times["cpu_seconds"] < best["cpu_seconds"]:
            best = times
    np.save(job["output"], vectors)
    return {**best, "loading_cpu_seconds": loading}


class States(torch.nn.Module):
    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask, token_type_ids):
        asked = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        return self.network(**asked).last_hidden_state


def export(folder: str, output: str) -> None:
    network = States(SentenceTransformer(folder, device="cpu")[0].auto_model.eval())
    example = torch.ones((2, 8), dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "batch", 1: "sequence"} for name in [*names, "last_hidden_state"]}
    torch.onnx.export(
        network,
        (example, example, torch.zeros_like(example)),
        output,
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_axes=axes,
        dynamo=False,
    )


if sys.argv[1] == "encode":
    print(json.dumps(encode(json.loads(sys.argv[2]))))
else:
    export(sys.argv[2], sys.argv[3])
