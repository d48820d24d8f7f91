"""The tables of both READMEs: the figures a reader wants first, picked from the records in results/.

`BLOCKS` maps the name of a block `<!-- figures: NAME -->` to the function that makes its Markdown.
"""

from collections.abc import Callable, Mapping
from itertools import compress
from typing import Any

import kernels
import train
from record import cell, markdown, newest

PROGRAMS = ("wv", "word2vec", "fasttext", "gensim")


def summary(name: str) -> list[dict[str, Any]]:
    """The medians of a record, empty where there is no such record. Those of suite `train` are computed anew."""
    result = newest().get(name)
    if result is None:
        return []
    rows: list[dict[str, Any]] = result["summary"]
    return train.summary(result["runs"]) if result["suite"] == "train" else rows


def times(name: str, program: str, **key: str) -> float | None:
    """CPU seconds of `program` over ours in the rows of a summary that have `key`; None where it did not run."""
    rows = [row for row in summary(name) if all(row[field] == value for field, value in key.items())]
    seconds = {row["program"]: row["cpu_seconds"] for row in rows}
    return seconds[program] / seconds["wv"] if program in seconds else None


def ratios() -> str:
    """The CPU time of other programs as a multiple of ours."""
    programs = ("word2vec", *train.BESIDE, "fasttext", "gensim", "GloVe")

    def worse(model: str, name: str = "train-dim100") -> Callable[[str], float | None]:
        """The smaller ratio of two corpora and machines."""
        return lambda program: min(
            filter(None, (times(each, program, model=model) for each in (name, f"{name}-wiki8"))), default=None
        )

    jobs: list[tuple[str, Callable[[str], float | None]]] = [
        ("skip-gram, negative sampling, dim 100", worse("skipgram-ns")),
        ("skip-gram, negative sampling, dim 300", worse("skipgram-ns", "train-dim300")),
        ("CBOW, negative sampling", worse("cbow-ns")),
        ("skip-gram, hierarchical softmax", worse("skipgram-hs")),
        ("CBOW, hierarchical softmax", worse("cbow-hs")),
        ("skip-gram with subwords, model file included", lambda p: times("subwords", p, model="skipgram-subwords")),
        ("CBOW with subwords, model file included", lambda p: times("subwords", p, model="cbow-subwords")),
        ("classifier, training", lambda p: _labels(p, "softmax", "train_cpu_s")),
        ("classifier with bigrams, training", lambda p: _labels(p, "softmax-bigrams", "train_cpu_s")),
        ("classifier, predicting 1,000 lines, start included", lambda p: _labels(p, "softmax", "predict_cpu_s")),
        ("classifier, predicting a million lines", lambda p: times("predicting", p, task="1,000,000 lines")),
        ("GloVe, counting and ordering", lambda p: times("glove", p, stage="count and order")),
        ("GloVe, one iteration", lambda p: times("glove", p, stage="one iteration")),
    ]
    found = {job: [ratio(program) for program in programs] for job, ratio in jobs}
    ran = [any(column) for column in zip(*found.values(), strict=True)]
    titles = list(compress(programs, ran))
    rows = [[job, *map(_shown, compress(row, ran))] for job, row in found.items() if any(row)]
    return _lines(markdown(["job", *("fastText" if name == "fasttext" else name for name in titles)], rows, labels=1))


def _shown(ratio: float | None) -> str:
    """Two digits that count."""
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _labels(program: str, setting: str, figure: str) -> float | None:
    rows = {row["program"]: row[figure] for row in summary("classifier") if row["setting"] == setting}
    return rows[program] / rows["wv"] if program in rows else None


def scores() -> str:
    """Scores after five epochs: means of our three seeds, and the tolerance, by which these seeds differ."""
    names = {"analogy": "analogies, %", "WS353": "WordSim-353", "SimLex": "SimLex-999"}
    lines = ["| model | score | wv | word2vec | tolerance | |", "|---|---|--:|--:|--:|---|"]
    for model in ("skipgram-ns", "cbow-ns", "skipgram-hs", "cbow-hs"):
        rows = {row["program"]: row for row in summary("quality") if row["model"] == model}
        for name, title in names.items():
            ours, theirs = (rows[program]["scores"][name] for program in ("wv", "word2vec"))
            tolerance = rows["wv"]["spread"][name]
            gap = theirs - ours
            verdict = "lower" if gap > tolerance else "higher" if -gap > tolerance else "equal"
            cells = [f"{value:.{train.DIGITS[name]}f}" for value in (ours, theirs, tolerance)]
            lines.append(f"| {model} | {title} | {' | '.join(cells)} | {verdict} |")
    return "\n".join(lines) + "\n"


def speed() -> str:
    """CPU seconds and peak memory of one epoch by program."""
    rows: dict[str, dict[str, Any]] = {}
    for row in [*summary("train-dim100"), *summary("subwords")]:
        rows.setdefault(row["model"], {})[row["program"]] = row
    columns = [f"{program}, {unit}" for unit in ("CPU s", "MB") for program in PROGRAMS]
    cells = [
        [
            model,
            *(f"{found[p]['cpu_seconds']:.1f}" if p in found else "" for p in PROGRAMS),
            *(f"{found[p]['peak_mb']:,.0f}" if p in found else "" for p in PROGRAMS),
        ]
        for model, found in rows.items()
    ]
    return _lines(markdown(["model", *columns], cells, labels=1))


def presets() -> str:
    """The presets beside word2vec: a few of the scores of the record `presets-wiki8`."""
    chosen = {
        "questions-words": "analogies, %",
        "questions-words, rare": "rare, %",
        "EN-WS-353-ALL": "WordSim-353",
        "EN-SIMLEX-999": "SimLex-999",
        "EN-RG-65": "RG-65",
        "stsb-en-test": "STS-B",
    }
    rows = [row for row in summary("presets-wiki8") if not row["variant"]]
    cells = [
        [
            f"`{row['trial']}`",
            f"{row['cpu_seconds']:.0f}",
            *(
                f"{row['scores'][name]:.{1 if title.endswith('%') or title == 'STS-B' else 3}f}"
                for name, title in chosen.items()
            ),
        ]
        for row in rows
    ]
    return _lines(markdown(["options", "CPU s", *chosen.values()], cells, labels=1))


def picked(name: str, columns: Mapping[str, str], labels: int = 2, **where: str) -> Callable[[], str]:
    """A block of the rows of a record that have the values `where`, with `columns`: field -> heading."""

    def block() -> str:
        rows = [row for row in summary(name) if all(row[field] == value for field, value in where.items())]
        cells = [[cell(row.get(field)) for field in columns] for row in rows]
        return _lines(markdown(list(columns.values()), cells, labels))

    return block


def two_threads() -> str:
    """The gain of two threads, on near and on far cores."""
    columns = {
        "k_words_per_second": "one thread, k words/s",
        "two_processes": "two processes / one thread",
        "two_threads": "two threads / one thread",
        "runs": "runs",
    }
    rows = [[f"{row['task']}, {row['cores']}", *(cell(row[field]) for field in columns)] for row in summary("threads")]
    return _lines(markdown(["model", *columns.values()], rows, 1))


def together() -> str:
    """P@1 of questions that one model has learned, and of models of one question."""
    columns = {"set": "text", "question": "question"}
    columns |= {"p_at_1_together": "one model", "p_at_1_alone": "a model for each"}
    rows = [[cell(row[field]) for field in columns] for row in summary("questions") if "question" in row]
    return _lines(markdown([*columns.values()], rows, 2))


def removals() -> str:
    """What goes as a near-duplicate: precision and recall among copies, false removals among templates."""
    rows = {(row["set"], row["program"], row["similarity"]): row for row in summary("duplicates")}
    similarities = sorted({similarity for _, _, similarity in rows})
    figures = {"copies": ("precision", "recall"), "templates": ("false",), "debian": ("false",)}
    columns = [(kind, figure, each) for kind, some in figures.items() for figure in some for each in similarities]
    heads = [f"{kind if figure == 'false' else figure} {each:g}" for kind, figure, each in columns]
    cells = [
        [program, *(cell(rows[kind, program, each].get(f"{figure}_percent")) for kind, figure, each in columns)]
        for program in dict.fromkeys(program for _, program, _ in rows)
    ]
    return _lines(markdown(["%", *heads], cells, labels=1)) if rows else ""


def contaminated() -> str:
    """Which copies of items are found: short ones, and long ones."""
    rows = {(row["copy"], row["program"]): row for row in summary("contamination")}
    programs = list(dict.fromkeys(program for _, program in rows))
    cells = [
        [f"{copy}, {size}", *(cell(rows[copy, program][f"{size}_percent"]) for program in programs)]
        for copy in dict.fromkeys(copy for copy, _ in rows)
        for size in ("short", "long")
    ]
    return _lines(markdown(["found, %", *programs], cells, labels=1)) if rows else ""


def _lines(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


BLOCKS: dict[str, Callable[[], str]] = {
    "ratios": ratios,
    "removals": removals,
    "contaminated": contaminated,
    "languages": picked(
        "languages",
        {
            "language": "language",
            "documents": "documents",
            "kept_wv": "`wv` keeps",
            "kept_datatrove": "datatrove keeps",
            "agree_percent": "equal decisions, %",
        },
        labels=1,
    ),
    "deciding": picked(
        "deciding",
        {
            "program": "bytes per text",
            "kept_bytes": "kept",
            "peak_bytes": "greatest memory",
            "file_bytes": "file of keys, 8 sequences",
            "texts": "texts",
        },
        labels=1,
    ),
    "judges": picked(
        "judging",
        {
            "program": "P@1",
            "labels": "labeled lines",
            "agnews": "AG News",
            "cooking": "cooking",
            "mr": "MR",
            "ohsumed": "Ohsumed",
            "r8": "R8",
            "sst2": "SST-2",
            "sst5": "SST-5",
            "trec": "TREC",
            "mean": "mean",
        },
    ),
    "together": together,
    "judge-costs": picked(
        "judging-costs",
        {
            "program": "AG News",
            "labels": "labeled lines",
            "train_cpu_s": "training, CPU s",
            "train_mb": "its memory, MB",
            "predict_mb_per_cpu_s": "prediction, MB of text per CPU s",
            "predict_mb": "its memory, MB",
        },
    ),
    "ratings": picked(
        "ratings",
        {
            "set": "text",
            "program": "program",
            "labels": "labeled lines",
            "spearman": "Spearman",
            "lowest": "lowest",
            "highest": "highest",
            "mean_absolute_error": "mean absolute error",
            "mean_squared_error": "mean squared error",
        },
        labels=3,
    ),
    "roofline": lambda: kernels.roofline(newest()["kernels"]) if "kernels" in newest() else "",
    "scores": scores,
    "speed": speed,
    "preset-scores": presets,
    "two-threads": two_threads,
    "same-bytes": picked(
        "deterministic",
        {
            "task": "model",
            "times_cpu": "times the CPU time",
            "loss_percent": "change of the loss, %",
            "analogy": "analogies, %",
            "WS353": "WordSim-353",
        },
        labels=1,
        program="deterministic",
    ),
    "classifiers": picked(
        "classifier",
        {
            "setting": "setting",
            "program": "program",
            "train_cpu_s": "training, CPU s",
            "predict_cpu_s": "1,000 lines, CPU s",
            "p_at_1": "P@1",
            "size_mb": "MB",
            "quantized_p_at_1": "quantized P@1",
            "quantized_mb": "quantized MB",
        },
    ),
}
