"""Parquet, through pyarrow. A block is a batch of rows; what is written again keeps schema, codecs and row groups."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

from wv_cli.io.extra import foreign, require
from wv_cli.text.raw_files import size_of_file
from wv_cli.text.records.parquet_writing import form_of, spark_times
from wv_cli.text.records.tables import Batch, TableBlock, TableReader

_ROWS = 4096  # of a batch: some megabytes of text


class ParquetReader(TableReader):
    """Parquet; see records.reading.Reader."""

    def __iter__(self) -> Iterator[TableBlock]:
        parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
        with self._open_place("Parquet") as place:
            with foreign(self._name, "expected a Parquet file"):
                unit = "us" if spark_times(parquet.read_metadata(place)) else None
                file = parquet.ParquetFile(place, coerce_int96_timestamp_unit=unit)
            with closing(file):
                yield from self._blocks(file.schema_arrow, form_of(self._name, file), self._batches(file))

    def _batches(self, file: Any) -> Iterator[Batch]:
        size = (size_of_file(self._path) or 0) / max(1, file.metadata.num_rows)
        columns = None if self._rules.whole else [self._column_names(file.schema_arrow)]
        for group in range(file.metadata.num_row_groups):
            with foreign(self._name, f"expected the rows of row group {group}"):
                for batch in file.iter_batches(_ROWS, [group], columns):
                    yield group, batch, size
