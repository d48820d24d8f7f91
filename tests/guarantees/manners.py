"""What every job guarantees, whatever it makes: whole files, checkpoints, signals, options, terminals."""

from tests.guarantees.guarantee import GUARDS, Fault, Guarantee

OUTPUT, SAVED_RUN = "wv_cli/io/output.py", "wv_cli/models/training/saved_run.py"
TEMPORARY = "wv_cli/io/temporary.py"

MANNERS: list[Guarantee] = [
    Guarantee(
        "A file appears whole or not at all",
        ("tests/io/test_output.py", "tests/io/test_temporary.py", GUARDS),
        (
            Fault("output is not synced", TEMPORARY, "        host.sync(self.stream.fileno())\n", ""),
            Fault("name is not synced", OUTPUT, "            host.sync(descriptor)\n", "            pass\n"),
            Fault(
                "temporary file is not locked",
                TEMPORARY,
                "                take(self._descriptor)\n",
                "",
            ),
            Fault("a removed temporary is taken for ours", TEMPORARY, "return os.path.samestat(", "return True or ("),
            Fault("a planted temporary is written to", TEMPORARY, "os.O_EXCL | os.O_NOFOLLOW | ", ""),
            Fault("the second writer of a file goes on", TEMPORARY, "name < self._name.name for", "False for"),
            Fault("what a link leads to is taken for a stray", TEMPORARY, " and found.st_nlink == 1", ""),
            Fault(
                "a planted lock is held",
                "wv_cli/io/lock.py",
                "            _require_ours(path, name, os.fstat(descriptor))\n",
                "",
            ),
        ),
    ),
    Guarantee(
        "Several outputs of one command appear together",
        ("tests/io/test_output.py", "tests/cli/test_whole_sets.py"),
        (
            Fault(
                "each is renamed as soon as it is whole",
                OUTPUT,
                "    outputs = _set.outputs = []\n",
                "    outputs, _set.outputs = [], None\n",
            ),
        ),
    ),
    Guarantee(
        "An output can be a file, `-`, a pipe",
        ("tests/cli/test_streams.py",),
        (
            Fault(
                "what a pipe does not take at once is lost",
                "wv_cli/cli/streams.py",
                "    if isinstance(sys.stdout.buffer, io.RawIOBase):\n",
                "    if False:\n",
            ),
        ),
    ),
    Guarantee(
        "A pair of files that do not belong together is refused",
        (
            "tests/vectors/formats/test_numbers_only.py",
            "tests/vectors/formats/test_static.py",
            "tests/encoders/test_static.py",
        ),
        (
            Fault(
                "a tokenizer of another table will do",
                "wv_cli/vectors/formats/static.py",
                "        if not isinstance(token, str) or type(id) is not int or not 0 <= id < rows:\n",
                "        if not isinstance(token, str) or type(id) is not int:\n",
            ),
            Fault(
                "a row that is in no table is named",
                "wv_cli/vectors/formats/static.py",
                "            if len(mapping) and not (mapping.min() >= 0 and mapping.max() < len(matrix)):\n",
                "            if False:\n",
            ),
            Fault(
                "the digest of words is not compared",
                "wv_cli/vectors/formats/beside.py",
                'if mark is not None and not as_written and digest(b"".join(line + b"\\n" for line in lines)) != mark:',
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "A static embedding holds a digest of its tokens, and a `tokenizer.json` of another run is refused",
        ("tests/vectors/formats/test_static.py",),
        (
            Fault(
                "tokens of another run will do",
                "wv_cli/vectors/formats/static.py",
                "if mark is not None and mark != tokens_digest(tokenizer):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "The folder of a static embedding is of one run: what a kill between two renames leaves is refused",
        ("tests/vectors/formats/test_static_runs.py",),
        (
            Fault(
                "files of two runs will do",
                "wv_cli/vectors/formats/static.py",
                "if first is not None and found != expected:",
                "if False:",
            ),
            Fault(
                "the digest says nothing of the settings",
                "wv_cli/vectors/formats/static_folder.py",
                'mark = digest(_json(modules) + b"".join(written.values()))',
                'mark = digest(b"")',
            ),
        ),
    ),
    Guarantee(
        "A `tokenizer.json` that takes far too long is stopped",
        ("tests/encoders/test_transformer.py",),
        (
            Fault(
                "a tokenizer may take for ever",
                "wv_cli/encoders/limits.py",
                "if seconds > _PATIENCE and characters < seconds * _SLOWEST:",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "An index is never written over a text that it searches",
        ("tests/retrieval/test_search.py",),
        (
            Fault(
                "an index replaces a document",
                "wv_cli/retrieval/files.py",
                "if head and not is_search_index(head):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "A query has at most 1,048,576 characters",
        ("tests/cli/test_resources.py",),
        (
            Fault(
                "a query may be as long as memory",
                "wv_cli/cli/queries.py",
                "if len(query) <= _LONGEST:",
                "if True:",
            ),
        ),
    ),
    Guarantee(
        "Binary data, vectors and models are refused as text",
        ("tests/text/test_inputs.py", "tests/cli/test_text_inputs.py", "tests/text/test_opening.py"),
        (
            Fault(
                "records may be binary data",
                "wv_cli/text/records/opening.py",
                ' or binary(head.partition(b"\\n")[0])',
                "",
            ),
            Fault(
                "the lines of a JSON array are records",
                "wv_cli/text/records/opening.py",
                "if found := _FIRST_LINE.match(head):",
                "if found := None:",
            ),
            Fault(
                "anything is text",
                "wv_cli/text/inputs.py",
                "found = self.recognize(head) or binary(head)",
                "return None",
            ),
            Fault(
                "binary data is text",
                "wv_cli/text/inputs.py",
                "self.recognize(head) or binary(head)",
                "self.recognize(head)",
            ),
        ),
    ),
    Guarantee(
        "Memory and disk space are checked before the work",
        (GUARDS,),
        (
            Fault("disk space is not checked", OUTPUT, "if expected_bytes > free and", "if False and"),
            Fault(
                "memory is never found wanting",
                "wv_cli/io/memory.py",
                "if free is not None and needed > free:",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "continues a run where it stopped",
        (
            "tests/test_config.py",
            "tests/models/training/test_checkpoint.py",
            "tests/commands/test_pairs.py::test_a_run_goes_on_in_a_folder_that_was_made_meanwhile",
            "tests/commands/test_checkpoints.py",
            "tests/commands/test_continuation.py::test_a_stopped_run_does_not_go_on_from_another_state",
            GUARDS,
        ),
        (
            Fault(
                "rows of another file go on",
                SAVED_RUN,
                "        if self.path is not None and self._from_files:\n",
                "        if False:\n",
            ),
            Fault(
                "checkpoint identity without lr",
                "wv_cli/config.py",
                "if options[name].identity}",
                'if options[name].identity and name != "lr"}',
            ),
            Fault(
                "steps of another version go on",
                "wv_cli/models/training/checkpoint.py",
                "    differences = _differences(found, now)\n",
                "    differences = None\n",
            ),
            Fault(
                "steps that kernels take for places may be any",
                "wv_cli/models/training/checkpoint.py",
                'if array.dtype.kind == "i" and array.size and not',
                "if False and not",
            ),
            Fault(
                "a folder's checkpoint has another name when the folder is there",
                "wv_cli/commands/pairs.py",
                "        return [name for _, name in self.outputs.names()]\n",
                "        return self.results()\n",
            ),
            Fault(
                "any step will do",
                "wv_cli/models/training/checkpoint.py",
                "if not (_is_whole(found) and 0 <= found <= steps):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "saves a checkpoint on Ctrl-C, SIGTERM, SIGHUP and `--max-time`",
        ("tests/cli/test_signals.py", "tests/models/training/test_run.py"),
        (
            Fault(
                "SIGHUP saves nothing",
                "wv_cli/models/training/run.py",
                "for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}",
                "for number in (signal.SIGINT, signal.SIGTERM)}",
            ),
            Fault(
                "a short run does not hear that its time is over",
                "wv_cli/models/training/threads.py",
                "if time.monotonic() >= self._deadline:",
                "if False:",
            ),
            Fault(
                "an epoch cut short by --max-time counts as done",
                "wv_cli/models/training/run.py",
                "if after_epoch is not None and steps and trainer.next_step >= limit:",
                "if after_epoch is not None and steps:",
            ),
        ),
    ),
    Guarantee(
        "A signal that was ignored at the start",
        ("tests/cli/test_signals.py",),
        (
            Fault(
                "an ignored signal stops the training",
                "wv_cli/models/training/run.py",
                "if handler not in (signal.SIG_IGN, None)}",
                "if handler is not None}",
            ),
            Fault(
                "an ignored signal ends the program",
                "wv_cli/cli/program.py",
                "if handler not in (signal.SIG_IGN, None)}",
                "if handler is not None}",
            ),
        ),
    ),
    Guarantee(
        "A second Ctrl-C ends the program at once",
        ("tests/cli/test_signals.py", GUARDS),
        (
            Fault(
                "second Ctrl-C is ignored",
                "wv_cli/models/training/run.py",
                "if number == signal.SIGINT and caught:",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "`--continue` learns a text once",
        ("tests/commands/test_killed_at_the_end.py",),
        (
            Fault(
                "a text that the state has learnt is learnt again",
                "wv_cli/commands/parts/continuation.py",
                "text not in self.before.texts:",
                "True:",
            ),
            Fault(
                "the state is renamed before other outputs",
                OUTPUT,
                "        waiting.sort(key=lambda output: output.target == target)\n",
                "        waiting.sort(key=lambda output: output.target != target)\n",
            ),
            Fault(
                "the checkpoint of a run that has ended stays",
                SAVED_RUN,
                "if found is not None and self._learnt.count(found[0]) > found[1]:",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "A checkpoint is never discarded silently",
        ("tests/commands/test_checkpoints.py", "tests/commands/test_continuation.py"),
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
    Guarantee(
        "Two runs cannot use one checkpoint or replace one state at the same time",
        ("tests/commands/test_checkpoints.py", "tests/commands/test_continuation.py"),
        (
            Fault(
                "two runs replace one state",
                "wv_cli/commands/parts/continuation.py",
                'with hold_lock(self.save_state, "another run replaces this state; begin when it has ended"):',
                "if True:",
            ),
            Fault(
                "the checkpoint is not locked",
                "wv_cli/io/lock.py",
                "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n",
                "        pass\n",
            ),
        ),
    ),
    Guarantee(
        "An option that has no effect together with the others",
        ("tests/cli/test_whiten.py", "tests/cli/test_meaning.py"),
        (
            Fault(
                "idle options are ignored",
                "wv_cli/config.py",
                "if name in given and not holds(condition, values):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "A query with an unknown word gives an empty line",
        ("tests/cli/test_nn.py", "tests/cli/test_analogy.py"),
        (
            Fault(
                "unknown words end in success",
                "wv_cli/cli/unknown.py",
                'return int(self._queries > 0 and self.oov == "empty")',
                "return 0",
            ),
        ),
    ),
    Guarantee(
        "control characters of words and file names are shown",
        ("tests/cli/test_streams.py",),
        (
            Fault(
                "a terminal gets the bytes",
                "wv_cli/cli/streams.py",
                "    if sys.stdout.isatty():\n",
                "    if False:\n",
            ),
        ),
    ),
    Guarantee(
        "cut short or changed while in use ends the command with exit code 1",
        ("tests/io/test_mapped.py",),
        (
            Fault("mapped files are not watched", "wv_cli/io/mapped.py", "    if names:\n", "    if False:\n"),
            Fault(
                "mapped files are not guarded",
                "wv_cli/io/mapped.py",
                "_mapguard.guard(mapped, os.fsencode(message))",
                "id(mapped)",
            ),
        ),
    ),
    Guarantee(
        "All Dask workers must have the same version of wv and see the same files",
        ("tests/io/cluster/test_dask.py", "tests/io/cluster/test_held.py"),
        (
            Fault(
                "a worker with another version counts, too",
                "wv_cli/io/dask_cluster.py",
                "if isinstance(found, PackageNotFoundError) or (isinstance(found, str) and found != own):",
                "if isinstance(found, PackageNotFoundError):",
            ),
            Fault(
                "a worker's own file of that name will do",
                "wv_cli/models/training/asking.py",
                "    require_bytes(asking.file, bytes_there)\n",
                "",
            ),
        ),
    ),
]
