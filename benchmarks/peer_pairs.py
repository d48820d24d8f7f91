"""The child process that trains on pairs of texts: `peer_pairs.py wv|sentence-transformers JSON`.

Both take the same pairs in the same order, from the same random rows, with Adam at the same rates; the loss of every
step is printed. sentence-transformers has its own modules and losses, without its Trainer: a plain loop is cheaper.
Its tokenizer is not to cut texts. No text may stand in two pairs: wv masks these, and sentence-transformers does not.
"""

import json
import sys
from pathlib import Path
from typing import Any


def wv(job: dict[str, Any]) -> list[float]:
    from wv_cli.commands.pair_tables import open_vocabulary
    from wv_cli.models.pairs import PairModel
    from wv_cli.models.sentence_config import PairsConfig
    from wv_cli.text.config import VocabConfig
    from wv_cli.text.pairs import PairFiles

    names = ("dim", "batch", "lr", "seed", "threads")
    nested = ",".join(map(str, job["levels"][:-1]))
    config = PairsConfig(nested=nested, max_length=0, **{name: job[name] for name in names})
    vocabulary, _ = open_vocabulary(job["tokenizer"], None, VocabConfig(), None)
    model = PairModel(config, vocabulary.corpus(PairFiles([job["pairs"]], no_header=True), 0, None))
    worker = model.worker()
    found = [model.train_step(step, worker)[:2] for step in range(model.steps)]
    model.flush(worker)
    vocabulary.save(job["output"], model.matrix(), 0)
    return [float(loss / pairs) for loss, pairs in found]


def peer(job: dict[str, Any]) -> list[float]:
    import numpy as np
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    torch.set_num_threads(job["threads"])
    tokenizer = Tokenizer.from_file(str(Path(job["tokenizer"]) / "tokenizer.json"))
    tokenizer.no_truncation()
    shape = tokenizer.get_vocab_size(), job["dim"]
    rows = np.random.default_rng(job["seed"]).standard_normal(shape, np.float32)
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=rows)], device="cpu")
    contrast = losses.MultipleNegativesRankingLoss(model, scale=20.0)
    loss_of = losses.MatryoshkaLoss(model, contrast, job["levels"][::-1])
    lines = Path(job["pairs"]).read_text(encoding="utf-8").splitlines()
    order = np.random.default_rng((job["seed"], 0)).permutation(len(lines))
    batches = [order[start : start + job["batch"]] for start in range(0, len(order), job["batch"])]
    adam = torch.optim.AdamW(model.parameters(), lr=job["lr"], weight_decay=0.0, fused=True)
    warm = -(-len(batches) // 10)
    told = []
    for step, batch in enumerate(batches):
        rate = step / warm if step < warm else (len(batches) - step) / (len(batches) - warm)
        adam.param_groups[0]["lr"] = job["lr"] * rate
        texts = zip(*(lines[pair].split("\t") for pair in batch), strict=True)
        features = [model.preprocess(list(column)) for column in texts]
        loss = loss_of(features, None)
        loss.backward()
        adam.step()
        adam.zero_grad()
        told.append(loss.item())
    model.save(job["output"], create_model_card=False)
    return told


if __name__ == "__main__":
    print(json.dumps({"wv": wv, "sentence-transformers": peer}[sys.argv[1]](json.loads(sys.argv[2]))))
