"""`wv search` and `wv search index`: chunks of text that answer queries, from an index or without one."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part, SidecarOption
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require, threads_option
from wv_cli.config.wording import flag_of
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.places import is_stream
from wv_cli.retrieval.config import FusionConfig, TextConfig

if TYPE_CHECKING:
    from wv_cli.io.events import Log
    from wv_cli.retrieval.model import Model
    from wv_cli.retrieval.query import Searcher
    from wv_cli.vectors.stored_index import SearchIndex

_MODEL = "Also search by vectors of wv/small, a static embedding, or word vectors."


@frozen
class SearchJob(Job):
    """Show the paragraphs, lines or records that answer each QUERY best.

    INDEX is a file from `wv search index`. A FOLDER or a text file is searched without an index, which takes longer. A
    folder that is called index or export is given as ./index or ./export.

    Without a model the search is BM25: it finds words, their English forms, and identifiers by their parts. With
    --model its scores and those of vectors are summed; wv/small comes with the program and knows English and code.

    An answer is printed as `file:line: text`: the line of the chunk that has most words of the query, or its record's.
    Without QUERY, queries are read from standard input, one per line. With several queries, the first column names the
    query. --json prints one object per answer, with the record's other fields. The exit code is 1 if nothing is found.
    """

    JSON_HELP: ClassVar[str] = "Print one JSON object per answer."

    index: str = argument("INDEX|FOLDER", role="read")
    queries: tuple[str, ...] = argument("[QUERY]...", ())
    k: int = option(10, "Answers per query.", low=1)
    model: str | None = option(None, _MODEL, metavar="MODEL", role="read", shown="that of INDEX")
    fusion: FusionConfig = field(default_factory=FusionConfig)
    text: TextConfig = field(default_factory=TextConfig)
    threads: int = threads_option("Threads that read FOLDER's text with --model")

    def check(self) -> None:
        message = "- (standard input) is the text; give a QUERY, or a file in place of -"
        require(self.index != "-" or bool(self.queries), message)

    def open(self, log: "Log") -> "Searcher":
        """What answers the queries. Raises UsageError, BadFile, WvError."""
        from wv_cli.retrieval.query import open_searcher

        self.validate()
        explicit = frozenset(self.invocation.explicit)
        return open_searcher(self.index, self.model, self.fusion, self.text, explicit, threads=self.threads, log=log)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Answers the queries of the options: `answers` has what --json prints of each answer."""
        queries = [query for query in self.queries if query.strip()]
        require(bool(queries), "no query is given, and a call reads none from standard input; give one")
        searcher, answers = self.open(run.log), []
        for query in queries:
            found = searcher.answers(query, self.k)
            if not found and (why := searcher.explain_nothing(query)):
                run.log(f"{query}: {why}")
            answers += [answer.to_dict(query, rank) for rank, answer in enumerate(found, 1)]
        return None, {"answers": answers}


@frozen
class SearchedFiles(Part):
    """The files and folders that are indexed, and the model that makes the vectors of their chunks."""

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    model: str | None = option(None, _MODEL, metavar="MODEL", role="read")
    text: TextConfig = field(default_factory=TextConfig)


@frozen
class SearchIndexOutput(Part):
    """The file of the index. One that is there is brought up to date; its settings are given again."""

    output: str = option(help="Index file; one that is there is updated.", short="o", role="result")

    def check(self) -> None:
        if is_stream(self.output):
            raise UsageError(f"-o {self.output}: an index is a file that can be mapped; name a file")


@frozen
class SearchIndexJob(Job):
    """Build the index of INPUT, files or folders, for `wv search`.

    Folders are searched at any depth. Names that begin with . or _, binary files and files that cannot be read are left
    out. Compressed texts are read. The texts stand in the index, which is searched without them.

    When FILE is an index with the same settings and model, files whose contents have not changed are not read into
    words or vectors again. Files that are gone leave the index. The settings and the model of FILE are given again;
    others that are given make it anew.
    """

    READING: ClassVar[tuple[str, str]] = ("it", "indexing")

    invocation: SidecarOption = field(default_factory=SidecarOption)
    index: SearchIndexOutput
    files: SearchedFiles
    threads: int = threads_option("Threads that make vectors")

    def report(self, metadata: Mapping[str, Any]) -> str:
        from wv_cli.commands.metadata import number_of

        unchanged, out = metadata["files_kept"], metadata["files_left_out"]
        files = number_of(metadata["files"], "file") + (f" ({unchanged:,} unchanged)" if unchanged else "")
        gone = metadata["files_gone"]
        rest = (f", {gone:,} gone" if gone else "") + (f", {number_of(out, 'file')} left out" if out else "")
        return f"{number_of(metadata['chunks'], 'chunk')} of {files}{rest}; {metadata['seconds']:.1f} s"

    def work(self, run: Run) -> tuple[None, Metadata]:
        """`run.on_reading` is told of files, then of chunks."""
        from wv_cli.retrieval.build import build
        from wv_cli.retrieval.files import find_files
        from wv_cli.retrieval.model import Model

        begin = time.monotonic()
        model = Model(self.files.model, self.threads) if self.files.model is not None else None
        old = self._old(model, run)
        found = find_files(self.files.inputs, run.log, self.results())
        index, counts = build(
            found, self.files.text, log=run.log, model=model, old=old, progress=run.on_reading,
            beside=self.index.output,
        )  # fmt: skip
        if not index.chunks:
            raise WvError(f"{self.files.inputs[0]}: no text to search ({counts['skipped']:,} files left out)")
        metadata: Metadata = {
            "settings": asdict(self.files.text),
            "model": index.model or None,
            "model_digest": index.model_digest or None,
            "files": index.files,
            "files_kept": counts["kept"],
            "files_gone": counts["gone"],
            "files_left_out": counts["skipped"],
            "chunks": index.chunks,
            "tokens": index.total,
            "different_tokens": len(index.arrays["word_at"]) - 1,
            "seconds": round(time.monotonic() - begin, 3),
        }
        self.finish(run, self.results(), metadata, [(self.index.output, index.save)])
        return None, metadata

    def _old(self, model: "Model | None", run: Run) -> "SearchIndex | None":
        """The index that is there, None where nothing of it can be kept. Another file is replaced. Raises UsageError
        where a setting of the index is not given: its vectors or fields would be lost without a word."""
        from wv_cli.retrieval.query import settings_of
        from wv_cli.vectors.stored_index import open_search_index

        path = self.index.output
        try:
            old = open_search_index(path, checked=True) if Path(path).is_file() else None
            if old is None:
                return None
            old.require_whole()
        except BadFile as error:
            run.log(f"{error}; all files are read anew")
            return None
        own, new = {**asdict(settings_of(old, path)), "model": old.model}, asdict(self.files.text)
        other = [name for name, value in new.items() if value != own[name]]
        if old.model_digest != (model.digest if model else ""):
            other.append("model")
        for name in other:
            if name not in self.invocation.explicit:
                raise UsageError(f"{path} was made with {flag_of(name)} {own[name]}; give it, or remove {path}")
        if other:
            run.log(f"{path}: was made with other settings or another model; all files are read anew")
            return None
        return old
