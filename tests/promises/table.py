"""The README's promises, the tests that hold each, and faults in the code that those tests must notice.

`words` stand so in README.md. A fault replaces `old`, which stands once in `file`, by `new`: a guard taken out, a
policy turned round. test_table.py checks that words, tests and old texts are there; `python -m tests.promises` puts
every fault in and runs the tests.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`file` is relative to the checkout: wv_cli/... or csrc/..."""

    name: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Promise:
    words: str
    tests: tuple[str, ...]
    faults: tuple[Fault, ...] = ()


GUARDS = "tests/promises/test_guards.py"
OUTPUT, SAVED_RUN = "wv_cli/system/output.py", "wv_cli/engine/saved_run.py"

PROMISES: list[Promise] = [
    Promise(
        "A file appears whole or not at all",
        ("tests/system/test_output.py", GUARDS),
        (
            Fault("output is not synced", OUTPUT, "        host.sync(self.stream.fileno())\n", ""),
            Fault("name is not synced", OUTPUT, "            host.sync(descriptor)\n", "            pass\n"),
            Fault(
                "temporary file is not locked",
                OUTPUT,
                "            take(self._descriptor)\n",
                "",
            ),
            Fault("a renamed file is taken for ours", OUTPUT, "return os.path.samestat(", "return True or ("),
        ),
    ),
    Promise(
        "Several outputs of one command appear together",
        ("tests/system/test_output.py", "tests/commands/test_whole_sets.py"),
        (
            Fault(
                "each is renamed as soon as it is whole",
                OUTPUT,
                "    outputs = _set.outputs = []\n",
                "    outputs, _set.outputs = [], None\n",
            ),
        ),
    ),
    Promise(
        "a pair that does not belong together is refused",
        ("tests/formats/test_numbers_only.py",),
        (
            Fault(
                "the digest of words is not compared",
                "wv_cli/formats/beside.py",
                "if mark is not None and digest(text) != mark:",
                "if False:",
            ),
        ),
    ),
    Promise(
        "such a file named directly is refused unless `--force-text` is given",
        ("tests/text/test_inputs.py", "tests/commands/test_text_inputs.py"),
        (
            Fault(
                "anything is text",
                "wv_cli/text/inputs.py",
                "return self.recognise(head) or binary(head)",
                "return None",
            ),
            Fault(
                "binary data is text",
                "wv_cli/text/inputs.py",
                "self.recognise(head) or binary(head)",
                "self.recognise(head)",
            ),
        ),
    ),
    Promise(
        "Disk space and memory are checked before the work",
        (GUARDS,),
        (
            Fault("disk space is not checked", OUTPUT, "if expected_bytes > free and", "if False and"),
            Fault(
                "memory is never found wanting",
                "wv_cli/system/memory.py",
                "if free is not None and needed > free:",
                "if False:",
            ),
        ),
    ),
    Promise(
        "goes on where it stopped, in mid-epoch",
        ("tests/test_config.py", "tests/jobs/test_checkpoints.py", GUARDS),
        (
            Fault(
                "checkpoint identity without lr",
                "wv_cli/config.py",
                "if options[name].identity}",
                'if options[name].identity and name != "lr"}',
            ),
            Fault(
                "steps of another version go on",
                "wv_cli/engine/checkpoint.py",
                "    differences = _differences({**first, **found}, now)\n",
                "    differences = None\n",
            ),
            Fault(
                "any step will do",
                "wv_cli/engine/checkpoint.py",
                "if not (_is_whole(found) and 0 <= found <= steps):",
                "if False:",
            ),
        ),
    ),
    Promise(
        "saves a checkpoint on Ctrl-C, SIGTERM, SIGHUP",
        ("tests/commands/test_signals.py",),
        (
            Fault(
                "SIGHUP saves nothing",
                "wv_cli/engine/run.py",
                "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}",
                "for number in (signal.SIGINT, signal.SIGTERM)}",
            ),
        ),
    ),
    Promise(
        "A signal that was ignored when the program started (`nohup`) stays ignored",
        ("tests/commands/test_signals.py",),
        (
            Fault(
                "an ignored signal stops the training",
                "wv_cli/engine/run.py",
                "if handler not in (signal.SIG_IGN, None)}",
                "if handler is not None}",
            ),
            Fault(
                "an ignored signal ends the program",
                "wv_cli/commands/shared/program.py",
                "if handler not in (signal.SIG_IGN, None)}",
                "if handler is not None}",
            ),
        ),
    ),
    Promise(
        "A second Ctrl-C ends at once",
        ("tests/commands/test_signals.py", GUARDS),
        (
            Fault(
                "second Ctrl-C is ignored",
                "wv_cli/engine/run.py",
                "if number == signal.SIGINT and caught:",
                "if False:",
            ),
        ),
    ),
    Promise(
        "A checkpoint is never discarded silently",
        ("tests/jobs/test_checkpoints.py",),
        (
            Fault(
                "a checkpoint is overwritten unasked",
                SAVED_RUN,
                "if Path(self.path).is_file() and not (self._resume or self._overwrite):",
                "if False:",
            ),
            Fault(
                "the checkpoint of another run is removed",
                SAVED_RUN,
                "self._ours is not None and _file_at(self.path) == self._ours:",
                "True:",
            ),
        ),
    ),
    Promise(
        "Two runs cannot use one checkpoint at the same time",
        ("tests/jobs/test_checkpoints.py",),
        (
            Fault(
                "the checkpoint is not locked",
                "wv_cli/system/lock.py",
                "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
                "        pass\n",
            ),
        ),
    ),
    Promise(
        "An option that means nothing beside the others",
        ("tests/commands/test_whiten.py", "tests/commands/test_meaning.py"),
        (
            Fault(
                "idle options are ignored",
                "wv_cli/config.py",
                "if name in given and not holds(condition, values):",
                "if False:",
            ),
        ),
    ),
    Promise(
        "A query with an unknown word is answered with an empty line",
        ("tests/commands/test_nn.py", "tests/commands/test_analogy.py"),
        (
            Fault(
                "unknown words end in success",
                "wv_cli/commands/shared/unknown.py",
                'return int(self._queries > 0 and self.oov == "empty")',
                "return 0",
            ),
        ),
    ),
    Promise(
        "the control characters of words and file names are shown",
        ("tests/commands/test_streams.py",),
        (
            Fault(
                "a terminal gets the bytes",
                "wv_cli/commands/shared/streams.py",
                "    if sys.stdout.isatty():\n",
                "    if False:\n",
            ),
        ),
    ),
    Promise(
        "one that is cut short or changed while in use ends the command with exit code 1",
        ("tests/system/test_mapped.py",),
        (
            Fault("mapped files are not watched", "wv_cli/system/mapped.py", "    if names:\n", "    if False:\n"),
            Fault(
                "mapped files are not guarded",
                "wv_cli/system/mapped.py",
                "_mapguard.guard(mapped, os.fsencode(message))",
                "id(mapped)",
            ),
        ),
    ),
    Promise(
        "2 misuse",
        ("tests/test_config.py", GUARDS),
        (
            Fault(
                "minn above maxn is taken",
                "wv_cli/models/config.py",
                '        _require_subwords(self.minn, self.maxn)\n        message = "--loss hs_ns',
                '        message = "--loss hs_ns',
            ),
        ),
    ),
    Promise(
        "negative sampling",
        (GUARDS,),
        (
            Fault(
                "--power is fixed",
                "wv_cli/models/word2vec.py",
                "counts.astype(np.float64) ** self.config.power",
                "counts.astype(np.float64) ** 0.75",
            ),
        ),
    ),
    Promise(
        "The progress bar",
        (GUARDS,),
        (
            Fault(
                "ETA counts what was done before",
                "wv_cli/engine/run.py",
                "eta=seconds * (total - done) / done if done else None",
                "eta=seconds * (total - done) / step if step else None",
            ),
        ),
    ),
    Promise(
        "A classifier learns",
        ("tests/jobs/test_autotune.py", GUARDS),
        (
            Fault(
                "autotune takes the last of equals",
                "wv_cli/jobs/autotune.py",
                "(trial.score, -trial.number)",
                "(trial.score, trial.number)",
            ),
            Fault(
                "trials are not synced",
                "wv_cli/jobs/autotune_log.py",
                "            host.sync(self._stream.fileno())\n",
                "",
            ),
            Fault(
                "the log of a search is discarded unasked",
                "wv_cli/jobs/autotune_log.py",
                "if lines and not discard and not _is_over(lines):",
                "if False:",
            ),
        ),
    ),
    Promise(
        "searched by their bits",
        (GUARDS,),
        (
            Fault(
                "a tie of bits is off",
                "wv_cli/search/codes.py",
                "(signs.sum(axis=0) >= 0)",
                "(signs.sum(axis=0) > 0)",
            ),
        ),
    ),
    Promise(
        "merge counts made elsewhere",
        ("tests/text/test_vocab.py",),
        (
            Fault(
                "sums of counts overflow",
                "wv_cli/text/vocab.py",
                "        if total > MOST_COUNTED:",
                "        if False:",
            ),
        ),
    ),
    Promise(
        "the exponentials of its scores are probabilities",
        ("tests/models/test_nce.py",),
        (),
    ),
    Promise(
        "plain .gz .bz2 .xz .zst files work, too",
        ("tests/system/test_compression.py",),
        (
            Fault(
                "a reader goes on after its file is closed",
                "wv_cli/system/compression.py",
                "        thread.join(_PATIENCE)\n",
                "",
            ),
        ),
    ),
    Promise(
        "Words and lines have no longest length",
        ("tests/text/test_tokenizer.py",),
        (
            Fault(
                "CR joins a word that ends a chunk",
                "csrc/core/tokenizer.c",
                "!wv_is_separator(bytes[from])",
                "(!wv_is_separator(bytes[from]) || bytes[from] == 13)",
            ),
        ),
    ),
]
