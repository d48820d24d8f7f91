"""wv: word vectors and text classifiers, on the command line and in Python.

    import wv_cli

    wv_cli.train("corpus.txt", "vectors.bin", dim=100, epochs=5)    # the options are those of `wv train`
    vectors = wv_cli.load("vectors.bin")                            # Embeddings
    vectors.neighbors(["king", "woman"], ["man"], k=5)              # [("queen", 0.71), ...]
    wv_cli.save("vectors.vec", vectors)                             # the ending chooses the format
    wv_cli.load_classifier("topics.bin").predict(["a line"], k=2)   # [[("__label__cooking", 0.93), ...]]
    wv_cli.load_encoder("topics").encode(["a text"])                # a row for each text
    wv_cli.Filter(words="50..100000")(["a text"]).keep              # the rules of `wv filter`, for batches
    wv_cli.whiten("vectors.bin", "white.bin", method="zca")         # and so with other commands
    wv_cli.nn("vectors.bin", ["king"], k=5)["answers"]              # what `wv nn --json` prints, for each query

The commands use this library. It prints nothing and does not import click. A bad file raises WvError, a bad
option UsageError, which is one; their text is written for the user. A word without a vector raises KeyError; a call
without any word raises ValueError.
"""

# Nothing is imported before the entry point has a say in what Ctrl-C does; typing would take half of that time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from wv_cli.cli import eval_functions as eval
    from wv_cli.cli.batch_filter import Filter
    from wv_cli.cli.encode import encode
    from wv_cli.cli.functions import (
        align,
        analogy,
        bioword,
        build_vocab,
        check,
        convert,
        distil,
        drift,
        filter,
        glove,
        hash,
        lm_convert,
        lm_mix,
        lm_train,
        nn,
        odd_one_out,
        phrases,
        plot,
        predict,
        quantize,
        search,
        search_export,
        search_index,
        similarity,
        texts_distance,
        tokenize,
        train,
        whiten,
    )
    from wv_cli.cli.load_encoder import load_encoder
    from wv_cli.cli.text_encoder import TextEncoder
    from wv_cli.cli.text_index import Index
    from wv_cli.errors import BadFile, GateMissed, Interrupted, TimedOut, UsageError, WvError
    from wv_cli.models.classifier import Classifier, load_classifier
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats import load, save

__version__ = "0.5.0"
__all__ = [
    "BadFile",
    "Classifier",
    "Embeddings",
    "Filter",
    "GateMissed",
    "Index",
    "Interrupted",
    "TextEncoder",
    "TimedOut",
    "UsageError",
    "WvError",
    "align",
    "analogy",
    "bioword",
    "build_vocab",
    "check",
    "convert",
    "distil",
    "drift",
    "encode",
    "eval",
    "filter",
    "glove",
    "hash",
    "lm_convert",
    "lm_mix",
    "lm_train",
    "load",
    "load_classifier",
    "load_encoder",
    "nn",
    "odd_one_out",
    "phrases",
    "plot",
    "predict",
    "quantize",
    "save",
    "search",
    "search_export",
    "search_index",
    "similarity",
    "texts_distance",
    "tokenize",
    "train",
    "whiten",
]

# Imported when first asked for, so that `wv --help` loads no numpy. All others are commands as functions.
_PUBLIC = {
    "Classifier": "wv_cli.models.classifier",
    "Embeddings": "wv_cli.vectors.embeddings",
    "Filter": "wv_cli.cli.batch_filter",
    "Index": "wv_cli.cli.text_index",
    "TextEncoder": "wv_cli.cli.text_encoder",
    "encode": "wv_cli.cli.encode",
    **dict.fromkeys(("BadFile", "GateMissed", "Interrupted", "TimedOut", "UsageError", "WvError"), "wv_cli.errors"),
    "load": "wv_cli.vectors.formats",
    "load_classifier": "wv_cli.models.classifier",
    "load_encoder": "wv_cli.cli.load_encoder",
    "save": "wv_cli.vectors.formats",
}


if not TYPE_CHECKING:  # an unknown name is an error for editors and type checkers, too

    def __getattr__(name: str) -> object:
        if name not in __all__:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        import importlib

        if name == "eval":
            return importlib.import_module("wv_cli.cli.eval_functions")
        from wv_cli.io import built  # noqa: F401

        value: object = getattr(importlib.import_module(_PUBLIC.get(name, "wv_cli.cli.functions")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
