"""The table of readers: one row for each kind of file that comes from outside. test_targets.py holds it against the
program's own tables, so that a new format, method, task or model is fuzzed too."""

from collections.abc import Callable, Sequence

from tests.conftest import GOLDEN
from tests.fuzz import checkpoints, language_models, seeds, states, uses
from tests.fuzz.containers import change_container
from tests.fuzz.harness import Target
from tests.fuzz.mutations import ANYWHERE, IN_TEXT, Mutation
from wv_cli.hashing import HASHERS

_CONTAINER = (*ANYWHERE[:3], *[change_container] * 12)


def _hasher(method: str) -> Target:
    return Target(
        f"hasher-{method}",
        lambda: seeds.hasher(method),
        uses.hasher,
        _CONTAINER,
        (f"hasher:{method}", "container:hasher"),
    )


def _checkpoint(name: str) -> Target:
    covers = ("container:checkpoint", f"model:{name}")
    return Target(f"checkpoint-{name}", lambda: checkpoints.saved(name), checkpoints.go_on(name), _CONTAINER, covers)


def _packed(codec: str) -> Target:
    return Target(f"packed-{codec}", lambda: seeds.packed(codec), uses.packed, ANYWHERE, (f"codec:{codec}",))


def _records(kind: str) -> Target:
    """Parquet is read by another program, pyarrow."""
    return Target(
        f"records-{kind}",
        lambda: seeds.record_texts(kind),
        uses.record_texts,
        IN_TEXT,
        (f"records:{kind}",),
        f"file.{kind}",
    )


def _of_encoder(name: str, encoder: str = "tiny-bert") -> Callable[[], bytes]:
    return lambda: (GOLDEN / "encoders" / encoder / name).read_bytes()


_FILES_OF_BERT = ("config.json", "model.safetensors", "tokenizer.json")


def _bert(name: str, file: str, encoders: tuple[str, ...], ways: Sequence[Mutation] = IN_TEXT) -> Target:
    """`file` of these encoders, in a folder that has what else is needed."""
    return Target(
        name,
        lambda: seeds.golden(*(f"encoders/{encoder}/{file}" for encoder in encoders)),
        uses.encoder,
        ways,
        file=file,
        beside={other: _of_encoder(other) for other in _FILES_OF_BERT if other != file},
    )


def _static(name: str, file: str) -> Target:
    """`file` of a static embedding, in a folder that has the other ones."""
    others = {"config.json", "model.safetensors", "modules.json", "tokenizer.json"} - {file}
    seed = f"encoders/static-model2vec/{file}"
    beside = {other: _of_encoder(other, "static-model2vec") for other in others}
    return Target(name, lambda: seeds.golden(seed), uses.static, IN_TEXT, file=file, beside=beside)


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("word2vec-text", seeds.word2vec_text, uses.vector_file, IN_TEXT, ("format:word2vec-text",)),
        Target(
            "word2vec-binary",
            seeds.word2vec_binary,
            uses.vector_file,
            (*ANYWHERE, *IN_TEXT[-4:]),
            ("format:word2vec-binary",),
        ),
        Target("glove-text", seeds.glove_text, uses.vector_file, IN_TEXT, ("format:glove-text",)),
        Target(
            "codes",
            seeds.codes,
            uses.vector_file,
            _CONTAINER,
            ("format:codes", "container:codes"),
        ),
        Target("floret", seeds.floret, uses.floret_table, IN_TEXT, ("format:floret",)),
        Target("codes-text", seeds.codes_text, uses.vector_file, IN_TEXT, ("format:codes-text",)),
        Target("npy", seeds.npy, uses.vector_file, (*ANYWHERE, *IN_TEXT[-6:]), ("format:npy",), "file.npy"),
        Target(
            "npy-words",
            seeds.words_beside,
            uses.words_file,
            IN_TEXT,
            file="file.words.txt",
            beside={"file.npy": lambda: seeds.npy()[0]},
        ),
        Target("fasttext-bin", seeds.fasttext, uses.model_file, ANYWHERE, ("format:fasttext-bin",)),
        Target(
            "text-model",
            checkpoints.text_models,
            uses.text_model,
            _CONTAINER,
            ("format:text-model", "container:text-model"),
        ),
        Target(
            "pooled-classifier",
            checkpoints.pooled_classifiers,
            uses.pooled_classifier,
            _CONTAINER,
            ("container:pooled-classifier",),
        ),
        *(_hasher(method) for method, row in HASHERS.items() if row.learns_from == "vectors"),
        Target(
            "hasher-bioword",
            lambda: seeds.golden("own/bioword.hasher"),
            uses.bioword_hasher,
            _CONTAINER,
            ("hasher:bioword", "container:bioword"),
        ),
        Target(
            "moments",
            lambda: seeds.golden("own/vectors.moments") + seeds.saved_moments(),
            uses.moments,
            _CONTAINER,
            ("container:moments",),
        ),
        Target(
            "transform",
            lambda: seeds.golden("own/zca.transform") + seeds.saved_transforms(),
            uses.transform,
            _CONTAINER,
            ("container:transform",),
        ),
        Target(
            "near-duplicates",
            seeds.saved_near_duplicates,
            uses.near_duplicates,
            _CONTAINER,
            ("container:near-duplicates",),
        ),
        Target(
            "known-texts",
            seeds.saved_known_texts,
            uses.known_texts,
            _CONTAINER,
            ("container:known-texts",),
        ),
        Target("part-keys", seeds.saved_part_keys, uses.part_keys, _CONTAINER, ("container:part-keys",)),
        Target("decisions", seeds.saved_decisions, uses.decisions, _CONTAINER, ("container:decisions",)),
        Target(
            "search-index",
            seeds.saved_search_indexes,
            uses.search_index,
            _CONTAINER,
            ("container:search-index",),
            beside={"vectors.vec": lambda: seeds.golden("own/vectors.vec")[0]},
        ),
        *(_checkpoint(name) for name in checkpoints.MODELS),
        Target("state", states.saved, states.go_on, _CONTAINER, ("container:state",), beside={"text.txt": seeds.text}),
        Target("glove-state", states.saved_glove, states.go_on_glove, _CONTAINER, beside={"text.txt": seeds.text}),
        Target("autotune-log", checkpoints.logs, checkpoints.go_on_searching, IN_TEXT),
        Target("vocabulary", seeds.vocabularies, uses.vocabulary, IN_TEXT),
        Target("counts", seeds.records, uses.counts, beside={"vocab.txt": lambda: seeds.vocabularies()[0]}),
        Target("counts-vocabulary", lambda: seeds.vocabularies()[:1], uses.counts_vocabulary, IN_TEXT),
        Target("glove-start", seeds.glove_start, uses.glove_start),
        *(_records(name) for name in ("jsonl", "csv", "tsv")),
        Target("records-warc", seeds.web_archives, uses.record_texts, IN_TEXT, ("records:warc",), "file.warc"),
        Target("text", lambda: [seeds.text()[:2000]], uses.text, IN_TEXT),
        Target("labeled-text", lambda: [seeds.text()[:2000]], uses.labeled, IN_TEXT),
        Target("rules", seeds.rule_files, uses.rules, IN_TEXT),
        Target("sentencepiece", seeds.pieces, uses.pieces, ANYWHERE),
        Target("stop-words", lambda: [b"the of and\nin to\n"], uses.stop_words, IN_TEXT),
        Target("similarity", seeds.word_pairs, uses.task("similarity"), IN_TEXT, ("task:similarity",)),
        Target("analogy", seeds.questions, uses.task("analogy"), IN_TEXT, ("task:analogy",)),
        Target("retrieval", seeds.word2vec_text, uses.task("retrieval"), IN_TEXT, ("task:retrieval",)),
        Target(
            "translation",
            seeds.dictionaries,
            uses.translation_task,
            IN_TEXT,
            ("task:translation",),
            beside={"target.vec": lambda: seeds.word2vec_text()[0]},
        ),
        Target(
            "labels",
            lambda: [seeds.golden("cook.valid.txt.xz", most=2000)[0]],
            uses.labels_task,
            IN_TEXT,
            ("task:labels",),
            beside={"model.ftz": lambda: (GOLDEN / "ft-labels.ftz").read_bytes()},
        ),
        Target("arpa", language_models.arpa_files, language_models.model_file, IN_TEXT),
        Target("kenlm", language_models.kenlm_files, language_models.kenlm_file, ANYWHERE),
        Target(
            "ngrams",
            language_models.binary_files,
            language_models.model_file,
            _CONTAINER,
            ("container:packed-ngrams", "container:ngrams"),
        ),
        Target(
            "neural-lm",
            language_models.neural_files,
            language_models.neural_file,
            _CONTAINER,
            ("container:neural-lm",),
        ),
        Target(
            "ngram-counts",
            language_models.count_files,
            language_models.count_file,
            _CONTAINER,
            ("container:ngram-counts",),
        ),
        Target(
            "perplexity",
            lambda: [language_models.TEXT.read_bytes()],
            language_models.perplexity,
            IN_TEXT,
            ("task:perplexity",),
            beside={"model.lm": lambda: language_models.binary_files()[0]},
        ),
        Target(
            "wic",
            lambda: [b"the\tN\t0-1\tthe of in\tand the\nof\tV\t1-0\tin of\tof to a\n"],
            uses.wic_task,
            IN_TEXT,
            ("task:wic",),
            file="x.data.txt",
            beside={"x.gold.txt": lambda: b"T\nF\n"},
        ),
        Target(
            "search",
            lambda: [b'{"_id": "d", "title": "the", "text": "of in"}\n{"_id": "e", "text": "and"}\n'],
            uses.task("search"),
            IN_TEXT,
            ("task:search",),
            file="corpus.jsonl",
            beside={
                "queries.jsonl": lambda: b'{"_id": "q", "text": "the of"}\n',
                "qrels/test.tsv": lambda: b"query-id\tcorpus-id\tscore\nq\td\t1\nq\te\t2\n",
            },
        ),
        Target("sts", seeds.sentence_pairs, uses.task("sts"), IN_TEXT, ("task:sts",)),
        Target(
            "sts-scores",
            lambda: seeds.semeval()[0],
            uses.semeval,
            IN_TEXT,
            file="STS.gs.x.txt",
            beside={"STS.input.x.txt": lambda: seeds.semeval()[1]},
        ),
        _bert("safetensors", "model.safetensors", ("tiny-bert",), (*ANYWHERE, *IN_TEXT[-4:])),
        _bert("encoder-settings", "config.json", ("tiny-bert", "tiny-bert-st6")),
        _bert("encoder-modules", "modules.json", ("tiny-bert", "tiny-bert-st6")),
        Target(
            "static-matrix",
            lambda: seeds.golden("encoders/static-model2vec-weights/model.safetensors"),
            uses.static,
            (*ANYWHERE, *IN_TEXT[-4:]),
            ("format:safetensors",),
            file="model.safetensors",
            beside={name: _of_encoder(name, "static-model2vec") for name in ("config.json", "tokenizer.json")},
        ),
        _static("static-tokenizer", "tokenizer.json"),
        _static("static-settings", "config.json"),
        _static("static-modules", "modules.json"),
        _bert("encoder-tokenizer", "tokenizer.json", ("tiny-bert",)),
        Target(
            "sentence-settings",
            lambda: [b'{"prompts": {"q": "query: ", "d": ""}, "default_prompt_name": "q", "truncate_dim": 4}'],
            uses.encoder,
            IN_TEXT,
            file="config_sentence_transformers.json",
            beside={name: _of_encoder(name) for name in _FILES_OF_BERT},
        ),
        Target(
            "sentence-transformers-tokenizer",
            lambda: seeds.golden("encoders/static-model2vec/tokenizer.json"),
            uses.static,
            IN_TEXT,
            file="tokenizer.json",
            beside={
                "model.safetensors": _of_encoder("model.safetensors", "static-model2vec"),
                "modules.json": lambda: b'[{"path": "", "type": "sentence_transformers.models.StaticEmbedding"}]',
            },
        ),
        Target(
            "elmo-options",
            lambda: seeds.golden("encoders/elmo/bilm-tf/options.json"),
            uses.encoder,
            IN_TEXT,
            file="options.json",
            beside={"weights.hdf5": lambda: (GOLDEN / "encoders/elmo/bilm-tf/lm_weights.hdf5").read_bytes()},
        ),
        *(_packed(codec) for codec in ("gzip", "bzip2", "xz", "zstd")),
    )
}
