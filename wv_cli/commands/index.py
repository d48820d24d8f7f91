"""`wv index`: vectors in, an index for approximate search out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, quiet_option
from wv_cli.commands.shared.reading import from_option
from wv_cli.search.config import IndexConfig


@click.command("index", cls=Command)
@click.argument("vectors", metavar="VECTORS")
@click.option("-o", "--output", required=True, metavar="NAME", help="Index file; its words go to NAME.words.txt.")
@field_options(IndexConfig)
@from_option(True)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Take only the first N words of VECTORS.")
@click.option("--meta/--no-meta", default=True, help="Write NAME.meta.json beside the index.")
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Build an index of VECTORS for `wv nn VECTORS --index NAME`: most of the nearest words in a fraction of the time.

    An index pays for many queries or very many words; `wv nn` without one is exact. Search effort is tuned to reach
    --recall, measured on words of the file. The measured recall and time are printed beside those of exact search.

    \b
    Index types:
      hnsw    a graph of near words (Malkov & Yashunin 2020); fastest
      ivf-pq  lists of product codes (Jegou et al. 2011); smallest
      flat    all rows; exact

    NAME is a file of faiss (pip install faiss-cpu); other programs load it with faiss.read_index(NAME). Its rows are
    unit vectors in the order of NAME.words.txt, compared by inner product. With several threads hnsw differs from
    run to run.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.index import IndexJob

    job = job_of(IndexJob, options)
    run_job(job, quiet, as_json, result={"output": job.index.output}, bar=(" rows", "building"))
