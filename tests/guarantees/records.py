"""What is guaranteed of records: those that are written again, that cannot be read, and that `wv filter` keeps."""

from tests.guarantees.guarantee import Fault, Guarantee

RECORDS: list[Guarantee] = [
    Guarantee(
        "A field is added to a record by insertion",
        ("tests/text/test_records.py",),
        (
            Fault(
                "a field that is there is added again",
                "wv_cli/text/records/scanned.py",
                "            [to_unicode(added).encode() for added in rules.added],\n",
                "            [],\n",
            ),
            Fault(
                "records are written as Parquet's usual codec",
                "wv_cli/text/records/parquet_writing.py",
                "codecs = dict.fromkeys(schema.names, usual) | dict(form.codecs)",
                'codecs = dict.fromkeys(schema.names, "SNAPPY")',
            ),
        ),
    ),
    Guarantee(
        "A record that cannot be read is counted and named",
        ("tests/text/test_records.py",),
        (
            Fault(
                "a file without a record is empty",
                "wv_cli/text/records/reading.py",
                "        if self.count and not self.good:\n",
                "        if False:\n",
            ),
            Fault(
                "bad records are told within their block",
                "wv_cli/text/records/scanned.py",
                "        self.byte += len(raw)\n",
                "",
            ),
        ),
    ),
    Guarantee(
        "A killed `wv filter` goes on to the same bytes",
        ("tests/cli/test_filter.py", "tests/cli/test_filter_journal.py"),
        (
            Fault(
                "the journal of another run will do",
                "wv_cli/filtering/journal.py",
                "if identity.get(name) != value]",
                "if False]",
            ),
            Fault(
                "a damaged journal is believed",
                "wv_cli/filtering/journal.py",
                'return saved if saved.pop("sha256") == _digest(saved) else None',
                "return saved",
            ),
            Fault(
                "what a point has judged is judged again",
                "wv_cli/text/records/scanned.py",
                "            if rest := chunk[size:]:\n",
                "            if rest := chunk:\n",
            ),
            Fault(
                "a part is what somebody has put in its place",
                "wv_cli/filtering/part_files.py",
                "os.O_CREAT | os.O_EXCL, 0",
                "os.O_CREAT, 0",
            ),
            Fault(
                "a link is replaced",
                "wv_cli/filtering/shards.py",
                "return [Path(os.path.realpath(folder / Path(path).name)) for folder in folders]",
                "return [folder / Path(path).name for folder in folders]",
            ),
            Fault(
                "another model of that name will do",
                "wv_cli/commands/filter.py",
                '            "models": [_file(path) for path in self.rules.reads()],\n',
                "",
            ),
            Fault(
                "what was written after the last point stays",
                "wv_cli/filtering/part_files.py",
                "            self._file.truncate(size)\n",
                "",
            ),
            Fault(
                "the journal is ahead of its parts",
                "wv_cli/filtering/part_files.py",
                "            host.sync(self._file.fileno())\n",
                "",
            ),
            Fault(
                "two runs filter into one folder",
                "wv_cli/filtering/shards.py",
                "locks.enter_context(hold_lock(folder / self._journal.path.name, BUSY))",
                "pass",
            ),
        ),
    ),
]
