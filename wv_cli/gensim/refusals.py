"""What gensim has and this package cannot give in the same way: each refusal with its reason and the way out.

An argument raises UsageError unless it has its default; a method raises AttributeError. The guide `gensim` shows both
tables.
"""

from typing import Any

from wv_cli.errors import UsageError

# argument: (gensim's default, why no other value is taken)
ARGUMENTS: dict[str, tuple[Any, str]] = {
    "max_vocab_size": (None, "all words are counted, in C; use max_final_vocab or min_count"),
    "hashfxn": (hash, "starting vectors depend on seed alone"),
    "sorted_vocab": (1, "words are always in order of falling count"),
    "null_word": (0, "only dm_concat has a vector for places without a word, and always has it"),
    "comment": (None, "nothing would read it"),
    "word_ngrams": (1, "only classifiers have n-grams of words: wv_cli.train(..., model='supervised')"),
    "dbow_words": (0, "dbow trains no word vectors; train Word2Vec beside it, or use dm=1"),
    "dm_tag_count": (1, "dm_concat joins the vector of one tag"),
    "dv_mapfile": (None, "document vectors are in memory; they need 4 bytes a number"),
    "mapfile_path": (None, "load(name, mmap='r') maps the file of vectors"),
    "dtype": (None, "vectors are float32"),
    "datatype": (None, "vectors are float32"),
    "extras": (None, "a word has a vector and a count"),
    "append": (False, "a file appears whole or not at all"),
    "total_vec": (None, "the header says how many rows there are"),
    "keep_raw_vocab": (False, "counts of dropped words are not kept"),
    "word_count": (0, "training always reads the whole text"),
}
# method: why it is missing
METHODS: dict[str, str] = {
    "score": "use a language model (`wv lm`) for log-likelihoods of sentences",
    "reset_from": "models share no arrays; give the vocabulary with build_vocab_from_freq",
    "init_sims": "gensim 4 advises against it; use get_normed_vectors()",
    "intersect_word2vec_format": "use wv_cli.train(..., init=FILE)",
    "init_weights": "build_vocab makes the vectors",
    "prepare_vocab": "build_vocab does it",
    "prepare_weights": "build_vocab does it",
    "scan_vocab": "build_vocab does it",
    "update_weights": "build_vocab(update=True) does it",
    "estimate_memory": "`wv train` shows the memory it needs before it trains",
    "allocate_vecattrs": "a word has a vector and a count",
    "set_vecattr": "a word has a vector and a count",
    "resize_vectors": "add_vectors makes rows",
    "sort_by_descending_frequency": "words are always in order of falling count",
    "syn1": "hierarchical softmax has it; give hs=1",
    "syn1neg": "negative sampling has it; give negative above 0",
    "vectors_lockf": "every vector is trained",
    "syn1neg_lockf": "every vector is trained",
    "save_word2vec_format": "use that of model.wv, or of model.dv",
    "vectors_vocab": "the vectors have no n-grams",
    "vectors_ngrams": "the vectors have no n-grams",
    "estimated_lookup": "use infer_vector",
}


def refuse(**given: Any) -> None:
    """Raises UsageError for the first argument that has another value than its default in ARGUMENTS."""
    for name, value in given.items():
        default, reason = ARGUMENTS[name]
        if value is not default and not (isinstance(value, int) and value == default):
            message = f"{name}={value!r:.40} has no effect here: {reason}; leave it out"
            raise UsageError(message)


def missing_attribute(thing: object, name: str) -> AttributeError:
    """The error for an attribute that an object does not have, with the reason if it is one of METHODS."""
    reason = METHODS.get(name)
    return AttributeError(f"{type(thing).__name__} has no {name}" + (f": {reason}" if reason else ""))
