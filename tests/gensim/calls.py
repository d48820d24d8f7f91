"""Calls of gensim's classes, and what they answer with gensim itself.

    python tests/gensim/calls.py gensim          # writes tests/golden/gensim-calls.json, with gensim 4.4 installed
    python tests/gensim/calls.py wv_cli.gensim   # prints the processor seconds of each side's calls

SAME are calls whose answers are equal, numbers to 1e-5. ALIKE are calls that learn from random numbers: of their
answers the types and sizes are compared.
"""

import bz2
import importlib
import json
import lzma
import math
import os
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
ANSWERS = GOLDEN / "gensim-calls.json"

SAME = """
KeyedVectors.load_word2vec_format(W2V, binary=True).most_similar("king", topn=3)
KeyedVectors.load_word2vec_format(W2V, binary=True, limit=50).index_to_key[-3:]
KeyedVectors.load_word2vec_format(TEXT, binary=False)["of"][:4]
KeyedVectors.load_word2vec_format(GLOVE, no_header=True).vectors.shape
KeyedVectors.load_word2vec_format(W2V, binary=True, fvocab=VOCAB).get_vecattr("king", "count")
through_binary(kv)["king"][:4]
written(lambda name: kv.save_word2vec_format(name), 300)
written(lambda name: kv.save_word2vec_format(name, write_header=False, prefix="*"), 300)
kv[5][:3]
kv[[3, "king"]][:, :3]
kv.get_vector(7, norm=True)[:3]
kv.most_similar([3], topn=2)
kv.similarity("king", "queen"), kv.distance("king", "queen")
kv.most_similar_cosmul(["king", "woman"], ["man"], topn=4)
kv.most_similar_cosmul("war", topn=3, restrict_vocab=500)
kv.relative_cosine_similarity("king", "queen", topn=5)
kv.vectors_for_all(["king", "nowhere-to-be-found", "queen", "king"]).index_to_key
grown(["alpha", "king", "beta"]).index_to_key
grown(["alpha", "king", "beta"]).most_similar("alpha", topn=1)
replaced("king")["king"].tolist()
load_facebook_vectors(FT)["thexyz"][:4]
load_facebook_vectors(FT).most_similar("thexyz", topn=3)
load_facebook_model(FT).wv["of"][:4]
[len(each) for each in LineSentence(LINES)]
list(LineSentence(PACKED, max_sentence_length=7, limit=2))
sum(1 for _ in PathLineSentences(FOLDER))
counts(Word2Vec(SENTENCES, vector_size=4, min_count=3, epochs=1, workers=1))
counts(Word2Vec(corpus_file=LINES, vector_size=4, min_count=5, epochs=1, workers=1))
totals(Word2Vec(SENTENCES, vector_size=4, min_count=3, epochs=1, workers=1))
counts(Word2Vec(SENTENCES, vector_size=4, min_count=1, max_final_vocab=20, epochs=1, workers=1))
Word2Vec(SENTENCES, vector_size=4, min_count=1, max_final_vocab=20, epochs=1, workers=1).effective_min_count
counts(Word2Vec(SENTENCES, vector_size=4, min_count=5, trim_rule=without_the, epochs=1, workers=1))
counts(updated(Word2Vec(SENTENCES, vector_size=4, min_count=3, epochs=1, workers=1)))
counts(from_counts(Word2Vec(vector_size=4, min_count=2)))
Phrases(SENTENCES, min_count=2, threshold=5).export_phrases()
Phrases(SENTENCES, min_count=2, threshold=0.6, scoring="npmi").export_phrases()
Phrases(SENTENCES, min_count=2, threshold=5, connector_words=CONNECTORS).export_phrases()
Phrases(SENTENCES, min_count=1, threshold=1, scoring=a_score, delimiter="+").export_phrases()
len(Phrases(SENTENCES).vocab), Phrases(SENTENCES, connector_words=CONNECTORS).corpus_word_count
Phrases(SENTENCES, min_count=2, threshold=5)[SENTENCES[2]]
list(Phrases(SENTENCES, min_count=2, threshold=5, connector_words=CONNECTORS)[SENTENCES[:4]])
FrozenPhrases(added(Phrases(SENTENCES[:20], min_count=2, threshold=5)))[SENTENCES[2]]
Phrases(SENTENCES, min_count=2, threshold=5).find_phrases(SENTENCES[:9])
list(Phrases(SENTENCES, min_count=2, threshold=5).analyze_sentence(SENTENCES[2]))
list(LineSentence(SPACES))
list(PathLineSentences(SPACES, limit=1))
counts(Word2Vec(corpus_file=SPACES, vector_size=4, min_count=1, epochs=1, workers=1))
counts(Doc2Vec(corpus_file=SPACES, vector_size=4, min_count=1, epochs=1, workers=1))
list(LineSentence(NULS))
[each.statistic for each in kv.evaluate_word_pairs(PAIRS)[:2]]
[each.pvalue for each in kv.evaluate_word_pairs(PAIRS, dummy4unknown=True)[:2]]
kv.evaluate_word_pairs(PAIRS)[2]
Doc2Vec(DOCUMENTS, **SMALL).dv.index_to_key[-3:]
Doc2Vec(NAMED, **SMALL).dv.index_to_key[-2:]
""".strip().splitlines()

# Between words: what C, Python and gensim take for white space, and what only looks like it.
SPACES = " \t\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"

ALIKE = """
Word2Vec(SENTENCES, **SMALL).wv.vectors
Word2Vec(SENTENCES, sg=1, **SMALL).wv.most_similar("the", topn=3)
Word2Vec(SENTENCES, hs=1, negative=0, **SMALL).wv["the"]
Word2Vec(SENTENCES, sg=1, hs=1, cbow_mean=0, shrink_windows=False, **SMALL).syn1neg
Word2Vec(SENTENCES, ns_exponent=0.5, sample=0, alpha=0.05, min_alpha=0.01, **SMALL).predict_output_word(["of"], topn=3)
again(Word2Vec(SENTENCES, **SMALL)).wv["the"]
reloaded(Word2Vec(SENTENCES, **SMALL))
epochs_told(Word2Vec, **SMALL)
Word2Vec(SENTENCES, compute_loss=True, **SMALL).get_latest_training_loss() > 0
FastText(SENTENCES, bucket=500, **SMALL).wv["never-seen-before"]
FastText(SENTENCES, sg=1, min_n=2, max_n=3, bucket=500, **SMALL).wv.most_similar("never-seen-before", topn=2)
reloaded(FastText(SENTENCES, bucket=500, **SMALL))
Doc2Vec(DOCUMENTS, **SMALL).dv[3]
Doc2Vec(DOCUMENTS, dm=0, **SMALL).dv.most_similar(0, topn=2)
Doc2Vec(DOCUMENTS, dm_concat=1, window=2, **SMALL).infer_vector(["the", "of"], epochs=3)
Doc2Vec(NAMED, **SMALL).dv["text 2"]
Doc2Vec(corpus_file=LINES, **SMALL).dv.vectors
""".strip().splitlines()


def without_the(word, count, min_count):
    return 1 if word == "the" else 2 if word == "anarchism" else 0


def a_score(worda_count, wordb_count, bigram_count, len_vocab, min_count, corpus_word_count):
    return bigram_count / max(worda_count, wordb_count) * (bigram_count > min_count) * 3


def namespace(package, folder):
    """What the calls name; `package` is gensim or wv_cli.gensim."""
    names = {
        name: value for module in modules(package) for name, value in vars(importlib.import_module(module)).items()
    }
    with lzma.open(ROOT / "data" / "corpus" / "wiki8-demo.txt.xz", "rt", encoding="utf-8") as text:
        lines = [" ".join(line.split()[:60]) for line in islice(text, 120)]
    Path(folder, "lines.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    Path(folder, "lines.txt.bz2").write_bytes(bz2.compress(Path(folder, "lines.txt").read_bytes()))
    several = Path(folder, "several")
    several.mkdir()
    (several / "b.txt").write_text("a b\nc\n")
    (several / "a.txt").write_text("d e f\n")
    names |= {"LINES": f"{folder}/lines.txt", "PACKED": f"{folder}/lines.txt.bz2", "FOLDER": str(several)}
    names["SPACES"], names["NULS"], names["PAIRS"] = (f"{folder}/{name}.txt" for name in ("spaces", "nuls", "pairs"))
    Path(names["SPACES"]).write_bytes("".join(f"a{space}b é{space}\n" for space in SPACES).encode())
    Path(names["NULS"]).write_bytes(b"a\0b c\n")
    Path(names["PAIRS"]).write_text("king\tqueen\t9\nking\twar\t4\nof\tqueen\t1\nof\tnowhere-to-be-found\t3\n")
    names["VOCAB"] = f"{folder}/vocabulary.txt"
    names |= {"W2V": str(GOLDEN / "w2v-sg-ns.bin"), "FT": str(GOLDEN / "ft-words.bin")}
    names |= {"TEXT": str(GOLDEN / "gensim.vec"), "GLOVE": f"{folder}/glove.txt"}
    Path(names["GLOVE"]).write_text("the 1 2\nof 3 4\n")
    sentences = [line.split() for line in lines]
    document = names["TaggedDocument"]
    names["SENTENCES"] = sentences
    names["DOCUMENTS"] = [document(words, [number]) for number, words in enumerate(sentences)]
    names["NAMED"] = [document(words, [f"text {number}"]) for number, words in enumerate(sentences)]
    names["CONNECTORS"] = frozenset(["of", "the", "a", "and"])
    names["SMALL"] = {"vector_size": 6, "min_count": 2, "epochs": 2, "workers": 1, "seed": 3}
    names["kv"] = names["KeyedVectors"].load_word2vec_format(names["W2V"], binary=True)
    words = names["kv"].index_to_key
    Path(names["VOCAB"]).write_text("".join(f"{word} {9 * len(words) - row}\n" for row, word in enumerate(words)))
    return names | helpers(names, folder)


def modules(package):
    if package != "gensim":
        return [package]
    models = ("word2vec", "fasttext", "doc2vec", "keyedvectors", "phrases", "callbacks")
    return [f"gensim.models.{name}" for name in models]


def helpers(names, folder):
    path = str(Path(folder, "written"))

    def written(write, size):
        write(path)
        return Path(path).read_bytes()[:size].decode("latin-1")

    def through_binary(vectors):
        vectors.save_word2vec_format(path, binary=True)
        return names["KeyedVectors"].load_word2vec_format(path, binary=True)

    def added_to(vectors, words, replace=False):
        made = names["KeyedVectors"](vectors.vector_size)
        made.add_vectors(vectors.index_to_key[:400], vectors.vectors[:400])
        made.add_vectors(words, [vectors[row] + 1 for row in range(len(words))], replace=replace)
        return made

    def counts(model):
        return dict(sorted((word, int(model.wv.get_vecattr(word, "count"))) for word in model.wv.index_to_key))

    def updated(model):
        model.build_vocab([["zymurgy", "the"]] * 4, update=True)
        return model

    def from_counts(model):
        model.build_vocab_from_freq({"one": 1, "two": 2, "three": 3})
        return model

    def again(model):
        model.train(names["SENTENCES"], total_examples=model.corpus_count, epochs=1)
        return model

    def reloaded(model):
        model.save(path)
        found = type(model).load(path)
        return found.wv.index_to_key == model.wv.index_to_key and np.array_equal(found.wv.vectors, model.wv.vectors)

    def epochs_told(kind, **options):
        told = []

        class Told(names["CallbackAny2Vec"]):
            def on_train_begin(self, model):
                told.append("begin")

            def on_epoch_begin(self, model):
                told.append("epoch")

            def on_epoch_end(self, model):
                told.append(f"end {model.wv['the'].shape}")

            def on_train_end(self, model):
                told.append("done")

        kind(names["SENTENCES"], callbacks=[Told()], **options)
        return told

    def added(phrases):
        phrases.add_vocab(names["SENTENCES"][20:])
        return phrases

    return {
        "written": written,
        "through_binary": through_binary,
        "grown": lambda words: added_to(names["kv"], words),
        "replaced": lambda word: added_to(names["kv"], [word], replace=True),
        "counts": counts,
        "totals": lambda model: (model.corpus_count, model.corpus_total_words, len(model.wv)),
        "updated": updated,
        "from_counts": from_counts,
        "again": again,
        "reloaded": reloaded,
        "epochs_told": epochs_told,
        "added": added,
        "without_the": without_the,
        "a_score": a_score,
        "np": np,
    }


def plain(value):
    """As JSON has it."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.7g}") if math.isfinite(value) else str(value)
    return value.item() if isinstance(value, np.generic) else value


def kind(value):
    """The type and the sizes of an answer."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {value.dtype}"
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return f"{len(value)} pairs of {type(value[0][0]).__name__}"
    return plain(value)


def answers(package):
    """(call, answer, processor seconds) of every call."""
    with tempfile.TemporaryDirectory() as folder:
        names = namespace(package, folder)
        for calls, shown in ((SAME, plain), (ALIKE, kind)):
            for call in calls:
                begin = time.process_time()
                answer = eval(call, names)
                yield call, shown(answer), time.process_time() - begin


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = list(answers(sys.argv[1]))
    if sys.argv[1] == "gensim":
        lines = ",\n".join(json.dumps([call, answer]) for call, answer, _ in found)
        ANSWERS.write_text(f"[\n{lines}\n]\n")
    sys.stdout.write(f"{len(found)} calls, {sum(seconds for _, _, seconds in found):.2f} s of processor time\n")
