"""`wv search index`: the files of a folder, or others, become an index; what has not changed is kept."""

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part, SidecarOption
from wv_cli.jobs.run import Metadata, Run
from wv_cli.retrieval.build import build
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import find_files
from wv_cli.retrieval.model import Model
from wv_cli.retrieval.query import settings_of
from wv_cli.search.stored_index import SearchIndex, open_search_index
from wv_cli.system.places import is_stream


@dataclass(frozen=True, kw_only=True)
class SearchedFiles(Part):
    """The files and folders that are indexed, and the model that makes the vectors of their chunks."""

    inputs: tuple[str, ...]
    model: str | None = None
    text: TextConfig = field(default_factory=TextConfig)

    def reads(self) -> list[str]:
        return [*self.inputs, *([self.model] if self.model is not None else [])]


@dataclass(frozen=True, kw_only=True)
class SearchIndexOutput(Part):
    """The file of the index. One that is there is brought up to date where its settings are the same."""

    output: str

    def check(self) -> None:
        if is_stream(self.output):
            raise UsageError(f"-o {self.output}: an index is a file that can be mapped; name a file")

    def results(self) -> list[str]:
        return [self.output]


@dataclass(frozen=True, kw_only=True)
class SearchIndexJob(Job):
    invocation: SidecarOption = field(default_factory=SidecarOption)
    files: SearchedFiles
    index: SearchIndexOutput
    threads: int = 1

    def work(self, run: Run) -> tuple[None, Metadata]:
        """`run.on_reading` is told of files, then of chunks."""
        begin = time.monotonic()
        model = Model(self.files.model, self.threads) if self.files.model is not None else None
        found = find_files(self.files.inputs, run.log, self.results())
        old = self._old(model, run)
        index, counts = build(found, self.files.text, log=run.log, model=model, old=old, progress=run.on_reading)
        if not index.chunks:
            raise WvError(f"{self.files.inputs[0]}: no text to search ({counts['skipped']:,} files left out)")
        metadata: Metadata = {
            "settings": asdict(self.files.text),
            "model": index.model or None,
            "model_digest": index.model_digest or None,
            "files": index.files,
            "files_kept": counts["kept"],
            "files_left_out": counts["skipped"],
            "chunks": index.chunks,
            "tokens": index.total,
            "different_tokens": len(index.arrays["word_at"]) - 1,
            "seconds": round(time.monotonic() - begin, 3),
        }
        self.finish(run, self.results(), metadata, [(self.index.output, index.save)])
        return None, metadata

    def _old(self, model: Model | None, run: Run) -> SearchIndex | None:
        """The index that is there, None where nothing of it can be kept. Another file is replaced."""
        path = self.index.output
        try:
            old = open_search_index(path, checked=True) if Path(path).is_file() else None
            if old is None:
                return None
            old.require_whole()
        except BadFile as error:
            run.log(f"{error}; all files are read anew")
            return None
        if settings_of(old, path) != self.files.text or old.model_digest != (model.digest if model else ""):
            run.log(f"{path}: was made with other settings or another model; all files are read anew")
            return None
        return old
