"""What gensim has and this package cannot give in the same way: each refusal with its reason and the way out.

An argument raises UsageError unless it has its default; a method raises AttributeError. The guide `gensim` shows both
tables.
"""

import warnings
from functools import wraps
from typing import Any, TypeVar

from wv_cli.errors import UsageError

# argument: (gensim's default, why no other value is taken)
ARGUMENTS: dict[str, tuple[Any, str]] = {
    "max_vocab_size": (None, "all words are counted, in C; use max_final_vocab or min_count"),
    "hashfxn": (hash, "starting vectors depend on seed alone"),
    "sorted_vocab": (1, "words are always in order of falling count"),
    "null_word": (0, "only dm_concat has a vector for places without a word, and always has it"),
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
# What stays with gensim, by the module that has it there.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "gensim": ("corpora", "interfaces", "matutils", "parsing", "similarities", "topic_coherence"),
    "gensim.models": (
        "AtireBM25Model", "AuthorTopicModel", "BackMappingTranslationMatrix", "CoherenceModel", "EnsembleLda",
        "HdpModel", "LdaModel", "LdaMulticore", "LdaSeqModel", "LogEntropyModel", "LsiModel", "LuceneBM25Model", "Nmf",
        "NormModel", "OkapiBM25Model", "RpModel", "TfidfModel", "TranslationMatrix",
    ),
}  # fmt: skip
_TRAINED = "every vector is trained; in on_epoch_end of a callback set those to keep again: model.wv[words] = kept"
# method: why it is missing
METHODS: dict[str, str] = {
    "score": "use a language model (`wv lm`) for log-likelihoods of sentences",
    "reset_from": "models share no arrays; give the vocabulary with build_vocab_from_freq",
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
    "vectors_lockf": _TRAINED,
    "vectors_vocab_lockf": _TRAINED,
    "vectors_ngrams_lockf": _TRAINED,
    "syn1neg_lockf": "every vector is trained",
    "vectors_vocab": "the vectors have no n-grams",
    "vectors_ngrams": "the vectors have no n-grams",
    "estimated_lookup": "use infer_vector",
}
# name of gensim 3: what gensim 4 has instead
OLD_NAMES: dict[str, str] = {
    "size": "vector_size",
    "iter": "epochs",
    "vocab": "key_to_index, or get_vecattr(word, 'count')",
    "index2word": "index_to_key",
    "index2entity": "index_to_key",
    "syn0": "vectors",
    "syn0norm": "get_normed_vectors()",
    "vectors_norm": "get_normed_vectors()",
    "accuracy": "evaluate_word_analogies",
    "add": "add_vectors",
    "add_entity": "add_vector",
    "common_terms": "connector_words",
    "docs": "dv",
    "trainables": "the model's own attributes",
    "vocabulary": "the model's own attributes",
}


def refuse(**given: Any) -> None:
    """Raises UsageError for the first argument that has another value than its default in ARGUMENTS."""
    for name, value in given.items():
        default, reason = ARGUMENTS[name]
        if value is not default and not (isinstance(value, int | float) and value == default):
            message = f"{name}={value!r:.40} has no effect here: {reason}; leave it out"
            raise UsageError(message)


def missing_attribute(thing: object, name: str, reason: str | None = None) -> AttributeError:
    """The error for an attribute that an object does not have, with the reason or the name that gensim 4 has for it."""
    reason = reason or METHODS.get(name) or (f"use {OLD_NAMES[name]}" if name in OLD_NAMES else None)
    return AttributeError(f"{type(thing).__name__} has no {name}" + (f": {reason}" if reason else ""))


KindType = TypeVar("KindType", bound=type)


def name_old_arguments(kind: KindType) -> KindType:
    """A class whose constructor tells an argument of gensim 3 its name of today."""
    construct = kind.__init__  # type: ignore[misc]

    @wraps(construct)
    def construct_named(self: Any, *args: Any, **given: Any) -> None:
        for name in given:
            if name in OLD_NAMES:
                message = f"{kind.__name__} has no argument {name}: use {OLD_NAMES[name]}"
                raise TypeError(message)
        construct(self, *args, **given)

    kind.__init__ = construct_named  # type: ignore[misc]
    return kind


def warn_deprecated(name: str, reason: str) -> None:
    """Warns the caller's caller, in gensim's words."""
    warnings.warn(f"Call to deprecated `{name}` ({reason}).", DeprecationWarning, stacklevel=3)


def missing_name(module: str, name: str) -> Exception:
    """What `from wv_cli.MODULE import NAME` raises: for what stays with gensim how to import it, in the place of the
    error that Python would make of an AttributeError."""
    if name in ELSEWHERE[module]:
        return ImportError(f"wv_cli.{module} has no {name}; keep gensim for it: from {module} import {name}")
    return AttributeError(f"module 'wv_cli.{module}' has no attribute {name!r}")
