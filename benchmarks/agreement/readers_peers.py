"""The programs of readers.py: each writes records of its own types, and reads what `wv` made of all of them.

    PYTHON readers_peers.py write PROGRAM BASE FOLDER
    PYTHON readers_peers.py read PROGRAM < FILES

BASE are JSON lines with `id` and `text`. Reading prints an object: for each file its columns' types and its rows.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Found = tuple[dict[str, str], list[dict[str, Any]]]
DUCKDB = """select id, text, {'a': id, 'b': ['x', null]} as struct, map {id::varchar: text} as map, [[id], []] as lists,
 timestamp '2024-02-29 12:34:56.789123' + to_days(id::int) as time, timestamptz '1900-01-01 00:00:00+02' as zoned,
 date '2024-01-01' + id::int as day, (id / 7)::decimal(18, 6) as decimal,
 (id % 3)::varchar::enum('0', '1', '2') as enum, encode(text) as bytes,
 case when id % 2 = 0 then id / 3 end as some, null::int as nothing"""
DUCKDB_RARE = ", time '12:34:56.5' as clock, uuid() as uuid, id::utinyint as tiny, (id * 1000000007)::ubigint as large"
SPARK = """select id, text, named_struct('a', id, 'b', array('x', null)) as struct, map(cast(id as string), id) as map,
 array(array(id), array()) as lists, timestamp '1582-01-01 12:34:56.789123' as old, date '1500-02-03' as day,
 timestamp '2300-02-28 12:34:56.789123' + make_interval(0, 0, 0, id) as time, cast(id / 7 as decimal(18, 6)) as decimal,
 cast(id / 7 as decimal(38, 10)) as wide, cast(id as tinyint) as tiny, cast(id as smallint) as small,
 cast(id / 3 as float) as real, cast(text as binary) as bytes, if(id % 2 = 0, id / 3, null) as some,
 interval '1' day as span from base order by id"""


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What CSV and JSON can hold."""
    return [{"id": row["id"], "text": row["text"], "half": row["id"] / 2, "even": row["id"] % 2 == 0} for row in rows]


def arrow_table(rows: list[dict[str, Any]], text: Any) -> Any:
    import datetime
    import decimal

    import pyarrow as pa

    ids = [row["id"] for row in rows]
    moment = datetime.datetime(2024, 2, 29, 12, 34, 56, 789123)
    times = [None if i % 5 == 0 else moment + datetime.timedelta(days=i) for i in ids]
    names = [None if i % 4 == 0 else f"name {i % 3}" for i in ids]
    numbers = [None if i % 6 == 0 else decimal.Decimal(i) / 8 for i in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "text": pa.array([row["text"] for row in rows], text),
            "struct": pa.array([{"a": i, "b": {"c": [str(i), None]}} if i % 3 else None for i in ids]),
            "structs": pa.array([[{"x": i}, {"x": None}] for i in ids]),
            "map": pa.array([[("k", i)] for i in ids], pa.map_(pa.string(), pa.int32())),
            "millis": pa.array([each and each.replace(microsecond=0) for each in times], pa.timestamp("ms")),
            "micros": pa.array(times, pa.timestamp("us")),
            "zoned": pa.array(times, pa.timestamp("us", tz="UTC")),
            "day": pa.array([each and each.date() for each in times], pa.date32()),
            "decimal": pa.array(numbers, pa.decimal128(18, 4)),
            "wide": pa.array(numbers, pa.decimal128(38, 10)),
            "large": pa.array(names, pa.large_string()),
            "small": pa.array([i % 4 for i in ids], pa.int16()),
            "real": pa.array([i / 3 for i in ids], pa.float32()),
            "bytes": pa.array([bytes([i, 255]) for i in ids], pa.binary()),
            "dictionary": pa.array(names).dictionary_encode(),
            "yes": pa.array([i % 2 == 0 for i in ids]),
            "nulls": pa.array([None] * len(ids), pa.string()),
        }
    )


def write_pyarrow(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"string": pa.string(), "large": pa.large_string(), "dictionary": pa.dictionary(pa.int32(), pa.string())}
    for name, kind in kinds.items():
        pq.write_table(arrow_table(rows, kind), folder / f"pyarrow-{name}.parquet")
    table = arrow_table(rows, pa.string())
    views = pa.table({"id": table["id"], **{name: table[name].cast(pa.string_view()) for name in ("text", "large")}})
    pq.write_table(views, folder / "pyarrow-views.parquet")
    old = table.select(["id", "text", "micros", "zoned"])
    pq.write_table(old, folder / "pyarrow-int96.parquet", use_deprecated_int96_timestamps=True)
    nanos = pa.array([None if i == 4 else 10**18 + 7 * i for i in table["id"].to_pylist()], pa.timestamp("ns"))
    more = pa.table({"id": table["id"], "text": table["text"], "nanos": nanos, "void": pa.nulls(table.num_rows)})
    fixed = pa.array([bytes([i, 1, 2]) for i in table["id"].to_pylist()], pa.binary(3))
    pq.write_table(more.append_column("fixed", fixed), folder / "pyarrow-rare.parquet")
    pq.write_table(table, folder / "pyarrow-v1.parquet", version="1.0", compression="gzip", row_group_size=7)
    (folder / "python.jsonl").write_text("".join(json.dumps(row) + "\n" for row in plain(rows)))


def write_polars(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    import polars as pl

    frame = pl.DataFrame(plain(rows), infer_schema_length=None)
    frame.write_ndjson(folder / "polars.jsonl")
    frame.write_csv(folder / "polars.csv")
    more = frame.with_columns(
        pl.col("text").cast(pl.Categorical).alias("category"),
        (pl.col("id") % 2).cast(pl.String).cast(pl.Enum(["0", "1"])).alias("enum"),
        pl.col("half").cast(pl.Decimal(18, 4)).alias("decimal"),
        pl.struct("id", "half").alias("struct"),
        pl.concat_list("id", "id").alias("list"),
        pl.lit("2024-02-29T12:34:56.789").str.to_datetime("%FT%T%.f", time_unit="ms").alias("time"),
        pl.col("id").cast(pl.UInt8).alias("tiny"),
    )
    more.write_parquet(folder / "polars.parquet")


def write_duckdb(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    import duckdb

    con = duckdb.connect()
    con.execute(f"create table base as from read_json('{base}', columns={{id: 'bigint', text: 'varchar'}})")
    for name, more, how in (("duckdb", "", ""), ("duckdb-rare", DUCKDB_RARE, ", parquet_version v2, compression zstd")):
        con.execute(f"copy ({DUCKDB}{more} from base order by id) to '{folder}/{name}.parquet' (format parquet{how})")
    few = "select id, text, id / 2 as half, id % 2 = 0 as even, {'a': id} as struct from base order by id"
    con.execute(f"copy ({few}) to '{folder}/duckdb.jsonl' (format json)")
    con.execute(f"copy (select * exclude (struct) from ({few})) to '{folder}/duckdb.csv' (format csv, header)")


def write_pandas(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(plain(rows))
    frame.to_csv(folder / "pandas.csv", index=False)
    tabs = frame[~frame.text.fillna("").str.startswith('"')]
    tabs.to_csv(folder / "pandas.tsv", index=False, sep="\t", quoting=3)
    frame.to_json(folder / "pandas.jsonl", orient="records", lines=True)
    frame["category"] = frame.text.astype("category")
    frame["time"] = pd.Timestamp("2024-02-29 12:34:56.789123") + pd.to_timedelta(frame.id, unit="D")
    frame["time"] = frame["time"].dt.as_unit("us")
    frame["few"] = frame.id.where(frame.id % 3 > 0).astype("Int64")
    frame.set_index("half").to_parquet(folder / "pandas.parquet")


def write_datafusion(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    import datafusion
    import pyarrow as pa

    context = datafusion.SessionContext()
    context.from_arrow(arrow_table(rows, pa.string()), name="base")
    context.sql(f"copy (select * from base order by id) to '{folder}/datafusion.parquet' stored as parquet").collect()


def spark_session() -> Any:
    from pyspark.sql import SparkSession

    wanted = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "UTC", "spark.driver.memory": "1g"}
    for kind in ("int96", "datetime"):
        wanted |= {f"spark.sql.parquet.{kind}RebaseModeIn{way}": "CORRECTED" for way in ("Read", "Write")}
    builder = SparkSession.builder.master("local[1]")
    for name, value in wanted.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write_spark(rows: list[dict[str, Any]], base: str, folder: Path) -> None:
    spark = spark_session()
    spark.sparkContext.setLogLevel("OFF")
    spark.read.json(base).createOrReplaceTempView("base")
    name = f"spark{spark.version.partition('.')[0]}"
    few = spark.sql("select id, text, id / 2 as half, id % 2 = 0 as even from base order by id").coalesce(1)
    jobs = {f"{name}.parquet": spark.sql(SPARK).drop("span").coalesce(1).write.format("parquet")}
    jobs[f"{name}-span.parquet"] = spark.sql(SPARK).select("id", "text", "span").coalesce(1).write.format("parquet")
    jobs[f"{name}.jsonl"] = few.write.format("json")
    jobs[f"{name}.csv"] = few.write.format("csv").option("header", True).option("escape", '"')
    for file, job in jobs.items():
        job.save(f"{folder}/{file}.parts")
        [part] = Path(folder, f"{file}.parts").glob("part-*")
        part.rename(folder / file)


def read_pyarrow(path: str, kind: str) -> Found:
    import pyarrow.csv
    import pyarrow.json
    import pyarrow.parquet

    if kind == "parquet":
        table = pyarrow.parquet.read_table(path)
    elif kind == "jsonl":
        table = pyarrow.json.read_json(path)
    else:
        options = pyarrow.csv.ParseOptions(
            delimiter="," if kind == "csv" else "\t", quote_char='"' if kind == "csv" else False
        )
        table = pyarrow.csv.read_csv(path, parse_options=options)
    return {field.name: str(field.type) for field in table.schema}, table.to_pylist()


def read_polars(path: str, kind: str) -> Found:
    import polars as pl

    tabs = {"separator": "\t", "quote_char": None} if kind == "tsv" else {}
    readers = {"parquet": pl.read_parquet, "jsonl": pl.read_ndjson}
    frame = readers[kind](path) if kind in readers else pl.read_csv(path, infer_schema_length=None, **tabs)
    return {name: str(of) for name, of in frame.schema.items()}, frame.to_dicts()


def read_duckdb(path: str, kind: str) -> Found:
    import duckdb

    tabs = ", delim='\t', quote='', escape=''" if kind == "tsv" else ""
    how = {"parquet": "read_parquet", "jsonl": "read_json"}.get(kind, "read_csv")
    done = duckdb.connect().execute(f"from {how}('{path}'{tabs})")
    names = {each[0]: str(each[1]) for each in done.description}
    return names, [dict(zip(names, row, strict=True)) for row in done.fetchall()]


def read_pandas(path: str, kind: str) -> Found:
    import pandas as pd

    if kind == "parquet":
        frame = pd.read_parquet(path)
    elif kind == "jsonl":
        frame = pd.read_json(path, lines=True, precise_float=True)
    else:
        frame = pd.read_csv(path) if kind == "csv" else pd.read_csv(path, sep="\t", quoting=3)
    frame = frame.reset_index() if frame.index.name else frame
    return {str(name): str(of) for name, of in frame.dtypes.items()}, frame.to_dict("records")


def read_datafusion(path: str, kind: str) -> Found:
    import datafusion

    context = datafusion.SessionContext()
    if kind == "parquet":
        frame = context.read_parquet(path)
    elif kind == "jsonl":
        frame = context.read_json(path, file_extension=".jsonl")
    else:
        tabs = {"delimiter": "\t"} if kind == "tsv" else {}
        frame = context.read_csv(path, file_extension=f".{kind}", **tabs)
    table = frame.to_arrow_table()
    return {field.name: str(field.type) for field in table.schema}, table.to_pylist()


def read_spark(path: str, kind: str) -> Found:
    spark = spark_session()
    spark.sparkContext.setLogLevel("OFF")
    if kind == "parquet":
        frame = spark.read.parquet(path)
    elif kind == "jsonl":
        frame = spark.read.json(path)
    else:
        marks = {"sep": "\t", "quote": ""} if kind == "tsv" else {"escape": '"', "multiLine": True}
        frame = spark.read.options(header=True, inferSchema=True, **marks).csv(path)
    return dict(frame.dtypes), [row.asDict(recursive=True) for row in frame.collect()]


WRITERS: dict[str, Callable[[list[dict[str, Any]], str, Path], None]] = {
    "pyarrow": write_pyarrow,
    "polars": write_polars,
    "duckdb": write_duckdb,
    "pandas": write_pandas,
    "datafusion": write_datafusion,
    "spark": write_spark,
}
READERS: dict[str, Callable[[str, str], Found]] = {
    "pyarrow": read_pyarrow,
    "polars": read_polars,
    "duckdb": read_duckdb,
    "pandas": read_pandas,
    "datafusion": read_datafusion,
    "spark": read_spark,
}


def main() -> None:
    import importlib

    what, program = sys.argv[1:3]
    if what == "write":
        rows = [json.loads(line) for line in Path(sys.argv[3]).read_text().splitlines()]
        WRITERS[program](rows, sys.argv[3], Path(sys.argv[4]))
        return
    module = importlib.import_module("pyspark" if program == "spark" else program)
    found: dict[str, Any] = {"version": module.__version__, "files": {}}
    for path in json.load(sys.stdin):
        try:
            types, rows = READERS[program](path, path.rpartition(".")[2])
            found["files"][path] = {"types": types, "rows": [{k: str(v) for k, v in row.items()} for row in rows]}
        except Exception as error:
            said = re.findall(r"(?<=Caused by: ).*|Exception: .*", str(error))  # by Spark
            found["files"][path] = {
                "error": (said or [f"{type(error).__name__}: {error}"])[-1].partition("\n")[0][:150]
            }
    print(f"\n{json.dumps(found)}")


if __name__ == "__main__":
    main()
