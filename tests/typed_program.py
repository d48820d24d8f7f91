"""A program that uses every face of the library, for `mypy --strict`; tests/test_typed_program.py checks it."""

# ruff: noqa: T201

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import wv_cli
from wv_cli.gensim import (
    CallbackAny2Vec,
    Doc2Vec,
    FastText,
    FrozenPhrases,
    KeyedVectors,
    LineSentence,
    Phrases,
    TaggedDocument,
    Word2Vec,
    load_facebook_model,
    load_facebook_vectors,
)


def sentences() -> Iterator[list[str]]:
    yield ["the", "cat"]


def own_names(folder: Path) -> None:
    facts = wv_cli.train("text.txt", folder / "v.bin", dim=50, loss="hs", save_state=folder / "v.state", progress=True)
    wv_cli.train(["a.txt", Path("b.txt")], ["v.bin", "v.vec"], model="cbow", epochs=3, min_count=2)
    wv_cli.train(sentences(), "v.bin", lr=0.05, log=lambda message, **facts: None)
    wv_cli.train(sentences=["a line", "another"], output="v.bin", on_progress=lambda progress: print(progress.rate))
    wv_cli.glove("text.txt", "g.vec", iterations=5, x_max=50, counts=["c.bin"])
    report = wv_cli.build_vocab(["a.txt", folder], "v.vocab", min_count=2, tokenize="unicode")
    report |= wv_cli.phrases("text.txt", "joined.txt", threshold=[200, 100], score="npmi")
    report |= wv_cli.bioword("text.txt", "w.codes", cells=40) | wv_cli.drift("a.vec", "b.vec", by="vectors")
    report |= wv_cli.predict("m.bin", "lines.jsonl", "out.jsonl", add="label") | wv_cli.tokenize("t.txt", "o.txt")
    report |= wv_cli.filter(folder, "kept", words="50..", language=["lid.ftz:en>=0.5"], near_duplicates=0.72)
    report |= wv_cli.whiten("v.bin", "w.bin", method="zca", precision="exact")
    report |= wv_cli.align("a.vec", "b.vec", folder / "c.vec", dictionary=folder / "d.txt")
    report |= wv_cli.quantize("m.bin", "m.ftz", cutoff=1000, inputs=["t.txt"], retrain=True)
    report |= wv_cli.hash("v.bin", ["v.codes"], method="itq", log=lambda message, **facts: print(message, facts))
    report |= wv_cli.distil("encoder", "static", dim=256) | wv_cli.convert("v.bin", "v.vec", limit=10)
    report |= wv_cli.nn("v.bin", ["king"], k=5, beside="w.bin") | wv_cli.analogy("v.bin", ["a", "b", "c"])
    report |= wv_cli.similarity("v.bin", ["a", "b"]) | wv_cli.odd_one_out("v.bin", ["a", "b", "c"])
    report |= wv_cli.texts_distance("v.bin", ["a text", "another"], case="lower")
    report |= wv_cli.eval.similarity(["v.bin", "w.bin"], data=folder / "pairs.txt", min_score=0.5)
    report |= wv_cli.search_index("notes", "notes.index") | wv_cli.search("notes.index", "leaky faucet", k=3)
    report |= wv_cli.search_export("notes.index", "notes.parquet", dtype="int8")
    report |= wv_cli.lm_train("text.txt", "m.arpa", order=3) | wv_cli.lm_convert("m.arpa", "m.lm")
    report |= wv_cli.lm_mix(["a.arpa", "b.arpa"], "c.arpa", weights="1,2") | wv_cli.check("v.bin")
    report |= wv_cli.plot("v.bin", "page.html", ["king", "queen"], neighbors=3)
    print(report["words"])
    vectors: wv_cli.Embeddings = wv_cli.load(folder / "v.bin", limit=10, bad_rows="skip")
    wv_cli.save("v.vec", vectors, precision=4)
    best: list[tuple[str, float]] = vectors.neighbors("cat", k=3)
    number: float = vectors.similarity("cat", ["dog", "cow"]) + best[0][1]
    encoded: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = wv_cli.encode("v.bin", ["a text"], pooling="sif")
    encoder: wv_cli.TextEncoder = wv_cli.load_encoder(folder / "static", transform="white.map")
    print(encoded, encoder.similarity(encoder.encode("a text", normalize_embeddings=True), encoded))
    index = wv_cli.Index("notes.index", model="wv/small", chunks="line")
    index.add({"name": "a text"})
    print([answer["file"] for answer in index.search("a query", k=3)], len(index))
    index.save(folder / "other.index")
    row: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = vectors["cat"]
    own = wv_cli.Embeddings(["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    classifier = wv_cli.load_classifier("topics.bin")
    labels: list[list[tuple[str, float]]] = classifier.predict(["a line"], k=2)
    rules = wv_cli.Filter({"words": "50.."}, language=["lid.ftz:en>=0.5"], flatten="none")
    keep, reason, scores = rules(["a text", b"another"])
    print(keep.sum(), reason[~keep], scores["words"].mean(), rules.table(object(), field="body"))
    print(facts["words"], number, row, len(own), labels)


def every_error() -> tuple[int | None, str]:
    try:
        wv_cli.train("text.txt", "v.bin", max_time=60, checkpoint_every="10m", memory="2G")
    except (wv_cli.Interrupted, wv_cli.TimedOut, wv_cli.GateMissed) as stopped:
        return stopped.exit_code, str(stopped)
    except wv_cli.BadFile as bad:
        return bad.line, bad.problem
    return None, ""


class Counting(CallbackAny2Vec):
    def on_epoch_end(self, model: Word2Vec) -> None:
        print(model.get_latest_training_loss(), model.wv["cat"].shape)


def gensims_names(folder: Path) -> None:
    model = Word2Vec(sentences(), vector_size=50, sg=1, workers=2, callbacks=[Counting()], compute_loss=True)
    model.build_vocab([["a", "b"]], update=True)
    learnt, read = model.train(LineSentence("text.txt"), total_examples=model.corpus_count, epochs=2)
    model.save(folder / "m.state")
    again: Word2Vec = Word2Vec.load(folder / "m.state")
    kv: KeyedVectors = again.wv
    kv.save_word2vec_format("v.txt", binary=False)
    kv = KeyedVectors.load_word2vec_format("v.txt", limit=100)
    kv.add_vectors(["new"], np.ones((1, kv.vector_size)))
    subwords = FastText(corpus_file="text.txt", min_n=2, max_n=4, bucket=1000)
    print(subwords.wv["unseen"], load_facebook_model("f.bin").wv[0], load_facebook_vectors("f.bin").similarity("a", 3))
    documents = Doc2Vec([TaggedDocument(["a"], [0]), TaggedDocument(["b"], ["x"])], dm=0, min_alpha=0.001)
    print(documents.dv[0], documents.infer_vector(["a"], epochs=5), learnt + read)
    phrases = Phrases(sentences(), threshold=1, scoring="npmi")
    frozen: FrozenPhrases = phrases.freeze()
    joined: list[str] = frozen[["new", "york"]]
    print(joined, phrases.export_phrases())
