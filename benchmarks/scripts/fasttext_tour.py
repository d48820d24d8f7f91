"""A classifier of questions, word vectors and a language detector, as users of fastText's module write it."""

from pathlib import Path

import fasttext
import fasttext.util
import numpy as np

# Which language is it?
detector = fasttext.load_model("lid.176.ftz")
sentences = ["Where is the nearest station?", "Wo ist der Bahnhof?", "¿Dónde está la estación?", "駅はどこですか"]
print(detector.predict(sentences[0]))
print(detector.predict(sentences[1], k=3))
print(detector.predict(sentences))
print(detector.predict(sentences, k=2, threshold=0.1))
labels, probabilities = detector.predict("Où est la gare ?", k=2)
print([label.replace("__label__", "") for label in labels], probabilities[0] > 0.9)
print(detector.predict("", k=1))
print(detector.predict("1234 5678"))
print(len(detector.labels), sorted(detector.get_labels())[:3])
print(detector.is_quantized(), detector.get_dimension())
print([detector.predict(line)[0][0] for line in sentences])
print(detector.predict("two\nlines"))

# A classifier of questions about food.
model = fasttext.train_supervised(
    input="cooking.train", epoch=5, lr=0.5, wordNgrams=2, bucket=50000, thread=1, verbose=0
)
print(len(model.words), len(model.labels))
print(model.words[:5], model.labels[:5])
count, precision, recall = model.test("cooking.valid")
print(count, 0.2 < precision < 0.8, 0 < recall < 0.5)
print(model.test("cooking.valid", k=5)[0])
print(model.predict("How do I keep a cheese sauce from going grainy?", k=3))  # random
print(model.predict(["why does my bread not rise", "best pan for eggs"], k=2))  # random
scores = model.test_label("cooking.valid")
print(sorted(scores)[:3], sorted(scores["__label__baking"]))
print(model.get_sentence_vector("bread and butter").shape)
print(model.get_input_matrix().shape, model.get_output_matrix().shape)
print(model.get_line("__label__baking how long does dough keep"))
print(model.get_line(["one line", "another __label__eggs line"]))
print(model.get_label_id("__label__baking"), model.get_word_id("the"), model.get_word_id("__label__baking"))
print(model.epoch, model.lr, model.wordNgrams, model.loss.name, model.dim, model.label)
words, counts = model.get_words(include_freq=True)
print(words[:4], counts[:4], counts.dtype)
names, frequencies = model.get_labels(include_freq=True)
print(names[:3], frequencies[:3])
meter = model.get_meter("cooking.valid")
print(meter.precision_at_recall(0.2) > 0.1)
model.save_model("cooking.bin")
again = fasttext.load_model("cooking.bin")
print(again.predict("banana bread") == model.predict("banana bread"))  # random
model.quantize(input="cooking.train", cutoff=5000)
model.save_model("cooking.ftz")
print(Path("cooking.ftz").stat().st_size < Path("cooking.bin").stat().st_size)
print(fasttext.load_model("cooking.ftz").is_quantized())
print(model.f.isQuant())

# Word vectors.
vectors = fasttext.train_unsupervised("text.txt", model="skipgram", dim=20, epoch=1, minCount=20, bucket=20000)
print(vectors.get_word_vector("king").shape, vectors["king"].dtype)
print(len(vectors.words), vectors.words[:3])
known = fasttext.load_model("wiki.bin")
print(known.get_nearest_neighbors("king", k=4))
print(known.get_nearest_neighbors("unseenword", k=3))
print(known.get_analogies("king", "man", "woman", k=3))
print(known.get_subwords("kings"))
print(known.get_subword_id("kin"))
print(known["king"][:4], known.get_word_vector("neverseen")[:4])
print(np.dot(known["king"], known["queen"]))
print("king" in known, "zzzzzz" in known)
print(known.get_sentence_vector("the king and the queen")[:4])
print(known.get_input_vector(3)[:3])
print(len(known.get_words()), known.get_dimension())
print(fasttext.tokenize("a tab\tand two lines\nhere"))
print(known.get_word_id("king"), known.get_word_id("neverseen"))

# What goes wrong.
print(fasttext.load_model("missing.bin"))
print(fasttext.train_supervised(input="missing.txt"))
print(fasttext.train_supervised(input="cooking.train", learning_rate=1))
print(known.predict("a line"))
print(fasttext.supervised("cooking.train"))
fasttext.util.reduce_model(known, 10)
print(known.get_dimension())
