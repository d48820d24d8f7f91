"""The table of subcommands: name -> the module that holds `command`, and the line `wv --help` shows for it.

A command file holds usage, options and the call into the library; it is imported only when it is used, so `wv --help`
and shell completion stay fast.
"""

from dataclasses import dataclass

from wv_cli.registry import Registry


@dataclass(frozen=True)
class Command:
    module: str
    summary: str


COMMANDS: Registry[Command] = Registry(
    "command",
    [
        (name, Command(f"wv_cli.commands.{module}", summary))
        for name, module, summary in [
            ("build-vocab", "build_vocab", "Count the words of a text; merge counts made elsewhere."),
            ("phrases", "phrases", "Join words that belong together: new york -> new_york."),
            ("train", "train", "Train word vectors or a text classifier."),
            ("glove", "glove", "Train GloVe vectors; count co-occurrences."),
            ("predict", "predict", "Predict the labels of lines with a classifier."),
            ("whiten", "whiten", "Whiten vectors; remove their common directions; PCA."),
            ("quantize", "quantize", "Make a fastText model many times smaller."),
            ("hash", "hash", "Turn vectors into binary codes."),
            ("bioword", "bioword", "Learn binary codes of words from a text."),
            ("nn", "nn", "Show the nearest neighbours of words."),
            ("analogy", "analogy", "Answer `a is to b as c is to ?`."),
            ("vectors", "vectors", "Print the vectors of words, sentences or n-grams."),
            ("eval", "eval", "Score vectors on word and sentence similarity and analogies."),
            ("plot", "plot", "Draw words as points in the plane."),
            ("convert", "convert", "Convert vectors between file formats."),
            ("check", "check", "Look for damage in a vector file."),
            ("dump", "dump", "Print what a fastText model holds."),
            ("demo", "demo", "Train on the shipped text, then show neighbours and scores."),
        ]
    ],
)
