#!/bin/sh
# polars 2.1.0, pandas 3.1.1, pyarrow 26.0.1: a folder of Parquet that polars has written with partition_by.
# Guess: folders such as lang=en/ are Hive's, which all of them read and write, so that pandas reads what polars wrote.
# Seen: polars also keeps the column in the files. pyarrow takes the type of the folders' names for another one, and
# pandas.read_parquet and pyarrow.parquet.read_table stop, with strings and with numbers. partitioning=None reads it.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet 'polars==2.1.0' 'pandas==3.1.1' 'pyarrow==26.0.1'
cd "$place"
"$place/venv/bin/python" - <<'PYTHON'
import sys

import pandas
import polars
import pyarrow
import pyarrow.parquet

stopped = []
for name, values in {"lang": ["en", "de"], "year": [2020, 2021]}.items():
    polars.DataFrame({name: values, "text": ["a", "b"]}).write_parquet(name, partition_by=name)
    for read in (pandas.read_parquet, pyarrow.parquet.read_table):
        try:
            print(f"{read.__module__}.{read.__name__}: {len(read(name))} rows")
            stopped.append(False)
        except pyarrow.ArrowTypeError as error:
            print(f"{read.__module__}.{read.__name__}: {error}")
            stopped.append(True)
    rows = pyarrow.parquet.read_table(name, partitioning=None).select([name, "text"]).to_pylist()
    print("partitioning=None:", rows)
    stopped.append(sorted(row[name] for row in rows) == sorted(values))
sys.exit(0 if all(stopped) else "the behaviour has changed")
PYTHON
