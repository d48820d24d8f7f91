"""The child process in which another engine filters: `peer_engines.py ENGINE JSON`.

The engine reads the JSON lines of the folder `shards`, keeps some with one worker and writes them to `out`: by the
`rules` of wv_cli.Filter or, without any, those whose field `keep` is true. The programs are those of the guide
filter-in-engines.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

Job = dict[str, Any]


def _rules(job: Job) -> Any:
    import wv_cli

    return wv_cli.Filter(job["rules"]) if job["rules"] is not None else None


def ray_data(job: Job) -> None:
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    rules = _rules(job)
    keep = rules.table if rules is not None else lambda table: table.filter(table["keep"])
    ray.data.read_json(job["shards"]).map_batches(keep, batch_format="pyarrow").write_json(job["out"])
    ray.shutdown()


def spark(job: Job) -> None:
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    rules = _rules(job)

    def by_field(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch.filter(batch["keep"])

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    pages = session.read.json(job["shards"])
    pages.mapInArrow(rules.batches if rules is not None else by_field, pages.schema).write.json(job["out"])
    session.stop()


def dask(job: Job) -> None:
    import dask
    import dask.dataframe as frames

    rules = _rules(job)
    pages = frames.read_json(f"{job['shards']}/*.jsonl", lines=True)
    if rules is not None:
        kept = pages.map_partitions(lambda part: part[rules(part["text"]).keep], meta=pages._meta)
    else:
        kept = pages.map_partitions(lambda part: part[part["keep"]], meta=pages._meta)
    with dask.config.set(scheduler="synchronous"):
        kept.to_json(job["out"], orient="records", lines=True)


def datatrove(job: Job) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.filters.base_filter import BaseFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    class Rules(BaseFilter):  # type: ignore[misc]
        name = "rules"

        def __init__(self) -> None:
            super().__init__(None, 1000)
            self.rules = _rules(job)

        def filter_batch(self, batch: list[Any]) -> list[Any]:
            if self.rules is None:
                return [document.metadata["keep"] for document in batch]
            keep, reason, _ = self.rules([document.text for document in batch])
            return [True if each else (False, why) for each, why in zip(keep, reason, strict=True)]

        def filter(self, document: Any) -> Any:
            return self.filter_batch([document])[0]

    reader, writer = JsonlReader(job["shards"]), JsonlWriter(job["out"], compression=None)
    LocalPipelineExecutor([reader, Rules(), writer], logging_dir=f"{job['work']}/logs").run()


if __name__ == "__main__":
    {"Ray Data": ray_data, "Spark": spark, "Dask": dask, "datatrove": datatrove}[sys.argv[1]](json.loads(sys.argv[2]))
