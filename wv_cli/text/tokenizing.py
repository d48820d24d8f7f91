"""Running text made of raw text: words with a blank between them, line by line.

Words are those of Unicode's annex 29 (csrc/core/segments.c), pieces between blanks, or the words of a package for one
language. The result depends on the text alone, however its chunks are cut.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from wv_cli import _segments
from wv_cli._segments import BEGINS_MARKED, BYTES, CASED, ENDS_MARKED, GROWTH, HARD, IGNORED, LETTER, PAGE, SIGMA
from wv_cli._text import SEPARATORS
from wv_cli.errors import UsageError
from wv_cli.io import meta
from wv_cli.io.extra import require
from wv_cli.registry import Registry
from wv_cli.text.reading_config import OF_MODEL, TokenizeConfig, read_recipe, recipe_of

PIECE = 1 << 20  # bytes of a line that are cut into words together
# Labels and weights of lines stay as they are.
_LABEL = re.compile(rb"(?<![^%b])__(?:label|weight)__[^%b]*" % (SEPARATORS, SEPARATORS))
_SIGMA = "\u03a3"
# Where characters that are composed of two stand.
_COMPOSED = (range(0xC0, 0x3100), range(0xFB00, 0xFB50), range(0x11000, 0x1D200))

Segment = Callable[[str], Iterable[str]]
Extract = Callable[[str], str]


def _jieba() -> Segment:
    package = require("jieba", "cutting words by jieba")
    package.setLogLevel("ERROR")  # it tells of its cache
    return lambda line: package.cut(line)


def _fugashi() -> Segment:
    tagger = require("fugashi", "cutting words by fugashi", "fugashi unidic-lite").Tagger()
    return lambda line: (word.surface for word in tagger(line))


def _pythainlp() -> Segment:
    tokenize = require("pythainlp", "cutting words by pythainlp").word_tokenize
    return lambda line: tokenize(line, keep_whitespace=False)


# What cuts a line into words, where that is not ours to do.
SEGMENTERS: Registry[Callable[[], Segment]] = Registry(
    "segmenter", [("jieba", _jieba), ("fugashi", _fugashi), ("pythainlp", _pythainlp)]
)


def _html() -> Extract:
    from wv_cli.text.web_pages import extract_page  # questions of words need none

    require("trafilatura", "--markup html")
    return extract_page


def _mediawiki() -> Extract:
    package = require("mwparserfromhell", "--markup mediawiki")
    return partial(_text_of_wiki, package.parse)


# HTML whose text does not go on in that of its neighbors.
_BLOCKS = frozenset(
    ("blockquote", "br", "center", "dd", "div", "dt", "h1", "h2", "h3", "hr", "li", "p", "pre", "td", "th")
)
_NO_TEXT_LINK = re.compile(r"(?i)\s*(?:file|image|category)\s*:")


def _text_of_wiki(parse: Callable[[str], Any], text: str) -> str:
    """The text of a page without footnotes, pictures and categories. strip_code() alone would leave footnotes and
    blocks of HTML without a blank before the next word, and the options of a picture among the words."""
    page = parse(text)
    for tag in page.filter_tags():
        name = str(tag.tag).strip().lower()
        if name == "ref":
            tag.contents = ""
        elif name in _BLOCKS and not tag.wiki_markup:
            tag.contents = tag.contents or ""
            tag.contents.insert(0, " ")
            tag.contents.append(" ")
    for link in page.filter_wikilinks():
        options = link.text is not None and any("|" in str(each) for each in link.text.filter_text(recursive=False))
        if options or _NO_TEXT_LINK.match(str(link.title)):
            link.text = ""
    return str(page.strip_code())


# What takes the text out of a document.
MARKUPS: Registry[Callable[[], Extract]] = Registry("markup", [("html", _html), ("mediawiki", _mediawiki)])


class Tokenizer:
    """Makes running text. Raises WvError where a package is missing."""

    def __init__(self, config: TokenizeConfig) -> None:
        self.config = config
        self._segment = SEGMENTERS[config.words]() if config.words in SEGMENTERS else None
        self._extract = MARKUPS[config.markup]() if config.markup in MARKUPS else None
        self._folder = _segments.Folder(partial(character_page, config), partial(_fold_line, config))
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
            yield self._writer.write(self._cut_beside_labels(piece))

    def extract_text(self, document: bytes) -> bytes:
        """The text of a document with markup, without a line end behind it."""
        assert self._extract is not None
        text = self._extract(document.decode("utf-8", "replace")).encode("utf-8", "replace")
        return text.removesuffix(b"\n")

    def words_of(self, text: bytes) -> bytes:
        """The words of one text, without a line end behind it."""
        text = self.extract_text(text) if self.extracts else text
        return b"".join(self.lines([text])).removesuffix(b" ")

    def _cut_beside_labels(self, piece: bytes) -> bytes:
        if b"__label__" not in piece and b"__weight__" not in piece:
            return self._cut_words(piece)
        found, at = [], 0
        for label in _LABEL.finditer(piece):
            found += [self._cut_words(piece[at : label.start()]), label[0]]
            at = label.end()
        return b"".join([*found, self._cut_words(piece[at:])])

    def _cut_words(self, piece: bytes) -> bytes:
        if piece.isascii():
            piece = piece.lower() if self.config.lowercase else piece
        elif self.config.lowercase or self.config.form != "none":
            piece = self._folder.fold(piece)
        if self._segment is None:
            return piece
        text = piece.decode("utf-8", "surrogateescape")
        text = "\n".join([" ".join(self._segment(line)) if line else "" for line in text.split("\n")])
        return text.encode("utf-8", "surrogateescape")


def _fold_line(config: TokenizeConfig, line: bytes) -> bytes:
    """A line with a character that csrc/core/simplify.c does not replace alone."""
    text = _normal(config, line.decode("utf-8", "surrogateescape"))
    return (text.lower() if config.lowercase else text).encode("utf-8", "surrogateescape")


def _normal(config: TokenizeConfig, text: str) -> str:
    return text if config.form == "none" else unicodedata.normalize("NFC" if config.form == "nfc" else "NFKC", text)


@functools.cache
def character_page(config: TokenizeConfig, number: int) -> bytes:
    """What becomes of the characters from PAGE * number on, as csrc/core/simplify.h has it."""
    page = [chr(code) for code in range(number * PAGE, (number + 1) * PAGE)]
    if all(unicodedata.category(each) == "Lo" for each in page) and _is_plain(config, page):
        return b"".join([bytes([LETTER, len(each)]) + each.ljust(BYTES, b"\0") for each in map(str.encode, page)])
    return b"".join([_row(config, each) for each in page])


def _is_plain(config: TokenizeConfig, letters: list[str]) -> bool:
    """Whether letters stay what they are, as Chinese ones and Hangul do."""
    text = "".join(letters)
    return text.lower() == text.upper() == _normal(config, text) == text and _seconds().isdisjoint(letters)


def _row(config: TokenizeConfig, character: str) -> bytes:
    if "\ud800" <= character <= "\udfff":
        return bytes(2 + BYTES)
    text, marks, kind, cases = _normal(config, character), 0, LETTER, {0}
    if config.form != "none":
        first, last = (bool(unicodedata.combining(each)) for each in (text[0], text[-1]))
        marks = BEGINS_MARKED * first | ENDS_MARKED * last
        kind = HARD if text[0] in _seconds() else LETTER
    if config.lowercase:
        cases = {_case(each) for each in text}
        kind = SIGMA if text == _SIGMA else HARD if len(cases) > 1 or _SIGMA in text else kind
        text = text.lower()
    octets = text.encode("utf-8")
    if len(octets) > min(BYTES, GROWTH * len(character.encode("utf-8"))):
        kind, octets = HARD, b""
    return bytes([kind | marks | cases.pop(), len(octets)]) + octets.ljust(BYTES, b"\0")


def _case(character: str) -> int:
    """What the rule of the sigma sees: str.lower knows it."""
    if (character + _SIGMA).lower().endswith("\u03c2"):
        return CASED
    return IGNORED if f"A{character}{_SIGMA}".lower().endswith("\u03c2") else 0


@functools.cache
def _seconds() -> frozenset[str]:
    """The characters that may become one with the character before them."""
    parts = (unicodedata.decomposition(chr(code)).split() for code in chain(*_COMPOSED))
    found = {chr(int(each[1], 16)) for each in parts if len(each) == 2 and each[0][0] != "<"}
    return frozenset(found) | {chr(code) for code in (*range(0x1160, 0x1176), *range(0x11A7, 0x11C3))}


def recipe_for(
    models: Sequence[str], recipe: str | None, log: Callable[[str], None], *, one_line: bool = True
) -> str | None:
    """The recipe for texts that `models` are asked about: that of their sidecars where `recipe` is `model`, but for
    sentences where each line has `one_line` of answer. `log` is told what they were trained on: of phrases, and without
    a recipe of words. Raises UsageError."""
    for model in models:
        if meta.joins_phrases(model):
            log(f"{model}: trained on joined phrases; join them in INPUT, too: wv phrases INPUT --apply PHRASES")
    if recipe not in (None, OF_MODEL):
        return recipe
    found = {model: meta.tokenization(model) for model in models}
    if recipe is None:
        for model, each in found.items():
            if each is not None:
                log(f"{model}: trained with --tokenize {each}; give --tokenize {OF_MODEL} if INPUT is raw text, too")
        return None
    for model, each in found.items():
        if each is None:
            message = (
                f"{model}: {meta.sidecar_path(model)} names no tokenization; leave --tokenize out, or name its settings"
            )
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
