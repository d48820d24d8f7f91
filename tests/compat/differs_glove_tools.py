"""The recorded runs of GloVe's programs in which ours does something else, and why."""

# All else in these runs is as recorded: test_glove_tools.py.
FIRST_RECORD = dict.fromkeys(
    [
        f"cooccur/{name}"
        for name in (
            "defaults", "distance-weighting-0", "distance-weighting-1", "h-with-vocab", "memory", "memory-4",
            "one-pair", "oov-keeps-distance", "progress-100000-tokens", "symmetric-0", "symmetric-1", "unknown-flag",
            "verbose-0", "verbose-1", "verbose-2", "vocab-duplicate", "vocab-file", "window-size",
            "window-size-larger-than-line",
        )
    ],
    "the first record has its true count; the original doubles it when no pair is left to its temporary files",
)  # fmt: skip
DIFFERS_GLOVE_TOOLS = {
    **FIRST_RECORD,
    **dict.fromkeys(
        ["cooccur/overflow-file", "cooccur/overflow-length"],
        "the records are the same; ours has no temporary files to count and tells of 2",
    ),
    "cooccur/verbose-3": "-verbose 3 is as 2: no line for each word; the first record has its true count",
    "glove/input-empty": "refused: there are no counts to train on",
    "glove/save-dir-missing": "refused before training; the original trains first",
    "glove/vocab-unk": "refused before training; the original trains first and leaves a part of a file",
}
