"""Texts encoded by a static model, compared and searched, as users of sentence-transformers write it."""

from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("static-model")
sentences = [
    "A library that reads compressed archives",
    "Tools for editing pictures and photographs",
    "The kernel module could not be loaded",
    "Programs for drawing and painting",
    "",
]
embeddings = model.encode(sentences)
print(embeddings.shape, embeddings.dtype)
print(embeddings[0][:4])
print(embeddings)
print(model.encode("one text").shape)
print(model.encode("one text")[:5])
print(model.encode(["one text"]).shape)
print(len(model.encode([])))
print(np.linalg.norm(model.encode(sentences, normalize_embeddings=True), axis=1))
print(model.encode(sentences, batch_size=2)[1][:3])
print(model.encode(sentences, show_progress_bar=False)[2][:3])
print(model.encode(sentences, convert_to_numpy=True)[3][:3])
print(model.encode(sentences, truncate_dim=8).shape)
print(model.encode(sentences, truncate_dim=8)[0])
print(model.encode(sentences, truncate_dim=8, normalize_embeddings=True)[0])
print(model.encode(sentences, precision="binary")[0])
print(model.encode(sentences, precision="ubinary")[0])
print(model.encode(tuple(sentences)).shape)
print(model.encode(np.array(sentences)).shape)
print(model.similarity(embeddings, embeddings))
print(model.similarity(embeddings[0], embeddings[1:3]))
print(model.similarity_pairwise(embeddings[:2], embeddings[2:4]))
print(model.encode_query("drawing program")[:3])
print(model.encode_document(["drawing program"]).shape)
print(model.get_sentence_embedding_dimension())
print(model.get_embedding_dimension())
print(model.encode(sentences, device="cpu").shape)
print(SentenceTransformer("static-model", device="cpu").encode("one text")[:3])
print(SentenceTransformer("static-model", truncate_dim=16).encode("one text"))
print(SentenceTransformer(Path("static-model")).encode("one text")[:2])
print(model.encode(sentences, convert_to_tensor=True).shape)

# Search, and groups of texts that are alike.
query = model.encode("painting pictures", normalize_embeddings=True)
corpus = model.encode(sentences, normalize_embeddings=True)
scores = corpus @ query
print(scores.argsort()[::-1].tolist())
print([sentences[row] for row in np.argsort(-scores)[:2]])
pairs = model.similarity(corpus, corpus)
print(float(pairs[1][3]), float(pairs[1][2]))
np.save("corpus.npy", corpus)
print(np.load("corpus.npy").shape)
lines = Path("text.txt").read_text(encoding="utf-8").split("\n")[:4000]
many = model.encode(lines)
print(many.shape, many[10][:4], many[-2][:4])
print(model.similarity(many[:5], many[:5]))

# What goes wrong.
print(SentenceTransformer("./missing-model"))
print(model.encode(3))
print(model.encode(sentences, precision="float16"))
print(model.encode(sentences, truncate_dim=1000))
