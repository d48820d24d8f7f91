"""`wv search export`: the chunks of an index and their vectors for other programs."""

from collections.abc import Mapping
from typing import Any, Literal

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.errors import WvError
from wv_cli.io.places import is_stream


@frozen
class ExportedFiles(Part):
    """The index, and the file of its chunks."""

    index: str = argument("INDEX", role="read")
    output: str = option(help="File to write; its ending chooses the format.", short="o", role="result")

    def check(self) -> None:
        require(not is_stream(self.output), f"-o {self.output}: the ending chooses the format; name a file")


@frozen
class SearchExportJob(Job):
    """Write the chunks of INDEX, a file of `wv search index`, for other programs.

    FILE is NAME.parquet, NAME.sqlite or NAME.db: the file, line, text and record of each chunk, and its vector where
    INDEX was made with a model. NAME.npy has the vectors alone. In SQLite the table is `chunks`, and vectors are blobs
    as the extension sqlite-vec takes them.
    """

    files: ExportedFiles
    dtype: Literal["float32", "int8", "bit"] | None = option(
        None, "Vectors of unit length, as the index has them, or their signs.", shown="float32"
    )

    def report(self, metadata: Mapping[str, Any]) -> str:
        from wv_cli.commands.metadata import number_of

        vectors = f", with vectors of {metadata['dim']} numbers, {metadata['dtype']}" if metadata["dim"] else ""
        return f"{metadata['output']}: {number_of(metadata['chunks'], 'chunk')}{vectors}"

    def work(self, run: Run) -> tuple[None, Metadata]:
        from wv_cli.retrieval.export import export_writer, write_chunks
        from wv_cli.vectors.stored_index import open_search_index

        path, output = self.files.index, self.files.output
        write = export_writer(output)
        index = open_search_index(path, checked=True)
        if index is None:
            raise WvError(f"{path}: expected a search index, found another file; make one with wv search index")
        index.require_whole()
        dim, dtype = write_chunks(output, write, index, self.dtype, path)
        return None, {"output": output, "chunks": index.chunks, "dim": dim, "dtype": dtype}
