"""Parquet, through pyarrow. A block is a batch of rows; what is written again keeps schema, codecs and row groups."""

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import numpy as np

from wv_cli.io.extra import foreign, require
from wv_cli.text.raw_files import size_of_file
from wv_cli.text.records.parquet_writing import form_of, spark_times
from wv_cli.text.records.spans import Span
from wv_cli.text.records.tables import Batch, TableBlock, TableReader, open_table

_ROWS = 4096  # of a batch: some megabytes of text


class ParquetReader(TableReader):
    """Parquet; see records.reading.Reader."""

    def __iter__(self) -> Iterator[TableBlock]:
        parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
        with open_table(self._path, self._name, "Parquet") as place:
            with foreign(self._name, "expected a Parquet file"):
                unit = "us" if spark_times(parquet.read_metadata(place)) else None
                file = parquet.ParquetFile(place, coerce_int96_timestamp_unit=unit)
            with closing(file):
                groups = range(*(self._rules.span or (0, file.metadata.num_row_groups))[:2])
                before = sum(file.metadata.row_group(group).num_rows for group in range(groups.start))
                batches = self._batches(file, groups)
                yield from self._blocks(file.schema_arrow, form_of(self._name, file), batches, before)

    def _batches(self, file: Any, groups: range) -> Iterator[Batch]:
        size = (size_of_file(self._path) or 0) / max(1, file.metadata.num_rows)
        columns = None if self._rules.whole else [self._column_names(file.schema_arrow), *self._rules.beside]
        for group in groups:
            with foreign(self._name, f"expected the rows of row group {group}"):
                for batch in file.iter_batches(_ROWS, [group], columns):
                    yield group, batch, size


def cut_row_groups(path: str, count: int) -> list[Span]:
    """Up to `count` spans of row groups, of about as many bytes; none of a file with one. Raises BadFile."""
    parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
    with open_table(path, path, "Parquet") as place, foreign(path, "expected a Parquet file"):
        metadata = parquet.read_metadata(place)
    sizes = np.array([metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)])
    if len(sizes) < 2 or not sizes.sum():
        return []
    ends = sizes.cumsum()
    begins = ends - sizes
    # A group is in the span in which its middle lies.
    cuts = {int(np.searchsorted(begins + ends, 2 * ends[-1] * number / count)) for number in range(1, count)}
    bounds = sorted({0, *cuts, len(sizes)})
    share = (size_of_file(path) or 0) / int(ends[-1])
    return [Span(begin, end, int(share * int(sizes[begin:end].sum()))) for begin, end in pairwise(bounds)]
