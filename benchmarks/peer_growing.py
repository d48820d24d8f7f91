"""gensim as suite `growing` runs it: `peer_growing.py JSON` trains on a text and goes on with a second one, in place.

`build_vocab(update=True)` and `train` as gensim's documentation has them; the vectors after each text are written in
the word2vec binary format.
"""

import json
import sys


def main() -> None:
    from gensim.models import Word2Vec

    job = json.loads(sys.argv[1])
    rates = {"start_alpha": job["lr"], "end_alpha": job["lr"] * 1e-4}
    model = Word2Vec(
        sg=1,
        negative=job["negative"],
        vector_size=job["dim"],
        window=job["window"],
        sample=job["sample"],
        min_count=job["min_count"],
        workers=job["threads"],
        seed=job["seed"],
    )
    for number, (corpus, output) in enumerate(zip(job["corpora"], job["outputs"], strict=True)):
        model.build_vocab(corpus_file=corpus, update=number > 0)
        words = model.corpus_total_words
        model.train(corpus_file=corpus, total_words=words, epochs=job["epochs"], **rates)
        model.wv.save_word2vec_format(output, binary=True)


if __name__ == "__main__":
    main()
