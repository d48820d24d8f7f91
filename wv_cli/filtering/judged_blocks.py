"""Blocks of records as a pass takes them: read from shards one after the other, and judged by rules."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.filtering.judge import Judge, Judged
from wv_cli.filtering.label_files import label_folder
from wv_cli.filtering.pii import replace_pii
from wv_cli.text.record_files import RecordFiles
from wv_cli.text.records.field_values import read_fields
from wv_cli.text.records.reading import Block, NoRecords, OnBad
from wv_cli.text.records.spans import Span
from wv_cli.text.records.text_spans import text_sizes


class JudgedBlock(NamedTuple):
    """Some records and what the rules say of them, with the bytes of each text, new texts of some, and with --split the
    folder of each label."""

    block: Block
    found: Judged
    sizes: NDArray[np.int64]
    replaced: dict[int, bytes]
    labels: NDArray[np.object_] | None = None

    def new_texts(self) -> dict[int, bytes]:
        """The new texts of all records that stay and have one."""
        found = {number: text for number, text in self.replaced.items() if self.found.reason[number] < 0}
        if not self.replaced:
            return self.found.shortened
        return found | {number: replace_pii(text) for number, text in self.found.shortened.items()}

    def by_label(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """(label, the records that stay and have it) of those that occur. Where nothing stays the label is ""."""
        stays = self.found.reason < 0
        if self.labels is None:
            yield "", stays
            return
        for label in dict.fromkeys(self.labels[stays]) or ("",):
            yield label, stays & (self.labels == label)


class Reading(NamedTuple):
    """A shard that is to be read: a file or a span of it, from the byte `start` of its text on. `on_bad` is told of
    records that cannot be read."""

    path: str
    span: Span | None = None
    start: int = 0
    on_bad: OnBad | None = None


class End(NamedTuple):
    """Stands behind the last block of a shard; `error` says why it has no record, `damage` why it is left out."""

    error: NoRecords | None = None
    damage: str | None = None


def read_blocks(
    source: RecordFiles, shards: Iterable[Reading], added: Sequence[str], skips_damage: bool
) -> Iterator[tuple[str, Block] | End]:
    """The blocks of all shards, each with the path of its file. With `skips_damage` there is none of a damaged one:
    what comes before the damage may be wrong, too, since a checksum stands at the end."""
    for each in shards:
        if skips_damage and (damage := source.find_damage(each.path, each.span)) is not None:
            yield End(damage=damage)
            continue
        error = None
        try:
            for block in source.blocks(each.path, tuple(added), each.start, each.on_bad, each.span):
                yield each.path, block
        except NoRecords as problem:
            error = problem
        yield End(error)


def judge_block(
    judge: Judge, field: str, replaces: bool, split: str | None, item: tuple[str, Block] | End
) -> JudgedBlock | End:
    """A block of read_blocks, judged. Its texts are in `field`; with `replaces` new texts have other addresses."""
    if isinstance(item, End):
        return item
    path, block = item
    texts = block.each
    by_rule = judge.has_labels(split)
    fields = read_fields(block, [*dict.fromkeys([*judge.fields, *split_fields(judge, split)])], field, path)
    found, replaced = judge.score_batch(texts, fields, labels_by=split), {}
    for number in found.alive.tolist() if replaces else ():
        text = texts[number]
        if (other := replace_pii(text)) is not text:
            replaced[number] = other
    labels = None
    if split is not None:
        labels = np.array([*map(label_folder, found.labels if by_rule else fields[split]), None], object)[:-1]
    return JudgedBlock(block, found, text_sizes(texts), replaced, labels)


def split_fields(judge: Judge, split: str | None) -> list[str]:
    """The field of --split, unless that names a rule with labels."""
    return [] if split is None or judge.has_labels(split) else [split]
