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


PROMISES: list[Promise] = [
    Promise(
        "A file appears whole or not at all",
        ("tests/system", "tests/promises/test_guards.py"),
        (
            Fault("output is not synced", "wv_cli/system/output.py", "        os.fsync(self.stream.fileno())\n", ""),
            Fault(
                "temporary file is not locked",
                "wv_cli/system/output.py",
                "fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)",
                "pass",
            ),
            Fault("disk space is not checked", "wv_cli/system/output.py", "if expected_bytes > free:", "if False:"),
        ),
    ),
    Promise(
        "goes on where it stopped, in mid-epoch",
        ("tests/test_config.py", "tests/promises/test_guards.py"),
        (
            Fault(
                "checkpoint identity without lr",
                "wv_cli/config.py",
                "if options[name].identity}",
                'if options[name].identity and name != "lr"}',
            ),
        ),
    ),
    Promise(
        "2 misuse",
        ("tests/test_config.py", "tests/commands/test_train.py", "tests/models", "tests/promises/test_guards.py"),
        (
            Fault(
                "minn above maxn is taken",
                "wv_cli/models/config.py",
                "    def check(self) -> None:\n        _require_subwords(self.minn, self.maxn)\n\n\n# What",
                "\n\n# What",
            ),
        ),
    ),
    Promise(
        "negative sampling",
        ("tests/models", "tests/kernels/test_word2vec.py", "tests/jobs/test_train.py", "tests/promises/test_guards.py"),
        (
            Fault(
                "--power is fixed",
                "wv_cli/models/word2vec.py",
                "counts.astype(np.float64) ** config.power",
                "counts.astype(np.float64) ** 0.75",
            ),
        ),
    ),
    Promise(
        "Exit codes",
        ("tests/system/test_memory.py", "tests/jobs/test_train.py", "tests/engine", "tests/promises/test_guards.py"),
        (
            Fault(
                "memory is never found wanting",
                "wv_cli/system/memory.py",
                "if free is not None and needed > free:",
                "if False:",
            ),
            Fault(
                "ETA counts what was done before",
                "wv_cli/engine/run.py",
                "eta=seconds * (total - done) / done if done else None",
                "eta=seconds * (total - done) / step if step else None",
            ),
            Fault(
                "second Ctrl-C is ignored",
                "wv_cli/engine/run.py",
                "if number == signal.SIGINT and caught:",
                "if False:",
            ),
        ),
    ),
    Promise(
        "A classifier learns",
        ("tests/jobs/test_autotune.py", "tests/promises/test_guards.py"),
        (
            Fault(
                "autotune takes the last of equals",
                "wv_cli/jobs/autotune.py",
                "(trial.score, -trial.number)",
                "(trial.score, trial.number)",
            ),
        ),
    ),
    Promise(
        "searched by their bits",
        ("tests/search", "tests/vectors", "tests/promises/test_guards.py"),
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
        "Bytes that name the nearest centroid",
        ("tests/vectors/test_quantizer.py", "tests/promises/test_guards.py"),
        (
            Fault(
                "a centroid without points stays",
                "csrc/kernels/product.c",
                "            draw(c, k, total, random);\n            continue;",
                "            continue;",
            ),
        ),
    ),
    Promise(
        "Words and lines have no longest length",
        ("tests/text", "tests/promises/test_guards.py"),
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
