"""Word and document vectors, phrases and saved models, as users of gensim write it."""

import logging
from pathlib import Path

import gensim
import gensim.downloader as api
import numpy as np
from gensim.models import Doc2Vec, FastText, KeyedVectors, Word2Vec
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.doc2vec import TaggedDocument
from gensim.models.fasttext import load_facebook_model, load_facebook_vectors
from gensim.models.phrases import ENGLISH_CONNECTOR_WORDS, Phraser, Phrases
from gensim.models.word2vec import LineSentence
from gensim.scripts.glove2word2vec import glove2word2vec
from gensim.test.utils import common_texts, datapath, get_tmpfile
from gensim.utils import simple_preprocess

logging.basicConfig(format="%(asctime)s : %(levelname)s : %(message)s", level=logging.ERROR)
print(gensim.__version__.split(".")[0])

# Texts.
print(simple_preprocess("The Quick, brown fox; jumped over 2 dogs!"))
print(common_texts[0], len(common_texts))
print(list(LineSentence("text.txt", limit=2))[1][:5])

# A model of toy texts.
model = Word2Vec(sentences=common_texts, vector_size=20, window=5, min_count=1, workers=1, epochs=5)
print(len(model.wv), sorted(model.wv.key_to_index))
print(model.wv["computer"].shape, model.wv["computer"].dtype)
print(model.wv.most_similar("computer", topn=3))  # random
print(model.wv.similarity("computer", "human"))  # random
print(model.corpus_count, model.corpus_total_words, model.epochs, model.vector_size)
model.build_vocab([["hello", "world", "computer"]], update=True)
model.train([["hello", "world"]], total_examples=1, epochs=1)
print("hello" in model.wv, model.wv.get_vecattr("computer", "count"))
model.save("toy.model")
print(len(Word2Vec.load("toy.model").wv))
print(model.wv.index_to_key == list(model.wv.key_to_index))
print(model)
word_vectors = model.wv
word_vectors.save("toy.kv")
KeyedVectors.load("toy.kv").save_word2vec_format("toy.txt")
print(np.allclose(KeyedVectors.load("toy.kv", mmap="r")["graph"], word_vectors["graph"]))
print(model.predict_output_word(["graph", "minors"], topn=2))  # random
print(model.syn1neg.shape, model.wv.vectors.shape, model.layer1_size)
model.wv.vectors_lockf = np.ones(len(model.wv), dtype=np.float32)
model.wv.intersect_word2vec_format("toy.txt", lockf=1.0)
print(model.wv["graph"])  # random
print(model.init_sims())
print(model.wv.fill_norms())

# Vectors of a file.
kv = KeyedVectors.load_word2vec_format("vectors.bin", binary=True)
print(kv)
print(kv.most_similar("king", topn=4))
print(kv.most_similar(positive=["king", "woman"], negative=["man"], topn=3))
print(kv.most_similar_cosmul(positive=["king", "woman"], negative=["man"], topn=3))
print(kv.similar_by_word("war", topn=2), kv.similar_by_vector(kv["war"], topn=2))
print(kv.similarity("king", "queen"), kv.distance("king", "queen"))
print(kv.doesnt_match(["king", "queen", "war"]))
print(kv.n_similarity(["king", "queen"], ["man", "woman"]))
print(kv.rank("king", "queen"), kv.closer_than("king", "queen")[:2])
print(kv.distances("king", ["queen", "war"]))
print(kv.get_mean_vector(["king", "queen"])[:3])
print(kv.get_vector("king", norm=True)[:3], kv.vector_size)
print(kv.get_normed_vectors()[5, :3])
print(kv.has_index_for("king"), kv.get_index("king"), "king" in kv)
print(kv.most_similar_to_given("king", ["queen", "war"]))
print(kv.rank_by_centrality(["king", "queen", "war"]))
print(kv.cosine_similarities(kv["king"], kv.vectors[:3]))
kv.add_vectors(["newword"], [kv["king"] + 0.01])
print(kv.most_similar("newword", topn=1), kv.norms.shape)
kv["newword"] = kv["war"] * 5
print(kv.most_similar("newword", topn=1), kv.similarity("newword", "war"))
kv.add_vector("other", kv["queen"])
print(len(kv.index_to_key), kv.index_to_key[-1])
kv.save_word2vec_format("out.txt", binary=False)
print(Path("out.txt").read_text(encoding="utf-8").split("\n")[0])
print(KeyedVectors.load_word2vec_format("out.txt", limit=100).vectors.shape)
print(glove2word2vec("glove.txt", "glove.w2v"))
print(KeyedVectors.load_word2vec_format("glove.w2v")["the"])
print(KeyedVectors.load_word2vec_format("glove.txt", no_header=True)["the"])
subset = kv.vectors_for_all(["king", "queen", "nope"])
print(subset.index_to_key)

# Subwords.
ft = FastText(vector_size=12, window=3, min_count=1, min_n=2, max_n=4, bucket=1000, workers=1)
ft.build_vocab(corpus_iterable=common_texts)
ft.train(corpus_iterable=common_texts, total_examples=len(common_texts), epochs=2)
print("computation" in ft.wv.key_to_index, ft.wv["computation"].shape)
print(ft.wv.most_similar("computations", topn=2))  # random
print(ft.wv.min_n, ft.wv.max_n, ft.wv.bucket)
print(ft.wv.vectors_ngrams.shape, ft.wv.vectors_vocab.shape)
print(ft)
wiki = load_facebook_vectors("wiki.bin")
print(wiki.most_similar("kings", topn=3))
print(wiki["neverseen"][:4], "neverseen" in wiki, "neverseen" in wiki.key_to_index)
print(load_facebook_model("wiki.bin").wv["king"][:3])

# Phrases.
phrases = Phrases(LineSentence("text.txt"), min_count=20, threshold=50, connector_words=ENGLISH_CONNECTOR_WORDS)
bigram = Phraser(phrases)
print(bigram[["in", "the", "united", "states", "of", "america"]])
print(sorted(phrases.export_phrases().items())[:3])

# Documents.
documents = [TaggedDocument(words, [i]) for i, words in enumerate(common_texts)]
d2v = Doc2Vec(documents, vector_size=8, min_count=1, epochs=3, workers=1)
print(len(d2v.dv), d2v.dv[0].shape, d2v.infer_vector(["system", "response"]).shape)
print(d2v.dv.most_similar([d2v.infer_vector(["graph", "trees"])], topn=2))  # random
print(d2v)


class Losses(CallbackAny2Vec):
    def __init__(self):
        self.losses = []

    def on_epoch_end(self, model):
        self.losses.append(model.get_latest_training_loss())


told = Losses()
Word2Vec(common_texts, min_count=1, epochs=3, compute_loss=True, callbacks=[told], workers=1)
print(len(told.losses), told.losses[-1] > 0)

# Vectors of one model in another.
other = Word2Vec(vector_size=kv.vector_size, min_count=1, workers=1)
other.wv = kv
print(len(other.wv), other.wv.most_similar("queen", topn=2))

# What goes wrong.
print(kv["zzzzzz"])
print(kv.most_similar("zzzzzz"))
print(KeyedVectors.load_word2vec_format("missing.bin", binary=True))
print(Word2Vec.load("missing.model"))
print(KeyedVectors.load("missing.kv"))
print(load_facebook_vectors("missing.bin"))
print(Word2Vec(common_texts, size=100))
print(model.wv.vocab)
print(kv.index2word)
print(model.most_similar("graph"))
print(LineSentence("missing.txt"))
print(list(LineSentence("missing.txt")))
print(Word2Vec(corpus_file="missing.txt"))
print(get_tmpfile("x.model").endswith("x.model"), datapath)
print(api.load)
