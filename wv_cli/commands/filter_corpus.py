"""The files that one run of `wv filter` reads, and how a large one is cut for its parts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.commands.parts.filter_files import FilteredRecords, FilterOutput
from wv_cli.commands.run import Run

if TYPE_CHECKING:
    from wv_cli.filtering.slices import Slice
    from wv_cli.text.inputs import Texts
    from wv_cli.text.record_files import RecordFiles


@dataclass(frozen=True)
class Corpus:
    """The files of a run: `wholes` or, with large ones cut for its parts, `every` slice. Of these `mine` are read, all
    of them unless there are parts; the `digest` is that of every one, None without parts."""

    texts: "Texts"
    source: "RecordFiles"
    wholes: "Sequence[Slice]"
    every: "Sequence[Slice]"
    mine: "Sequence[Slice]"
    digest: str | None

    @property
    def has_one(self) -> bool:
        """Whether there is one file."""
        return len(self.wholes) == 1


def open_corpus(run: Run, records: FilteredRecords, kept: FilterOutput) -> Corpus:
    """Raises WvError for files that are no records, and for outputs that were cut into other slices."""
    from wv_cli.filtering.parts import deal_slices
    from wv_cli.filtering.shards import name_outputs
    from wv_cli.filtering.slices import Slice, cut_large, refuse_other_cuts
    from wv_cli.text.reading_config import ReadingConfig
    from wv_cli.text.record_files import RecordFiles
    from wv_cli.text.records.opening import refuse_other_files
    from wv_cli.text.records.reading import DEFAULT_FIELD
    from wv_cli.vectors.recognize import input_texts

    part = kept.cut.run_part
    reading = ReadingConfig(**vars(records.reading))
    if "-" in records.inputs and reading.field is None:
        reading = replace(reading, field=DEFAULT_FIELD)
    texts = input_texts(records.inputs, log=run.log, reading=reading, written=kept.results())
    refuse_other_files(texts, [path for path in texts.inputs if Path(path).is_file()])
    source = RecordFiles(texts)
    refuse_other_files(texts, source.paths)
    wholes = [Slice(*each) for each in name_outputs(records.inputs, source.paths).items()]
    every, mine, digest = wholes, wholes, None
    if part is not None:
        every = cut_large(wholes, part.count)
        mine, digest = deal_slices(every, part)
        source.select([*dict.fromkeys(each.path for each in mine)], sum(each.size for each in mine))
        what = "files and slices of files" if any(each.span is not None for each in every) else "files"
        run.log(f"part {part} has {len(mine):,} of {len(every):,} {what}")
    refuse_other_cuts(kept.record_folders, every)
    return Corpus(texts, source, wholes, every, mine, digest)
