"""The guarantees that have faults: the tests that hold each, and the faults that those tests must notice.

test_table.py checks that the words are in the guide, that the tests are there and that the faults can be made;
`python -m tests.guarantees` makes every fault and runs the tests.
"""

from tests.guarantees.guarantee import Fault, Guarantee, SourceFault

GUARDS = "tests/guarantees/test_guards.py"

GUARANTEES = [
    # Files
    Guarantee(
        "A file appears whole or not at all",
        ("tests/io/test_output.py", "tests/io/test_temporary.py", GUARDS),
        (
            Fault("io.temporary", "Temporary.finish", "skip", "sync"),
            Fault("io.output", "_sync_folder", "skip", "sync"),
            Fault("io.temporary", "Temporary._is_ours", "skip", "take"),
            Fault("io.temporary", "Temporary.create", "never", "_in_use"),
            Fault("io.temporary", "_is_locked", "without", "st_nlink"),
        ),
    ),
    Guarantee(
        "Several outputs of one command appear together",
        ("tests/io/test_output.py", "tests/cli/test_whole_sets.py"),
        (Fault("io.output", "open_output", "forget", "outputs"),),
    ),
    Guarantee(
        "A pair of files that do not belong together is refused",
        ("tests/vectors/formats/test_numbers_only.py",),
        (Fault("vectors.formats.beside", "read_words", "never", "digest"),),
    ),
    Guarantee(
        "The folder of a static embedding is of one run: what a kill between two renames leaves is refused",
        ("tests/vectors/formats/test_static_runs.py",),
        (Fault("vectors.formats.static", "_require_one_run", "never", "expected"),),
    ),
    Guarantee(
        "An index is never written over a text that it searches",
        ("tests/retrieval/test_search.py",),
        (Fault("retrieval.files", "find_files", "never", "is_search_index"),),
    ),
    Guarantee(
        "Binary data, vectors and models are refused as text",
        ("tests/text/test_inputs.py", "tests/cli/test_text_inputs.py", "tests/text/test_opening.py"),
        (
            Fault("text.inputs", "Texts.problem", "without", "recognize"),
            Fault("text.records.opening", "require_records", "without", "binary"),
        ),
    ),
    Guarantee(
        "cut short or changed while in use ends the command with exit code 1",
        ("tests/io/test_mapped.py",),
        (Fault("io.mapped", "require_unchanged", "never", "names"),),
    ),
    Guarantee(
        "A record that cannot be read is counted and named",
        ("tests/text/test_records.py",),
        (Fault("text.records.reading", "BadRecords.finish", "never", "good"),),
    ),
    Guarantee(
        "Words and lines may have any length",
        ("tests/text/test_tokenizer.py",),
        (
            SourceFault(
                "CR joins a word that ends a chunk",
                "csrc/core/tokenizer.c",
                "!wv_is_separator(bytes[from])",
                "(!wv_is_separator(bytes[from]) || bytes[from] == 13)",
            ),
        ),
    ),
    # Long runs
    Guarantee(
        "Memory and disk space are checked before the work",
        (GUARDS,),
        (
            Fault("io.output", "check_writable", "never", "expected_bytes"),
            Fault("io.memory", "require", "never", "needed"),
        ),
    ),
    Guarantee(
        "saves a checkpoint on Ctrl-C, SIGTERM, SIGHUP and `--max-time`",
        ("tests/cli/test_signals.py", "tests/models/training/test_run.py"),
        (
            Fault("models.training.run", "caught_signals", "without", "SIGHUP"),
            Fault("models.training.threads", "Threads._work", "never", "_deadline"),
        ),
    ),
    Guarantee(
        "continues a run where it stopped",
        ("tests/models/training/test_checkpoint.py", "tests/commands/test_checkpoints.py"),
        (
            Fault("models.training.checkpoint", "_require_schedule", "forget", "differences"),
            Fault("models.training.checkpoint", "_next_step", "never", "_is_whole"),
        ),
    ),
    Guarantee(
        "A checkpoint is never discarded silently",
        ("tests/commands/test_checkpoints.py", "tests/commands/test_continuation.py"),
        (
            Fault("models.training.saved_run", "SavedRun.claim", "never", "_resume"),
            Fault("models.training.saved_run", "SavedRun.remove", "without", "_file_at"),
        ),
    ),
    Guarantee(
        "Two runs cannot use one checkpoint or replace one state at the same time",
        ("tests/commands/test_checkpoints.py", "tests/commands/test_continuation.py"),
        (
            Fault("commands.parts.continuation", "Continuation.claim", "skip", "hold_lock"),
            Fault("io.lock", "take", "skip", "flock"),
        ),
    ),
    Guarantee(
        "A killed `wv filter` goes on to the same bytes",
        ("tests/cli/test_filter.py", "tests/cli/test_filter_journal.py"),
        (
            Fault("filtering.journal", "Journal.read", "never", "_identity"),
            Fault("filtering.journal", "_whole", "always", "seal"),
            Fault("filtering.part_files", "PartFile.__init__", "skip", "truncate"),
            Fault("filtering.part_files", "PartFile.save", "skip", "sync"),
            Fault("filtering.shards", "Shards.claim", "skip", "enter_context"),
        ),
    ),
    Guarantee(
        "A second Ctrl-C ends the program at once",
        ("tests/cli/test_signals.py", GUARDS),
        (Fault("models.training.run", "caught_signals.note", "never", "caught"),),
    ),
    Guarantee(
        "A signal that was ignored at the start",
        ("tests/cli/test_signals.py",),
        (
            Fault("models.training.run", "caught_signals", "without", "SIG_IGN"),
            Fault("cli.program", "caught_signals", "without", "SIG_IGN"),
        ),
    ),
    Guarantee(
        "larger matrices live in a file beside the output",
        ("tests/io/test_matrices.py",),
        (
            Fault("io.matrices", "MatrixAllocator.require", "never", "_most"),
            Fault("io.matrices", "MatrixAllocator.require", "skip", "require_disk_space"),
        ),
    ),
    Guarantee(
        "counts any number of different words exactly",
        ("tests/text/test_counting.py",),
        (
            Fault("text.spilled_words", "SpilledWords.rows", "skip", "_move"),
            Fault("text.spilled_words", "SpilledWords.keep", "never", "nbytes"),
        ),
    ),
    # Options and exit codes
    Guarantee(
        "An option that has no effect together with the others",
        ("tests/cli/test_whiten.py", "tests/cli/test_meaning.py::test_messages"),
        (Fault("config.conditions", "reject_ineffective", "never", "holds"),),
    ),
    Guarantee(
        "A wrong use of options ends with exit code 2",
        ("tests/config/test_config.py", GUARDS),
        (Fault("models.config", "Word2vecConfig.check", "skip", "require_subwords"),),
    ),
    Guarantee(
        "A query with an unknown word gives an empty line",
        ("tests/cli/test_nn.py", "tests/cli/test_analogy.py"),
        (Fault("cli.unknown", "Unknown.exit_code", "answer", "0"),),
    ),
    # Training
    Guarantee(
        "the same seed gives the same file with any number of threads",
        ("tests/models/test_deterministic.py",),
        (
            SourceFault(
                "the threads after a save take the marks of those before for their own",
                "csrc/wv_cli/_rounds.pyx",
                "if self.stamp == 0 or self.stamp",
                "if self.stamp",
            ),
        ),
    ),
    Guarantee(
        "The counts of `wv build-vocab --merge` are added exactly",
        ("tests/text/test_vocab.py",),
        (Fault("text.vocab", "add_up", "never", "MOST_COUNTED"),),
    ),
    Guarantee(
        "`--continue` learns a text once",
        ("tests/commands/test_killed_at_the_end.py",),
        (Fault("commands.parts.continuation", "Continuation.has_seen_text", "always", "texts"),),
    ),
    Guarantee(
        "keeps all old words and adds the new ones",
        ("tests/models/test_continued_rows.py", "tests/commands/test_continuation.py"),
        (Fault("models.word2vec", "Word2vec._restore_state", "never", "nodes"),),
    ),
    Guarantee(
        "Options that are not given come from the state",
        ("tests/commands/test_continuation.py", "tests/commands/test_continuation_classifier.py"),
        (Fault("commands.parts.continuation", "Continuation.require_same", "never", "other"),),
    ),
    # Search and models
    Guarantee(
        "An index of other vectors is refused",
        ("tests/retrieval/test_search.py",),
        (Fault("retrieval.query", "require_model", "never", "model_digest"),),
    ),
    Guarantee(
        "An encoder uses its own tokenizer",
        ("tests/encoders/test_transformer.py",),
        (
            Fault("encoders.tokenizer", "load", "skip", "no_truncation"),
            Fault("encoders.tokenizer", "Tokenizer.__init__", "never", "size"),
        ),
    ),
    Guarantee(
        "All Dask workers must have the same version of wv and see the same files",
        ("tests/io/cluster/test_dask.py", "tests/io/cluster/test_held.py"),
        (
            Fault("io.dask_cluster", "DaskCluster.require_workers", "without", "own"),
            Fault("models.training.asking", "_answer", "skip", "require_bytes"),
        ),
    ),
]
