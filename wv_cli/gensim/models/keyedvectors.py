"""gensim's KeyedVectors over Embeddings: row numbers are keys, vectors can be added, and a word may have a count.

Its questions are the methods of Embeddings (wv_cli.vectors.keyed); here are its files and its changes.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli.errors import UsageError
from wv_cli.gensim.refusals import METHODS, missing_attribute, refuse, warn_deprecated
from wv_cli.io.arguments import require_type
from wv_cli.text.vocab import Vocab, read_vocab, write_vocab
from wv_cli.vectors import formats
from wv_cli.vectors.comparisons import unit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.vectors.formats import fasttext_bin
from wv_cli.words import WordList

Path = str | PathLike[str]
Key = str | int | np.integer[Any]
_UNNAMED = "word2vec-binary"  # the format of a file whose name says none


class KeyedVectors(Embeddings):
    """Vectors by word, or by row number; see Embeddings for the questions that they answer.

    >>> kv = KeyedVectors(vector_size=2)
    >>> kv.add_vectors(["king", "queen"], [[1, 0], [0.9, 0.1]])
    >>> kv["king"], kv[0], kv.most_similar("king")
    """

    _counts: NDArray[np.int64] | None = None

    def __init__(self, vector_size: int, count: int = 0, dtype: Any = None, mapfile_path: Path | None = None) -> None:
        """No words yet, whatever `count` is; vectors of `vector_size` numbers."""
        refuse(dtype=None if dtype is np.float32 else dtype, mapfile_path=mapfile_path)
        super().__init__([], np.empty((0, vector_size), np.float32))

    @classmethod
    def from_embeddings(cls, vectors: Embeddings, counts: NDArray[np.int64] | None = None) -> Self:
        """The words and vectors of `vectors`, whose matrix is not copied; `counts` (words,) say how often they occur.
        Raises TypeError for codes."""
        require_type(vectors.matrix, np.ndarray, "vectors", "Embeddings")
        made = cls.__new__(cls)
        made._become(vectors.words, vectors.matrix, vectors, counts)
        return made

    def _become(
        self,
        words: WordList,
        matrix: NDArray[np.float32],
        parts: Embeddings | None = None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        """Takes other words and vectors, and forgets what was made of those before."""
        subwords, texts = (parts.subwords, parts.texts) if parts is not None else (None, None)
        vars(self).clear()
        vars(self).update(words=words, matrix=matrix, subwords=subwords, texts=texts, _counts=counts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<vector_size={self.dim}, {len(self)} keys>"

    # Keys: a word, or a row number.

    def _word(self, key: Any) -> Any:
        """The word of a row number; anything else as it is. Raises KeyError for a row that there is not."""
        if not isinstance(key, int | np.integer):
            return key
        if str(key) in self.words:
            return str(key)
        if not 0 <= key < len(self):
            message = f"row {key} does not exist; there are {len(self):,} rows"
            raise KeyError(message)
        return self.words[int(key)]

    def _words(self, keys: Any) -> Any:
        """The same for a key, a pair of a key and a weight, or several of either."""
        if isinstance(keys, str | np.ndarray) or keys is None or not isinstance(keys, Iterable):
            return self._word(keys)
        return [(self._word(key[0]), key[1]) if isinstance(key, tuple) else self._word(key) for key in keys]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, int | np.integer):
            return str(key) in self.words or 0 <= int(key) < len(self)
        return super().__contains__(key)

    def __getitem__(self, key: Key | Iterable[Key]) -> NDArray[np.float32]:
        return super().__getitem__(self._words(key))

    def get_index(self, key: Key, default: int | None = None) -> int:
        return super().get_index(self._word(key), default)

    def get_vector(self, key: Key, norm: bool = False) -> NDArray[np.float32]:
        return super().get_vector(self._word(key), norm)

    def similarity(self, w1: Key | Iterable[str], w2: Key | Iterable[str]) -> float:
        return super().similarity(self._words(w1), self._words(w2))

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
        indexer: None = None,
    ) -> Any:
        if indexer is not None:
            message = "indexer is not supported: the search is exact"
            raise UsageError(message)
        asked = self._words(positive), self._words(negative)
        return super().most_similar(*asked, topn, clip_start, clip_end, restrict_vocab)

    def n_similarity(self, ws1: Iterable[Key], ws2: Iterable[Key]) -> float:
        return super().n_similarity(self._words(ws1), self._words(ws2))

    def get_sentence_vector(self, sentence: Iterable[Key]) -> NDArray[np.float32]:
        """The mean of the unit vectors of words."""
        return self.get_mean_vector(self._words(sentence))

    def doesnt_match(self, words: Iterable[Key]) -> Any:
        """The key, as it was given, that is farthest from the mean of all."""
        keys = [words] if isinstance(words, str) else list(words)
        named = self._words(keys)
        return keys[named.index(super().doesnt_match(named))]

    def similar_by_key(self, key: Key, topn: int | None = 10, restrict_vocab: int | None = None) -> Any:
        return self.most_similar([key], topn=topn, restrict_vocab=restrict_vocab)

    similar_by_word = similar_by_key

    def word_vec(self, word: Key, norm: bool = False) -> NDArray[np.float32]:
        """get_vector."""
        warn_deprecated("word_vec", "Use get_vector instead")
        return self.get_vector(word, norm)

    def words_closer_than(self, word1: str, word2: str) -> list[str]:
        """closer_than."""
        warn_deprecated("words_closer_than", "Use closer_than instead")
        return self.closer_than(word1, word2)

    def most_similar_cosmul(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        restrict_vocab: int | None = None,
    ) -> Any:
        """The `topn` words with the highest product of the cosines with the positive keys, divided by that with the
        negative ones, each cosine moved to 0 .. 1 (3CosMul, Levy & Goldberg 2014); else as most_similar."""
        if topn is not None and topn < 1:
            return []
        lists = [[keys] if isinstance(keys, str | np.ndarray) else list(keys or ()) for keys in (positive, negative)]
        plus, minus = (self._words(keys) for keys in lists)
        if not plus:
            message = "name at least one word"
            raise ValueError(message)
        rows = unit(self.matrix[: restrict_vocab or None].astype(np.float64))

        def product(keys: list[Any]) -> NDArray[np.float64]:
            terms = [self.get_vector(key, norm=True) if isinstance(key, str) else key for key in keys]
            moved: NDArray[np.float64] = np.prod([(1 + rows @ term) / 2 for term in terms], axis=0)
            return moved

        scores = product(plus) / (product(minus) + 1e-6)
        if topn is None:
            return scores
        asked = {key for key in [*plus, *minus] if isinstance(key, str)}
        order = ((self.words[row], float(scores[row])) for row in np.argsort(-scores, kind="stable").tolist())
        return list(islice((each for each in order if each[0] not in asked), topn))

    def vectors_for_all(
        self, keys: Iterable[str], allow_inference: bool = True, copy_vecattrs: bool = False
    ) -> "KeyedVectors":
        """The vectors of those of the words that have one, each word once; without `allow_inference` of listed ones."""
        listed = [word for word in dict.fromkeys(keys) if (word in self if allow_inference else word in self.words)]
        known = self.words.find_all(WordList.from_words(listed))
        counts = np.where(known >= 0, self.expandos["count"][known], 1) if copy_vecattrs else None
        return KeyedVectors.from_embeddings(Embeddings(listed, self[listed]), counts)

    def get_vecattr(self, key: Key, attr: str) -> int:
        """How often a word occurs in the text; `attr` is "count". Raises KeyError for others."""
        row = self.get_index(key)
        if attr != "count":
            message = f"attribute {attr!r} is not known; a word has a 'count'"
            raise KeyError(message)
        return int(self.expandos["count"][row])

    @property
    def expandos(self) -> dict[str, NDArray[np.int64]]:
        """The counts of all words as {"count": (words,)}; where they are not known they fall by one a row to 1."""
        return {"count": np.arange(len(self), 0, -1) if self._counts is None else self._counts}

    @staticmethod
    def cosine_similarities(vector_1: ArrayLike, vectors_all: ArrayLike) -> NDArray[np.float32]:
        """The cosines (rows,) of a vector (dim,) with others (rows, dim); 0 with a vector of zeros."""
        one, others = np.asarray(vector_1, np.float64), np.asarray(vectors_all, np.float64)
        cosines: NDArray[np.float32] = (unit(others) @ unit(one[None])[0]).astype(np.float32)
        return cosines

    def relative_cosine_similarity(self, wa: str, wb: str, topn: int = 10) -> float:
        """The cosine of two words divided by the sum of the cosines of `wa` with its `topn` nearest words."""
        total: float = sum(score for _, score in self.similar_by_key(wa, topn))
        return self.similarity(wa, wb) / total

    # Changes.

    def add_vectors(self, keys: Sequence[str], weights: ArrayLike, extras: None = None, replace: bool = False) -> None:
        """Appends words with their vectors (words, dim). Words that are there keep theirs unless `replace`. A call with
        a new word copies all vectors. Raises ValueError for sizes that do not fit."""
        refuse(extras=extras)
        given = Embeddings([keys] if isinstance(keys, str) else keys, np.atleast_2d(np.asarray(weights, np.float32)))
        if given.dim != self.dim:
            message = f"weights: expected vectors of {self.dim} numbers, found {given.dim}"
            raise ValueError(message)
        at = self.words.find_all(given.words) if len(self) else np.full(len(given), -1)
        fresh = np.flatnonzero((at < 0) & (given.words.find_all(given.words) == np.arange(len(given))))
        is_live = not len(fresh) and self.matrix.flags.writeable  # the rows may be those of a model
        matrix = self.matrix if is_live else np.concatenate([self.matrix, given.matrix[fresh]])
        if replace:
            matrix[at[at >= 0]] = given.matrix[at >= 0]
        words = WordList.from_words([*self.words, *given.words.take(fresh)])
        counts = None if self._counts is None else np.append(self._counts, np.ones(len(fresh), np.int64))
        self._become(words, matrix, self, counts)

    def intersect_word2vec_format(
        self,
        fname: Path,
        lockf: float = 0.0,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
    ) -> None:
        """The words that a file has, too, get its vectors. Raises UsageError unless `lockf` is 1, and for vectors of
        another size; WvError."""
        if lockf != 1:
            message = f"lockf={lockf:g} cannot be: {METHODS['vectors_lockf']}; give lockf=1.0"
            raise UsageError(message)
        found = KeyedVectors.load_word2vec_format(fname, None, binary, encoding, unicode_errors)
        if found.dim != self.dim:
            message = f"{fspath(fname)}: expected vectors of {self.dim} numbers, found {found.dim}"
            raise UsageError(message)
        shared = np.flatnonzero(self.words.find_all(found.words) >= 0)
        if len(shared):
            self.add_vectors(list(found.words.take(shared)), found.matrix[shared], replace=True)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.endswith("_lockf"):
            message = f"{name} cannot be set: {METHODS[name]}"
            raise UsageError(message)
        super().__setattr__(name, value)

    @property
    def norms(self) -> NDArray[np.float32]:
        """(words,): the lengths of the vectors."""
        lengths: NDArray[np.float32] = np.linalg.norm(self.matrix, axis=1)
        return lengths

    @property
    def min_n(self) -> int:
        """The letters of the shortest n-gram. Raises AttributeError without subwords, as max_n and bucket do."""
        return self._fasttext_model("min_n").args.minn

    @property
    def max_n(self) -> int:
        """The letters of the longest n-gram."""
        return self._fasttext_model("max_n").args.maxn

    @property
    def bucket(self) -> int:
        """The rows that n-grams share."""
        return self._fasttext_model("bucket").args.buckets

    @property
    def vectors_vocab(self) -> NDArray[np.float32]:
        """(words, dim), a read-only copy: the words' own rows. Raises AttributeError without subwords."""
        return self._subword_rows("vectors_vocab", lambda model: model.words.find_all(self.words))

    @property
    def vectors_ngrams(self) -> NDArray[np.float32]:
        """(buckets, dim), a read-only copy: the rows of n-grams. Raises AttributeError without subwords."""
        return self._subword_rows(
            "vectors_ngrams", lambda model: model.rows_of_buckets(np.arange(model.args.buckets, dtype=np.int32))
        )

    def _subword_rows(self, name: str, rows: Callable[[FastTextModel], NDArray[np.int64]]) -> NDArray[np.float32]:
        model = self._fasttext_model(name)
        wanted = rows(model)
        found = model.input.take(wanted[wanted >= 0])
        found.flags.writeable = False
        return found

    def _fasttext_model(self, name: str) -> FastTextModel:
        """The model that has the attribute `name`."""
        if not isinstance(self.subwords, FastTextModel):
            raise missing_attribute(self, name)
        return self.subwords

    def add_vector(self, key: str, vector: ArrayLike) -> int:
        """add_vectors of one word; its row."""
        self.add_vectors([key], np.asarray(vector)[None])
        return self.get_index(key)

    def __setitem__(self, keys: str | Sequence[str], weights: ArrayLike) -> None:
        self.add_vectors([keys] if isinstance(keys, str) else keys, np.atleast_2d(np.asarray(weights)), replace=True)

    def unit_normalize_all(self) -> None:
        """Divides every vector by its length."""
        matrix = self.get_normed_vectors()
        if self.matrix.flags.writeable:
            self.matrix[:] = matrix  # the rows may be those of a model
            matrix = self.matrix
        self._become(self.words, matrix, counts=self._counts)

    def fill_norms(self, force: bool = False) -> None:
        """Nothing: lengths are computed when they are needed."""

    def init_sims(self, replace: bool = False) -> None:
        """Nothing, or unit_normalize_all with `replace`."""
        warn_deprecated("init_sims", "Use fill_norms() instead")
        if replace:
            self.unit_normalize_all()

    # Files.

    @classmethod
    def load_word2vec_format(
        cls,
        fname: Path,
        fvocab: Path | None = None,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
        limit: int | None = None,
        datatype: Any = None,
        binary_chunk_size: int = 100 * 1024,
        no_header: bool = False,
    ) -> Self:
        """Reads word2vec's format. `fvocab` is a file of `word count` lines; `no_header` reads GloVe's. Of a word that
        stands there twice the first row counts. With the default `unicode_errors` words that are not UTF-8 are kept
        as they are. Raises WvError."""
        refuse(datatype=None if datatype is np.float32 else datatype)

        def decode_words(words: WordList) -> WordList:
            if (encoding, unicode_errors) == ("utf8", "strict"):
                return words
            return WordList.from_words(
                words.bytes_at(row).decode(encoding, unicode_errors) for row in range(len(words))
            )

        format = "word2vec-binary" if binary else "glove-text" if no_header else "word2vec-text"
        found = formats.load(fname, format=format, limit=limit, keep_repeated=True)
        words = decode_words(found.words)
        kept = words.first_rows()
        if len(kept) < len(words) or words is not found.words:
            found = Embeddings(words.take(kept), found.matrix[kept])
        counts = None
        if fvocab is not None:
            vocab = read_vocab(fspath(fvocab))
            rows = decode_words(vocab.words).find_all(found.words)
            counts = np.where(rows >= 0, vocab.counts[rows], 0)
        return cls.from_embeddings(found, counts)

    def save_word2vec_format(
        self,
        fname: Path,
        fvocab: Path | None = None,
        binary: bool = False,
        total_vec: int | None = None,
        write_header: bool = True,
        prefix: str = "",
        append: bool = False,
        sort_attr: str = "count",
    ) -> None:
        """Writes word2vec's format, without `write_header` GloVe's; text reads back to the same numbers. `fvocab` gets
        lines of `word count`; words begin with `prefix`. Raises WvError."""
        refuse(total_vec=total_vec, append=append)
        words = WordList.from_words(prefix + word for word in self.words) if prefix else self.words
        format = "word2vec-binary" if binary else "word2vec-text" if write_header else "glove-text"
        formats.save(fname, Embeddings(words, self.matrix), format=format, precision="exact")
        if fvocab is not None:
            write_vocab(fspath(fvocab), Vocab(words, self.expandos["count"]), sentence_end=False)

    def save(self, fname: Path) -> None:
        """Writes the vectors in the format that the name's ending chooses, else as word2vec's binary; with subwords as
        a fastText model. Counts are not kept. Raises WvError."""
        if isinstance(self.subwords, FastTextModel):
            fasttext_bin.save_model(fspath(fname), self.subwords)
            return
        try:
            formats.format_for_output(fname)
            format = None
        except UsageError:
            format = _UNNAMED
        formats.save(fname, self, format=format, precision="exact")

    @classmethod
    def load(cls, fname: Path, mmap: str | None = None) -> Self:
        """Reads vectors of any format, but for gensim's own; `mmap="r"` leaves the numbers in the file where the format
        can. Raises WvError."""
        return cls.from_embeddings(formats.load(fname, mapped=mmap is not None))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name)


Word2VecKeyedVectors = Doc2VecKeyedVectors = EuclideanKeyedVectors = KeyedVectors  # names of gensim 3


def load_facebook_vectors(path: Path, encoding: str = "utf-8") -> KeyedVectors:
    """The vectors of a fastText model, subwords included. Raises WvError."""
    require_utf8(encoding)
    found = formats.load(path, format="fasttext-bin")
    return KeyedVectors.from_embeddings(
        found, found.subwords.counts if isinstance(found.subwords, FastTextModel) else None
    )


def require_utf8(encoding: str) -> None:
    if encoding.lower().replace("-", "") != "utf8":
        message = f"encoding={encoding!r} has no effect: fastText's files are UTF-8; leave it out"
        raise UsageError(message)
