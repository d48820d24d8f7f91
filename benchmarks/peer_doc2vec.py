"""The child process that trains gensim's Doc2Vec: `peer_doc2vec.py JSON`. A line of `corpus` is a document; the vectors
go to `output`, a NumPy file, in the order of the lines."""

import json
import sys

import numpy as np
from gensim.models.doc2vec import Doc2Vec, TaggedLineDocument

ALGORITHMS = {"dbow": {"dm": 0}, "dm_mean": {"dm": 1, "dm_mean": 1}, "dm_concat": {"dm": 1, "dm_concat": 1}}

job = json.loads(sys.argv[1])
model = Doc2Vec(
    list(TaggedLineDocument(job["corpus"])),
    vector_size=job["dim"],
    window=job["window"],
    negative=job["negative"],
    sample=job["sample"],
    min_count=job["min_count"],
    epochs=job["epochs"],
    workers=job["threads"],
    seed=job["seed"],
    **ALGORITHMS[job["algorithm"]],
)
np.save(job["output"], model.dv.vectors)
