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
            ("train", "train", "Train word vectors, a classifier or a language model."),
            ("glove", "glove", "Train GloVe vectors; count co-occurrences."),
            ("predict", "predict", "Predict the labels of lines with a classifier."),
            ("lm", "lm.group", "Train language models of n-grams; ask these and neural ones."),
            ("whiten", "whiten", "Whiten vectors; remove their common directions; PCA."),
            ("align", "align", "Turn vectors into the space of others."),
            ("quantize", "quantize", "Make a fastText model many times smaller."),
            ("hash", "hash", "Turn vectors into binary codes."),
            ("bioword", "bioword", "Learn binary codes of words from a text."),
            ("index", "index", "Build an index for approximate search."),
            ("nn", "nn", "Show the nearest neighbours of words."),
            ("analogy", "analogy", "Answer `a is to b as c is to ?`."),
            ("similarity", "similarity", "Show how similar two words are, or two lists of words."),
            ("odd-one-out", "odd_one_out", "Show which word does not belong to the others."),
            ("texts-distance", "texts_distance", "Word mover's distance of texts; the texts nearest to one."),
            ("drift", "drift", "Show which words changed most between two vector files."),
            ("vectors", "vectors", "Print the vectors of words, sentences or n-grams."),
            ("distil", "distil", "Turn an encoder of sentences into vectors of words."),
            ("eval", "eval", "Score vectors on word and sentence similarity and analogies."),
            ("plot", "plot", "Draw words as points in the plane."),
            ("convert", "convert", "Convert vectors between file formats."),
            ("check", "check", "Look for damage in a vector file."),
            ("dump", "dump", "Print what a fastText model holds."),
            ("links", "links", "Make links named word2vec, fasttext, ... for scripts that call these."),
            ("demo", "demo", "Train on the shipped text, then show neighbours and scores."),
            ("help", "help", "Show the help of a command, or of a program that wv replaces."),
        ]
    ],
)
# The programs that wv replaces, each with its own command line (commands/compat).
COMPAT: Registry[Command] = Registry(
    "command",
    [
        (name, Command(f"wv_cli.commands.compat.{module}", summary))
        for name, module, summary in [
            ("word2vec", "word2vec", "word2vec's own command line: -train FILE -output FILE ..."),
            ("word2phrase", "word2phrase", "word2phrase's: join the phrases of a text."),
            ("distance", "distance", "distance's: the 40 nearest words, asked for in turn."),
            ("word-analogy", "word_analogy", "word-analogy's: a is to b as c is to ?"),
            ("compute-accuracy", "compute_accuracy", "compute-accuracy's: analogy questions by section."),
            ("fasttext", "fasttext", "fastText's: supervised, skipgram, predict, test, nn, ..."),
            ("glove-tools", "glove_tools", "GloVe's four: vocab_count, cooccur, shuffle, glove."),
        ]
    ],
)
# By what names the originals are called (`wv links`) -> the words after `wv` that mean the same.
PROGRAMS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("word2vec", "word2phrase", "distance", "word-analogy", "compute-accuracy")},
    "fasttext": ("fasttext",),
    **{name: ("glove-tools", name) for name in ("vocab_count", "cooccur", "shuffle", "glove")},
}
