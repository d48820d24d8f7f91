"""`wv_cli.Index`: the index of `wv search index` as an object that takes texts, answers and is saved."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from wv_cli.cli.arguments import argument_names, paths_of, read_arguments
from wv_cli.commands.telling import tee_log
from wv_cli.config import require
from wv_cli.config.wording import arguments_in_errors, flag_of
from wv_cli.errors import BadFile, UsageError
from wv_cli.io.arguments import list_texts, path_text, real_number, require_type, whole_number
from wv_cli.io.host import processors
from wv_cli.io.places import is_stream
from wv_cli.retrieval.config import FusionConfig, TextConfig
from wv_cli.words import decode, encode

if TYPE_CHECKING:
    from wv_cli.retrieval.files import Found
    from wv_cli.retrieval.model import Model
    from wv_cli.vectors.stored_index import SearchIndex

_NAMES = argument_names({**TextConfig.options(), **FusionConfig.options()})
PathName = str | os.PathLike[str]


class Index:
    """Texts by their names, the words of their chunks, and with a model also vectors. `wv search` reads its file.

        index = wv_cli.Index("notes.index", model="wv/small")    # the index that is there, or a new one
        index.add({"faq": "How do I mend a tap?"})
        index.search("leaky faucet", k=3)                        # what `wv search --json` prints
        index.remove("faq")
        index.save()

    The other arguments are the options of `wv search index`; an index that is there keeps its own. Without a file at
    `path` the index is new: its `len` is 0, and `search` finds nothing. Nothing is written before `save`. Texts are
    indexed together, when a question is asked. Threads may not share it. Raises TypeError, UsageError and WvError.
    """

    def __init__(
        self,
        path: PathName | None = None,
        *,
        model: PathName | None = None,
        chunks: Literal["paragraph", "line", "words"] | None = None,
        words: int | None = None,
        field: str | None = None,
        stem: Literal["english", "none"] | None = None,
        stop_words: Literal["drop", "keep"] | None = None,
        identifiers: Literal["split", "whole"] | None = None,
    ) -> None:
        from wv_cli.retrieval.build import Builder

        self._path = path_text(path, "path") if path is not None else None
        named = path_text(model, "model") if model is not None else None
        given = {"chunks": chunks, "words": words, "field": field, "stem": stem, "stop_words": stop_words}
        with arguments_in_errors(_NAMES):
            settings = read_arguments({**given, "identifiers": identifiers}, TextConfig.options(), "Index")
            self._config = TextConfig(**settings)
            self._config.validate()
            self._config.reject_ineffective(settings)
            stored = self._open_stored(settings)
            self._model = _open_model(named) if named is not None else None
            self._index: SearchIndex = stored or Builder(self._config, self._model, None, _log()).finish()
            self._require_model()
        self._unchecked = stored is not None
        self._is_changed = False
        # Of each name its new text; None: what the index has.
        self._texts: dict[bytes, bytes | None] = dict.fromkeys(map(self._index.name, range(self._index.files)))

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Index cannot be pickled or copied; save it, and open its file with wv_cli.Index")

    def __len__(self) -> int:
        """How many texts and files there are."""
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        """Their names."""
        return map(decode, list(self._texts))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and encode(name) in self._texts

    def add(self, texts: Mapping[str, str]) -> None:
        """Takes texts by their names, which answers call the file. A text takes the place of one of the same name."""
        require_type(texts, Mapping, "texts", "a dict of names and texts")
        made = {}
        for name, text in texts.items():
            require_type(name, str, "texts", "each name as str")
            require_type(text, str, "texts", "each text as str")
            require(bool(name), "texts: a name is empty; name each text")
            made[encode(name)] = encode(text)
        self._texts |= made
        self._is_changed = True

    def add_files(self, inputs: PathName | Iterable[PathName]) -> None:
        """Takes files and those of folders, by their paths. What has not changed stays as it is. Files that are gone
        stay, too, until `remove`."""
        from wv_cli.retrieval.files import find_files

        paths = paths_of(inputs, "inputs")
        with arguments_in_errors(_NAMES):
            self._rebuild(find_files(paths, _log(), [self._path] if self._path is not None else []))

    def remove(self, names: str | Iterable[str]) -> None:
        """Drops texts and files. Raises KeyError for a name that is not there, and then drops none."""
        dropped = [encode(name) for name in list_texts(names, "names", "name")]
        for name in dropped:
            if name not in self._texts:
                raise KeyError(decode(name))
        for name in dropped:
            self._texts.pop(name, None)
        self._is_changed = True

    def search(self, query: str, k: int = 10, *, vector_weight: float | None = None) -> list[dict[str, Any]]:
        """The `k` best chunks, the best first: dicts of file, line, text, score and others."""
        from wv_cli.retrieval.query import Searcher

        require_type(query, str, "query", "a query as str")
        most = whole_number(k, "k")
        require(most >= 1, f"k must be at least 1, not {most}")
        with arguments_in_errors(_NAMES):
            require(vector_weight is None or bool(self._index.model or self._model), "--vector-weight needs a model")
            fusion = (
                FusionConfig()
                if vector_weight is None
                else FusionConfig(vector_weight=real_number(vector_weight, "vector_weight"))
            )
            fusion.validate()
            self._rebuild()
            if not self._index.chunks:
                return []
            model = self._require_model(open_it=bool(fusion.vector_weight))
            found = Searcher.from_index(self._index, model, fusion.vector_weight, self._name).answers(query, most)
        return [answer.to_dict(query, rank) for rank, answer in enumerate(found, 1)]

    def save(self, path: PathName | None = None) -> None:
        """Writes the file, whole or not at all: `path`, or that of the index."""
        named = path_text(path, "path") if path is not None else self._path
        if named is None:
            raise UsageError("path: the index has no file yet; name one")
        require(not is_stream(named), f"path: {named}: an index is a file that can be mapped; name a file")
        self._rebuild()
        self._check_stored()
        self._index.save(named)
        self._path = named

    def export(self, path: PathName, *, dtype: Literal["float32", "int8", "bit"] | None = None) -> None:
        """Writes what `wv search export` writes: file, line, text, record and vector of each chunk, for other programs,
        as NAME.parquet, .sqlite or .db; NAME.npy has the vectors alone. Without a model there are no vectors.

        float32 vectors, the default, have unit length, int8 are those of the index, and bit are their signs, the first
        in the lowest bit. In SQLite, vectors are blobs as the extension sqlite-vec takes them.
        """
        from wv_cli.retrieval.export import export_writer, write_chunks

        named = path_text(path, "path")
        write = export_writer(named)
        with arguments_in_errors(_NAMES):
            self._rebuild()
            write_chunks(named, write, self._index, dtype, self._name)

    @property
    def _name(self) -> str:
        return self._path or "the index"

    def _open_stored(self, settings: Mapping[str, Any]) -> "SearchIndex | None":
        """The index that is there, whose settings become those of the object."""
        from wv_cli.retrieval.query import settings_of
        from wv_cli.vectors.stored_index import open_search_index

        if self._path is None or not Path(self._path).exists():
            return None
        if Path(self._path).is_dir():
            raise UsageError(f"path: {self._path} is a folder; name the index's file, and give the folder to add_files")
        stored = open_search_index(self._path)
        if stored is None:
            raise BadFile(self._path, "expected a search index, found another file; name a new one")
        own = settings_of(stored, self._path)
        for name, value in settings.items():
            if getattr(own, name) != value:
                found = getattr(own, name)
                raise UsageError(f"{flag_of(name)}: {self._path} was made with {found}; leave it out")
        self._config = own
        return stored

    def _require_model(self, *, open_it: bool = False) -> "Model | None":
        """The model; that of an index in a file is opened when vectors are made. Raises WvError for another one."""
        from wv_cli.retrieval.query import open_model_of_index, require_model

        if self._model is None and open_it and self._index.model:
            self._model = open_model_of_index(self._index.model, processors())
        if self._model is not None and self._index.chunks:
            require_model(self._index, self._model, self._name)
        return self._model

    def _check_stored(self) -> None:
        """Reads all of the file before its contents go into another one. Raises BadFile for damage."""
        from wv_cli.vectors.stored_index import open_search_index

        if self._unchecked:
            open_search_index(str(self._path), checked=True)
            self._index.require_whole()
            self._unchecked = False

    def _rebuild(self, files: "Sequence[Found]" = ()) -> None:
        """Brings the index up to date with the texts, and with these `files`."""
        from wv_cli.retrieval.build import Builder

        if not self._is_changed and not files:
            return
        self._check_stored()
        builder = Builder(self._config, self._require_model(open_it=True), self._index, _log())
        renewed = {encode(found.path) for found in files}
        for name, text in self._texts.items():
            if name in renewed:
                continue
            if text is None:
                builder.keep(name)
            else:
                builder.add_text(name, text)
        for found in files:
            builder.add(found)
        self._index, self._is_changed = builder.finish(), False
        self._texts = dict.fromkeys(map(self._index.name, range(self._index.files)))


def _log() -> Any:
    return tee_log(None)


def _open_model(path: str) -> "Model":
    from wv_cli.retrieval.model import Model

    return Model(path, processors())
