"""What is wrong with a command line, in one line: options that do not exist and what they are called here."""

import re

import click

from wv_cli.commands.shared.options import range_of

WORDS = "wv.words"  # in a context's meta: the whole command line

# What word2vec, fastText, GloVe and gensim call it -> what we do: options, of which the first that the command has is
# meant, or else words that say what to do. Written without dashes, underscores and capitals; names that differ from an
# option in nothing else need no row.
SYNONYMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("size", "vectorsize", "dimension", "dimensions"), ("--dim",)),
    **dict.fromkeys(("iter", "iters", "niter", "epoch"), ("--epochs", "--iterations")),
    "epochs": ("--iterations",),
    "iterations": ("--epochs",),
    **dict.fromkeys(("thread", "workers", "numthreads"), ("--threads",)),
    **dict.fromkeys(("ws", "windowsize"), ("--window",)),
    "shrinkwindows": ("--shrink-window",),
    **dict.fromkeys(("neg", "negatives"), ("--negative",)),
    **dict.fromkeys(("alpha", "learningrate"), ("--lr", "--eta")),
    "lr": ("--eta",),
    "eta": ("--lr",),
    "minalpha": ("--lr-floor",),
    "lrupdaterate": ("leave it out: the learning rate falls steadily",),
    "t": ("--sample", "--threshold"),
    "hs": ("--loss hs",),
    "sg": ("--model skipgram or cbow",),
    "skipgram": ("--model skipgram",),
    "cbow": ("--model cbow or skipgram",),
    "supervised": ("--model supervised",),
    "nsexponent": ("--power",),
    "minngram": ("--minn",),
    "maxngram": ("--maxn",),
    "bucket": ("--buckets",),
    "wordngram": ("--word-ngrams",),
    "label": ("--label-prefix",),
    "pretrainedvectors": ("--pretrained", "--init"),
    "saveoutput": ("--save-output-vectors",),
    "autotunemodelsize": ("--autotune-size",),
    **dict.fromkeys(("train", "corpusfile", "corpus", "sentences"), ("name the text without an option",)),
    "input": ("name the input without an option",),
    **dict.fromkeys(("readvocab", "vocabfile", "loadvocab"), ("--vocab",)),
    "savevocab": ("make the vocabulary with `wv build-vocab`, then give --vocab",),
    **dict.fromkeys(("maxvocabsize", "maxfinalvocab", "maxvocabulary"), ("--max-vocab",)),
    "binary": ("choose by the output's ending: .bin is binary, .vec text",),
    "writeheader": ("choose by the output's ending: .vec has a header, .glove has none",),
    "noheader": ("--from glove-text",),
    **dict.fromkeys(("debug", "verbose", "silent"), ("--quiet",)),
    "savefile": ("--output",),
    "out": ("--output",),
    "inputfile": ("--counts",),
    "distanceweighting": ("--weighting",),
    "model": ("--vectors",),
    **dict.fromkeys(("maxproduct", "overflowlength", "arraysize"), ("--memory",)),
    **dict.fromkeys(("overflowfile", "tempfile"), ("leave it out: temporary files have no names",)),
    **dict.fromkeys(("loadinitparam", "initparamfile"), ("--init",)),
    **dict.fromkeys(("loadinitgradsq", "initgradsqfile", "gradsqfile"), ("--init-gradsq",)),
    **dict.fromkeys(("savegradsq", "saveinitparam"), ("--checkpoint",)),
    "scoring": ("--score",),
    **dict.fromkeys(("minfreq", "minfrequency", "freq", "cutoff"), ("--min-count",)),
    **dict.fromkeys(("gpu", "cuda", "device"), ("leave it out: wv computes on processors",)),
    "config": ("leave it out: options stand on the command line",),
    **dict.fromkeys(("subword", "subwords", "charngrams"), ("--preset fasttext", "--no-subwords")),
    **dict.fromkeys(("topk", "neighbors", "neighbours"), ("-k",)),
    "n": ("-k", "--order", "-n"),
    **dict.fromkeys(("metric", "cosine"), ("leave it out: words are compared by cosine",)),
    **dict.fromkeys(("dict", "dictionary", "seeddict"), ("--dictionary",)),
    "tsne": ("--method tsne",),
    **dict.fromkeys(("trees", "ntrees", "nlist", "efconstruction"), ("leave it out: --recall chooses the effort",)),
    **dict.fromkeys(("o", "output"), ("--output", "name the output behind the input, without an option")),
    "autotune": ("--autotune-validation FILE",),
    "connectorwords": ("leave it out: no words are joined specially",),
    "topn": ("-k",),
    "count": ("-n",),
    "bits": ("--length", "--quantize", "--dsub"),
    "ngram": ("--order",),
    "cosmul": ("--method 3cosmul",),
    "th": ("--threshold",),
    "top": ("-k",),
    "predictprob": ("--prob",),
    "restrictvocabulary": ("--restrict-vocab",),
    "dummy4unknown": ("--oov zero",),
    "caseinsensitive": ("--case",),
    "format": ("--to", "--from"),
}

# The same of values: what is meant by them, of which the first that is a choice counts.
VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sg", "word2vec", "sgns"), ("skipgram",)),
    **dict.fromkeys(("classifier", "classification", "sup", "text"), ("supervised",)),
    **dict.fromkeys(("paragraphvector", "pvdm", "pvdbow", "dbow", "dm"), ("doc2vec",)),
    **dict.fromkeys(("onevsall", "ovr", "onevsrest", "sigmoid", "bce", "binary"), ("ova",)),
    **dict.fromkeys(("negativesampling", "neg", "negative", "nsloss"), ("ns",)),
    **dict.fromkeys(("hierarchicalsoftmax", "hierarchical", "huffman"), ("hs",)),
    **dict.fromkeys(("crossentropy", "sm"), ("softmax",)),
    **dict.fromkeys(("flyhash", "flylsh"), ("fly",)),
    **dict.fromkeys(("simhash", "randomprojection", "hyperplanes"), ("lsh",)),
    **dict.fromkeys(("productquantization", "opq"), ("pq",)),
    **dict.fromkeys(("pcahash",), ("pcah",)),
    **dict.fromkeys(("kneserney", "kn", "modifiedkneserney", "mkn"), ("kneser-ney", "modified-kneser-ney")),
}
# Values of --model that are none here.
_OTHERWISE = {"glove": "`wv glove` trains that model", "fasttext": "--preset fasttext trains its subwords"}


def plain(name: str) -> str:
    """A name without what spellings differ in: `-minCount`, `--min-count` and `min_count` are one."""
    return re.sub(r"[-_]", "", name.partition("=")[0]).lower()


def flags(command: click.Command) -> list[str]:
    options = [each for each in command.params if isinstance(each, click.Option)]
    return ["--help", *(flag for each in options for flag in (*each.opts, *each.secondary_opts))]


def suggest_option(name: str, command: click.Command) -> str:
    """What to do instead of giving the option `name`, "" when nobody knows."""
    import difflib

    known = flags(command)
    same = [flag for flag in known if plain(flag) == plain(name)]
    found = [way for way in SYNONYMS.get(plain(name), ()) if not way.startswith("-") or way.split()[0] in known]
    alike = {plain(flag): flag for flag in known}
    near = [alike[each] for each in difflib.get_close_matches(plain(name), alike, n=1)]
    way = next(iter([*same, *found, *near]), "")
    return f"did you mean {way}?" if way.startswith("-") else way


def require_two_dashes(command: click.Command, args: list[str]) -> None:
    """Raises NoSuchOption for a long name after one dash, which would be read as the options of its letters."""
    known = {plain(flag) for flag in flags(command) if flag.startswith("--")}
    for word in args[: args.index("--")] if "--" in args else args:
        name = plain(word)
        if re.match(r"-[A-Za-z]\w", word) and (name in known or name in SYNONYMS):
            raise click.NoSuchOption(word.partition("=")[0])


def message(error: click.UsageError) -> str:
    """One line: what is wrong and what to do."""
    if isinstance(error, click.NoSuchOption):
        return _unknown(error)
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return _bad_value(error)
    text = " ".join(error.format_message().split()).partition(". Choose from:")[0].removesuffix(".")
    usage = " ".join(error.ctx.get_usage().split()).removeprefix("Usage: ") if error.ctx else "wv COMMAND ..."
    return f"{text[:1].lower()}{text[1:]}; usage: {usage}"


def _unknown(error: click.NoSuchOption) -> str:
    command, path = (error.ctx.command, error.ctx.command_path) if error.ctx else (None, "wv")
    way = suggest_option(error.option_name, command) if command else ""
    if error.ctx and not error.ctx.parent and (later := _command_of(error)):
        return f"no such option {error.option_name} before the command; put it behind `wv {later}`"
    return f"no such option {error.option_name}; {way or f'`{path} --help` shows the options'}"


def _command_of(error: click.NoSuchOption) -> str:
    """The command behind an option that stands before it, "" where that has no such option."""
    from wv_cli.commands import COMMANDS

    context = error.ctx
    if context is None or not isinstance(context.command, click.Group):
        return ""
    name = next((word for word in context.meta.get(WORDS, []) if word in COMMANDS), "")
    command = context.command.get_command(context, name) if name else None
    return name if command is not None and plain(error.option_name) in map(plain, flags(command)) else ""


def _bad_value(error: click.BadParameter) -> str:
    text, parameter = " ".join(error.message.split()).removesuffix("."), error.param
    if parameter is None:
        return text
    name = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
    value, is_not, what = text.partition(" is not ")
    if what.startswith("in the range "):
        return f"{name} must be {range_of(parameter)}, not {value}"
    if what.startswith(("a valid integer", "a valid float")):
        return f"{name} must be {'a whole number' if 'integer' in what else 'a number'}, not {value}"
    near = []
    if is_not and isinstance(parameter.type, click.Choice):
        import difflib

        given, choices = plain(value.strip("'")), [str(each) for each in parameter.type.choices]
        if name == "--model" and given in _OTHERWISE:
            return f"{name}: {text}; {_OTHERWISE[given]}"
        words = [each for each in choices if len(each) > 1]
        near = [each for each in choices if plain(each) == given]
        near += [each for each in VALUES.get(given, ()) if each in choices]
        near += difflib.get_close_matches(value.strip("'"), words, n=1)
    return f"{name}: {text}" + (f"; did you mean {near[0]!r}?" if near else "")
