"""Running text made of raw text: words with a blank between them, line by line.

Words are those of Unicode's annex 29 (csrc/core/segments.c), pieces between blanks, or the words of a package for one
language. The result depends on the text alone, however its chunks are cut.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from wv_cli import _segments
from wv_cli.errors import UsageError
from wv_cli.registry import Registry
from wv_cli.system import meta
from wv_cli.system.extra import require
from wv_cli.text.reading_config import OF_MODEL, TokenizeConfig, read_recipe, recipe_of

PIECE = 1 << 20  # bytes of a line that are cut into words together

Segment = Callable[[str], Iterable[str]]
Extract = Callable[[str], str]


def _jieba() -> Segment:
    package = require("jieba", "--words jieba")
    package.setLogLevel("ERROR")  # it tells of its cache
    return lambda line: package.cut(line)


def _fugashi() -> Segment:
    tagger = require("fugashi", "--words fugashi", "fugashi unidic-lite").Tagger()
    return lambda line: (word.surface for word in tagger(line))


def _pythainlp() -> Segment:
    tokenize = require("pythainlp", "--words pythainlp").word_tokenize
    return lambda line: tokenize(line, keep_whitespace=False)


# What cuts a line into words, where that is not ours to do.
SEGMENTERS: Registry[Callable[[], Segment]] = Registry(
    "segmenter", [("jieba", _jieba), ("fugashi", _fugashi), ("pythainlp", _pythainlp)]
)


def _html() -> Extract:
    package = require("trafilatura", "--markup html")
    return lambda text: package.extract(text) or ""


def _mediawiki() -> Extract:
    package = require("mwparserfromhell", "--markup mediawiki")
    return lambda text: str(package.parse(text).strip_code())


# What takes the text out of a document.
MARKUPS: Registry[Callable[[], Extract]] = Registry("markup", [("html", _html), ("mediawiki", _mediawiki)])


class Tokenizer:
    """Makes running text. Raises WvError where a package is missing."""

    def __init__(self, config: TokenizeConfig) -> None:
        self._config = config
        self._segment = SEGMENTERS[config.words]() if config.words in SEGMENTERS else None
        self._extract = MARKUPS[config.markup]() if config.markup in MARKUPS else None
        self._writer = _segments.WordWriter(
            blanks=config.words != "unicode",
            drop_punctuation=config.punctuation == "drop",
            digits=("keep", "zero", "drop").index(config.digits),
            sentences=config.sentences,
        )

    @property
    def extracts(self) -> bool:
        """Whether documents have markup."""
        return self._extract is not None

    def lines(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The words of a text in chunks that are cut anywhere."""
        for piece in _pieces(chunks):
            yield self._writer.write(self._prepared(piece))

    def extracted(self, document: bytes) -> bytes:
        """The text of a document with markup, without a line end behind it."""
        assert self._extract is not None
        text = self._extract(document.decode("utf-8", "replace")).encode("utf-8", "replace")
        return text.removesuffix(b"\n")

    def words_of(self, text: bytes) -> bytes:
        """The words of one text, without a line end behind it."""
        text = self.extracted(text) if self.extracts else text
        return b"".join(self.lines([text])).removesuffix(b" ")

    def _prepared(self, piece: bytes) -> bytes:
        config = self._config
        if piece.isascii() and self._segment is None:
            return piece.lower() if config.lowercase else piece
        text = piece.decode("utf-8", "surrogateescape")
        if config.form != "none":  # line by line, since most are normal
            normalize = partial(unicodedata.normalize, "NFC" if config.form == "nfc" else "NFKC")
            text = "\n".join([line if line.isascii() else normalize(line) for line in text.split("\n")])
        if config.lowercase:
            text = text.lower()
        if self._segment is not None:
            text = "\n".join([" ".join(self._segment(line)) if line else "" for line in text.split("\n")])
        return text.encode("utf-8", "surrogateescape")


def recipe_for(
    models: Sequence[str], recipe: str | None, log: Callable[[str], None], *, one_line: bool = True
) -> str | None:
    """The recipe for texts that `models` are asked about: that of their sidecars where `recipe` is `model`, but for
    sentences where each line has `one_line` of answer. Without a recipe `log` is told what the models were trained on.
    Raises UsageError."""
    if recipe not in (None, OF_MODEL):
        return recipe
    found = {model: meta.read(model).get("tokenize") for model in models}
    if recipe is None:
        for model, each in found.items():
            if each is not None:
                log(f"{model}: trained with --tokenize {each}; give --tokenize {OF_MODEL} if INPUT is raw text, too")
        return None
    for model, each in found.items():
        if each is None:
            message = f"{model}: {meta.sidecar_path(model)} names no tokenization; name the settings, such as unicode"
            raise UsageError(f"--tokenize {OF_MODEL}: {message}")
    if len({*found.values()}) > 1:
        message = f"--tokenize {OF_MODEL}: the models have different settings; ask them one by one"
        raise UsageError(message)
    config = read_recipe(str(found[models[0]]))
    return recipe_of(replace(config, sentences=config.sentences and not one_line))


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text in whole lines. A line that is longer than a piece is cut at blanks, or where it has none between
    characters, at the same places however the chunks are cut."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        done = 0
        while cut := _cut(held, done):
            yield bytes(held[done:cut])
            done = cut
        del held[:done]
    if held:
        yield bytes(held)


def _cut(held: bytearray, begin: int) -> int:
    """Where the piece that begins at this byte ends, 0 when that is not known yet."""
    end = begin + PIECE
    if (newline := held.rfind(b"\n", begin, end)) >= 0:
        return newline + 1
    if len(held) < end:
        return 0
    if (blank := held.rfind(b" ", begin, end)) >= 0:
        return blank + 1
    while end > begin + PIECE - 3 and held[end - 1] & 0xC0 == 0x80:  # not inside a character
        end -= 1
    return end - 1 if held[end - 1] >= 0xC0 else end
