"""What hands type that know word2vec, fastText, gensim, KenLM or another tool, and what it is called here.

Tables only, and the functions that look into them. Names are written as synonyms.plain() has them: lower case, without
dashes and underscores. Options are in cli/synonyms.py.
"""

from collections.abc import Sequence
from pathlib import Path

from wv_cli.cli.synonyms import plain
from wv_cli.errors import UsageError

_NN, _LABELS = "wv nn VECTORS WORD", "wv eval labels MODEL -d FILE"
_ODD, _DISTANCE = "wv odd-one-out VECTORS WORD...", "wv texts-distance VECTORS"
# A command that does not exist -> the call that does its work.
COMMANDS: dict[str, str] = {
    **dict.fromkeys(
        ("neighbors", "neighbours", "mostsimilar", "similar", "nearest", "knn", "similarbyword", "closest"),
        _NN,
    ),
    **dict.fromkeys(("test", "testlabel", "accuracy", "classify"), _LABELS),
    "version": "wv --version",
    **dict.fromkeys(("analogies", "mostsimilarcosmul"), "wv analogy VECTORS A B C"),
    **dict.fromkeys(("doesntmatch", "outlier", "oddoneout", "oddword"), _ODD),
    **dict.fromkeys(("wmd", "wmdistance", "moversdistance"), _DISTANCE),
    **dict.fromkeys(("info", "stat", "stats", "validate", "inspect", "verify"), "wv check FILE"),
    **dict.fromkeys(("printwordvectors", "vector", "getvector", "lookup"), "wv vectors VECTORS WORD"),
    **dict.fromkeys(
        ("printsentencevectors", "sentencevectors", "sentencevector", "embed", "encode", "infer"),
        "wv vectors MODEL --sentences",
    ),
    "printngrams": "wv fasttext print-ngrams",
    "predictprob": "wv predict MODEL INPUT --prob",
    "skipgram": "wv train INPUT -o FILE --model skipgram",
    "cbow": "wv train INPUT -o FILE --model cbow",
    "supervised": "wv train INPUT -o FILE --model supervised",
    "doc2vec": "wv train INPUT -o FILE --model doc2vec",
    "sent2vec": "wv train PAIRS -o DIR/ --model pairs",
    **dict.fromkeys(("learn", "fit"), "wv train INPUT -o FILE"),
    **dict.fromkeys(("autotune", "tune"), "wv train INPUT -o FILE --model supervised --autotune-validation FILE"),
    **dict.fromkeys(("vocab", "vocabcount", "count", "wordcount", "vocabulary"), "wv build-vocab INPUT -o FILE"),
    **dict.fromkeys(("cooccur", "shuffle", "cooccurrence"), "wv glove INPUT -o FILE, which does all of GloVe's steps"),
    **dict.fromkeys(("evaluate", "benchmark"), "wv eval similarity VECTORS -d FILE"),
    **dict.fromkeys(("compress", "prune", "quantise"), "wv quantize MODEL -o FILE"),
    **dict.fromkeys(("tsne", "visualize", "visualise", "draw", "umap"), "wv plot VECTORS WORD... -o FILE"),
    **dict.fromkeys(("bigrams", "phrase", "collocations", "phraser"), "wv phrases INPUT -o FILE"),
    **dict.fromkeys(("lmplz", "ngram", "ngrams", "ngramcount"), "wv lm train INPUT -o FILE"),
    **dict.fromkeys(("kenlm", "srilm", "languagemodel", "languagemodels"), "wv lm"),
    **dict.fromkeys(("perplexity", "ppl"), "wv eval perplexity MODEL -d FILE"),
    **dict.fromkeys(("score", "query"), "wv lm score MODEL INPUT"),
    **dict.fromkeys(("sample", "generate"), "wv lm sample MODEL"),
    **dict.fromkeys(("buildbinary", "tobinary", "totext", "export", "tobin", "save"), "wv convert IN OUT"),
    **dict.fromkeys(("procrustes", "map", "translate"), "wv align SOURCE TARGET"),
    **dict.fromkeys(("pca", "normalize", "whitening", "abtt"), "wv whiten VECTORS -o FILE"),
    **dict.fromkeys(("lsh", "simhash", "flyhash", "binarize"), "wv hash VECTORS -o FILE --method NAME"),
    **dict.fromkeys(("ann", "hnsw", "annoy", "faiss"), "wv nn VECTORS WORD"),
    **dict.fromkeys(("man", "docs", "guide", "tutorial"), "wv help"),
    "index": "wv search index INPUT... -o INDEX",
    **dict.fromkeys(("dedup", "dedupe", "deduplicate", "minhash"), "wv filter INPUT -o FOLDER --near-duplicates 0.72"),
    **dict.fromkeys(("decontaminate", "decontamination"), "wv filter INPUT -o FOLDER --contamination FILE:FIELD=..0.5"),
    "gopher": "wv filter INPUT -o FOLDER --heuristic gopher-quality",
    "c4": "wv filter INPUT -o FOLDER --heuristic c4",
    "fineweb": "wv filter INPUT -o FOLDER --rules fineweb",
    "distill": "wv distil",
    **dict.fromkeys(("compare", "diff", "changed", "semanticchange"), "wv drift A B"),
    "cat": "wv dump FILE",
}
# What `wv help` is asked about -> the guide that tells of it; of commands that do not exist COMMANDS has the call.
GUIDES: dict[str, str] = {
    **dict.fromkeys(("dedup", "dedupe", "deduplicate", "minhash", "decontaminate", "decontamination"), "duplicates"),
    **dict.fromkeys(("gopher", "c4", "fineweb", "heuristic", "datatrove"), "heuristics"),
    **dict.fromkeys(("rag", "bm25", "hybrid", "sqlite", "sqlitevec", "duckdb"), "search-a-folder"),
    **dict.fromkeys(("embeddings", "sentenceembeddings", "sentencevectors"), "sentences"),
    **dict.fromkeys(("model2vec", "sentencetransformers", "distillation"), "static-embeddings"),
    **dict.fromkeys(("judge", "regression", "calibration", "labels", "ratings"), "classifier"),
    **dict.fromkeys(("translation", "bilingual", "crosslingual", "diachronic", "alignment"), "compare-corpora"),
    **dict.fromkeys(("cron", "makefile", "make", "resume", "checkpoint", "checkpoints"), "every-night"),
    **dict.fromkeys(("parquet", "jsonl", "csv", "tsv", "arrow", "warc", "commoncrawl"), "records"),
    **dict.fromkeys(("html", "pdf", "markup"), "raw-text"),
    **dict.fromkeys(("language", "lid", "pii", "quality"), "filter-a-corpus"),
    **dict.fromkeys(("pandas", "polars", "spark", "pickle"), "filter-in-engines"),
    **dict.fromkeys(("dask", "slurm", "cluster"), "many-machines"),
    **dict.fromkeys(("quantization", "compression"), "compress"),
    **dict.fromkeys(("s3", "https", "url"), "remote"),
}
# The same of the subcommands of a group.
SUBCOMMANDS: dict[str, dict[str, str]] = {
    "eval": {
        **dict.fromkeys(("wordsim", "wordsim353", "simlex", "simlex999", "ws353", "pairs", "words"), "similarity"),
        **dict.fromkeys(("classification", "classifier", "test", "accuracy", "supervised", "precision"), "labels"),
        **dict.fromkeys(("wordanalogies", "google", "questionswords", "bats"), "analogy"),
        **dict.fromkeys(("lm", "ppl"), "perplexity"),
        **dict.fromkeys(("sentences", "stsb", "sick"), "sts"),
        **dict.fromkeys(("bli", "dictionary", "muse"), "translation"),
    },
    "lm": {
        **dict.fromkeys(("query", "eval", "evaluate"), "score"),
        **dict.fromkeys(("generate", "gen"), "sample"),
        **dict.fromkeys(("lmplz", "build", "fit", "estimate"), "train"),
        **dict.fromkeys(("interpolate", "interpolation", "merge", "combine"), "mix"),
        **dict.fromkeys(("prune", "pruning"), "`wv lm train INPUT -o FILE --prune 0,0,1`, or --prune-entropy 1e-7"),
        **dict.fromkeys(("count", "counts"), "`wv lm train INPUT -o FILE --counts-only`"),
        "filter": "`wv lm train INPUT -o FILE --limit-vocab FILE`",
        **dict.fromkeys(("predict", "complete"), "next"),
        **dict.fromkeys(("buildbinary", "tobinary"), "convert"),
        **dict.fromkeys(("perplexity", "ppl"), "`wv eval perplexity MODEL -d FILE`"),
    },
}
# What to do instead of one more argument.
EXTRA = {"wv drift": "for one word `wv nn A WORD --beside B`, or its row of `wv drift A B --top 0`"}


def command_for(name: str) -> str:
    """What to call instead of the command `name`, "" when nobody knows."""
    call = COMMANDS.get(plain(name), "")
    return f"it is `{call}`" if call else ""


def guide_for(name: str) -> str:
    """Which guide tells of `name`, "" when none does."""
    guide = GUIDES.get(plain(name), "")
    return f"see `wv help {guide}`" if guide else ""


def subcommand_for(group: str, name: str) -> str:
    """The same of a subcommand. A file in its place lacks the subcommand."""
    found = SUBCOMMANDS.get(group, {}).get(plain(name), "")
    if not found and Path(name).is_file():
        return f"a subcommand comes before the file; `wv {group} -h` lists them"
    return (
        found
        if not found or found.startswith("a ")
        else f"it is {found}"
        if found.startswith("`")
        else f"it is `wv {group} {found}`"
    )


def require_file_first(vectors: Sequence[str], words: Sequence[str], command: str) -> None:
    """Raises UsageError for words that come before the file, and for several files where one is asked."""
    first = vectors[0] if vectors else "-"
    files = [word for word in words if Path(word).is_file()]
    if not files:
        return
    if first != "-" and not Path(first).exists():
        others = " ".join([first, *(word for word in words if word != files[-1])])
        raise UsageError(f"{first}: no such file; the file comes first: `wv {command} {files[-1]} {others}`")
    if Path(first).is_file() and words[0] == files[0]:
        raise UsageError(f"{files[0]} is a file, not a word; ask one file at a time, or name others by --beside")


def require_query(index: str, queries: Sequence[str]) -> None:
    """Raises UsageError for blank queries, and for one that comes before what is searched."""
    if queries and not any(map(str.strip, queries)):
        raise UsageError("QUERY is blank; give words to search for")
    if index != "-" and not Path(index).exists() and queries and Path(queries[-1]).exists():
        import shlex

        order = shlex.join([queries[-1], index, *queries[:-1]])
        raise UsageError(f"{index}: no such file; what is searched comes first: `wv search {order}`")
