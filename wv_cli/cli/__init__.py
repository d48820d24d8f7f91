"""The table of subcommands: the module of each, its line in `wv --help`, and the group it is listed in.

A command file holds usage, options and the call into the library; it is imported only when it is used, so `wv --help`
and shell completion stay fast.
"""

from typing import NamedTuple

from wv_cli.registry import Registry


class Command(NamedTuple):
    """`module` has the click command as `command`, or is MODULE:CLASS of the job that it is made of. `group` is the
    heading of `wv --help` under which the command stands; rows of one group stand together."""

    module: str
    summary: str
    group: str


COMMANDS: Registry[Command] = Registry(
    "command",
    [
        (name, Command(f"wv_cli.{'commands' if ':' in module else 'cli.custom'}.{module}", summary, group))
        for group, name, module, summary in [
            ("Train", "build-vocab", "vocabulary:VocabularyJob", "Count the words of a text; merge earlier counts."),
            ("Train", "phrases", "phrases:PhrasesJob", "Join words that belong together: new york -> new_york."),
            ("Train", "train", "train:TrainJob", "Train word vectors, a classifier or a language model."),
            ("Train", "glove", "glove:GloveJob", "Train GloVe vectors; count co-occurrences."),
            ("Train", "bioword", "bioword:BiowordJob", "Learn binary codes of words from a text."),
            ("Ask", "nn", "nn:NnJob", "Show the nearest neighbors of words."),
            ("Ask", "analogy", "analogy:AnalogyJob", "Answer `a is to b as c is to ?`."),
            ("Ask", "similarity", "similarity:SimilarityJob", "Show how similar two words are, or two lists of words."),
            ("Ask", "odd-one-out", "odd_one_out:OddOneOutJob", "Show which word does not belong to the others."),
            (
                "Ask",
                "texts-distance",
                "texts_distance:TextsDistanceJob",
                "Measure the word mover's distance of texts; find the texts nearest to one.",
            ),
            ("Ask", "drift", "drift:DriftJob", "Show which words changed most between two vector files."),
            ("Ask", "vectors", "vectors", "Print the vectors of words, sentences or n-grams."),
            ("Ask", "predict", "predict:PredictJob", "Predict the labels of lines with a classifier."),
            ("Ask", "plot", "plot:PlotJob", "Draw words as points in the plane."),
            ("Ask", "search", "search", "Search files and folders of text; build an index of them."),
            ("Curate", "filter", "filter:FilterJob", "Keep the records of a corpus that pass rules."),
            ("Curate", "tokenize", "tokenize:TokenizeJob", "Cut raw text into words, for the commands that train."),
            ("Evaluate", "eval", "eval", "Score vectors, classifiers and language models on test data."),
            ("Evaluate", "demo", "demo", "Train on the shipped text, then show neighbors and scores."),
            (
                "Transform",
                "whiten",
                "whiten:WhitenJob",
                "Whiten vectors, remove their common directions, or reduce them with PCA.",
            ),
            ("Transform", "align", "align:AlignJob", "Rotate vectors into the space of others."),
            ("Transform", "quantize", "quantize:QuantizeJob", "Make a fastText model many times smaller."),
            ("Transform", "hash", "hash:HashJob", "Turn vectors into binary codes."),
            ("Transform", "distil", "distil:DistilJob", "Turn a sentence encoder into a static embedding."),
            ("Language models", "lm", "lm", "Train n-gram language models; query these and neural ones."),
            ("Files and help", "convert", "convert:ConvertJob", "Convert vectors between file formats."),
            ("Files and help", "check", "check:CheckJob", "Look for damage in a vector file."),
            ("Files and help", "dump", "dump", "Print the contents of a fastText model."),
            (
                "Files and help",
                "links",
                "links",
                "Make links named word2vec, fasttext, ... for scripts that call these.",
            ),
            ("Files and help", "help", "help", "Show the help of a command, or of a program that wv replaces."),
        ]
    ],
)
# The subcommands that are jobs: the job of each, and its line in the help.
SUBCOMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "lm": {
        "train": ("wv_cli.commands.ngrams:NgramJob", "Train a model of n-grams on a text."),
        "convert": ("wv_cli.commands.lm_convert:LmConvertJob", "Write a model in another format."),
        "mix": ("wv_cli.commands.lm_mix:LmMixJob", "Write several models as one."),
    },
    "search": {
        "index": ("wv_cli.commands.search:SearchIndexJob", "Build or update the index of a folder."),
        "export": ("wv_cli.commands.search_export:SearchExportJob", "Write an index for other programs."),
    },
}
# The programs that wv replaces, each with its own command line.
COMPAT: Registry[Command] = Registry(
    "command",
    [
        (name, Command(f"wv_cli.cli.compat.{module}", summary, "The originals' command lines"))
        for name, module, summary in [
            ("word2vec", "word2vec", "word2vec: -train FILE -output FILE ..."),
            ("word2phrase", "word2phrase", "word2phrase: join the phrases of a text."),
            ("distance", "distance", "distance: the 40 nearest words, asked for in turn."),
            ("word-analogy", "word_analogy", "word-analogy: a is to b as c is to ?"),
            ("compute-accuracy", "compute_accuracy", "compute-accuracy: analogy questions by section."),
            ("fasttext", "fasttext", "fastText: supervised, skipgram, predict, test, nn, ..."),
            ("glove-tools", "glove_tools", "GloVe's vocab_count, cooccur, shuffle and glove."),
        ]
    ],
)

# The commands that gain from threads for matrix products, which cost every command .1 s at its start.
WITH_PRODUCTS = frozenset({"eval", "drift", "plot", "whiten", "align", "hash", "index", "distil"})


def group_commands() -> dict[str, list[tuple[str, Command]]]:
    """The rows of both tables by their group, in the order of the tables."""
    rows = [*COMMANDS.items(), *COMPAT.items()]
    return {
        group: [row for row in rows if row[1].group == group] for group in dict.fromkeys(row.group for _, row in rows)
    }


# The originals' program names (made by `wv links`), and the words after `wv` that mean the same.
PROGRAMS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("word2vec", "word2phrase", "distance", "word-analogy", "compute-accuracy")},
    "fasttext": ("fasttext",),
    **{name: ("glove-tools", name) for name in ("vocab_count", "cooccur", "shuffle", "glove")},
}
