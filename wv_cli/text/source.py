"""Text inputs as one stream of bytes: files, folders, standard input, plain or compressed.

Not a tokenizer: what comes out is chunks of about a megabyte, cut anywhere, in which every input ends with a newline,
so that neither a word nor a line runs from one file into the next. Decisions:
  - the compression is told by the first bytes, never by the name; what cannot be read as text (zip, UTF-16) is refused;
  - inputs are looked at before the first is read, so a wrong name fails at once and the total size is known; where
    they must be running text (inputs.Texts) that goes for their first bytes too.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from wv_cli.errors import BadFile
from wv_cli.io.compression import CHUNK, decompress
from wv_cli.io.events import OnProgress
from wv_cli.io.kinds import HEAD_BYTES
from wv_cli.io.marks import MARK, without_mark
from wv_cli.text.binary import InvalidBytes, foreign_encoding
from wv_cli.text.documents import read_documents
from wv_cli.text.input_files import Inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.raw_files import blocks, is_file, name_of_input, open_raw, size_of_file
from wv_cli.text.raw_text import note_cut, note_raw, note_unsegmented, note_wrapped, read_sample
from wv_cli.text.record_files import RecordFiles
from wv_cli.text.web_pages import BLANK, is_page, read_page, recode_page

if TYPE_CHECKING:
    import hashlib

    from wv_cli.text.lines import Lines
    from wv_cli.text.records.labels import LabeledLines
    from wv_cli.text.tokenizing import Tokenizer


class Source(RecordFiles):
    """The inputs, in order, as chunks of bytes: iterate once.

    `inputs` are paths of files, of folders (all regular files inside, at any depth, in sorted order; names that begin
    with a dot or an underscore are left out) and `-` for standard input; Texts are held to what they must be, and
    `inputs` are then their names. With `lowercase` words are lowercased by Unicode's rules, but not those that begin
    with `keep_case`, as labels do; `lines` leaves some out after that; with `bare_end` no newline is added to the last
    input.
    `progress` is called after each chunk with the bytes consumed (compressed ones of compressed files) and their total,
    None when it cannot be known, and once at the end with two equal numbers. `divided` counts the lines of which the
    end stands in the part that another process reads; here they get a newline all the same. A text that is to be
    `compute_digest` has a `digest` when it is read: of its bytes as they lie in the files, before anything is changed.

    Raises WvError for an input that is missing, unreadable or empty of files, BadFile for one that is not the text it
    must be, UsageError when there is none; while iterating BadFile for damaged or truncated compressed data.
    """

    def __init__(
        self,
        inputs: Inputs,
        *,
        lowercase: bool = False,
        keep_case: bytes = b"",
        lines: "Lines | None" = None,
        bare_end: bool = False,
        progress: OnProgress | None = None,
        compute_digest: bool = False,
    ) -> None:
        super().__init__(inputs)
        self.lowercase, self.lines, self.bare_end = lowercase, lines, bare_end
        self._keep_case = keep_case
        part = self._texts.part if self._texts is not None else None
        self.divided = 0
        self._pieces = part.pieces_of(self.paths) if part is not None else None
        if self._pieces is not None:
            self.total = sum(end - begin for _, begin, end in self._pieces)
        self._progress = progress
        self._digest = new_digest() if compute_digest else None
        self._tokenizer = _tokenizer(self._texts) if self._texts is not None else None
        self._invalid, self._replaced = InvalidBytes(), InvalidBytes(replaced=True)
        self._blanks, self._first_blank = 0, ""  # documents without text: how many, and what the first one is
        self._labeled = self._label_lines(self._texts) if self._texts is not None else None

    def _label_lines(self, texts: Texts) -> "LabeledLines | None":
        if texts.labels is None:
            return None
        from wv_cli.text.records.labels import LabeledLines

        texts.labels.require_records([texts.records(path) for path in self.paths], self.inputs)
        return LabeledLines(texts.labels, self.field)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest() if self._digest is not None else ""

    def __iter__(self) -> Iterator[bytes]:
        chunks: Iterable[bytes] = self._all_files() if self._digest is None else self._hash_chunks(self._all_files())
        if self._texts is not None and self._texts.part is None and not self._texts.reading.force_text:
            chunks = self._note_words(self._texts, chunks)
        if self._tokenizer is not None:
            chunks = self._tokenizer.lines(chunks)
        if self.lowercase:
            from wv_cli.text.lowercase import lowercase_chunks

            chunks = lowercase_chunks(chunks, self._keep_case)
        if self.lines is not None:
            chunks = self.lines.filter_chunks(chunks)
        for chunk in chunks:
            yield chunk
            if self._progress is not None:
                self._progress(self.consumed, self.total)
        for invalid in (self._invalid, self._replaced):
            if self._texts is not None and invalid.count:
                self._texts.log(invalid.note)
        if self._labeled is not None:
            self._labeled.require_values(", ".join(self.inputs))
        if self._texts is not None and self._blanks:
            several = f"{self._blanks:,} documents have no text, such as " * (self._blanks > 1)
            self._texts.log(f"{several}{self._first_blank}")
        if self._progress is not None:
            self._progress(self.consumed, self.consumed)

    def _all_files(self) -> Iterator[bytes]:
        if self._tokenizer is not None and self._tokenizer.extracts:
            yield from self._documents(self._tokenizer)
            return
        files = map(self._file, self.paths) if self._pieces is None else (self._piece(*each) for each in self._pieces)
        for number, file in enumerate(files, 1):
            last = b"\n"
            for chunk in file:
                last = chunk[-1:]
                yield chunk
            if last != b"\n" and not (self.bare_end and number == len(self.paths)):
                yield b"\n"

    def _documents(self, tokenizer: "Tokenizer") -> Iterator[bytes]:
        """The texts of records, or of whole files, without their markup."""
        assert self._texts is not None
        for path in self.paths:
            documents: Iterable[tuple[bytes, bytes]]
            kind = "record" if self._texts.records(path) else "document"
            if kind == "record":
                documents = chain.from_iterable(self._labels_and_texts(path))
            else:
                documents = [(b"", b"".join(self._file(path)))]
            for labels, document in documents:
                text = tokenizer.extract_text(document)
                if document.strip() and not text.strip():
                    self._note_blank(f"{name_of_input(path)}: a {kind} without text")
                yield labels + (text.replace(b"\n", b" ") if self._texts.one_line else text) + b"\n"

    def _labels_and_texts(self, path: str) -> Iterator[Iterable[tuple[bytes, bytes]]]:
        """(labels, text) of each record, block by block."""
        if self._labeled is None:
            return (((b"", text) for text in block.each) for block in self.blocks(path))
        return self._labeled.read(self.blocks(path), name_of_input(path))

    def _note_words(self, texts: Texts, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks as they come, however small a pipe makes them; it is told if the first ones have not been cut into
        words."""
        head, told = b"", False
        for chunk in chunks:
            if not told:
                head += chunk[: HEAD_BYTES - len(head)]
                if len(head) == HEAD_BYTES:
                    self._tell_words(texts, head)
                    told = True
            yield chunk
        if not told:
            self._tell_words(texts, head)

    def _tell_words(self, texts: Texts, head: bytes) -> None:
        if self._tokenizer is not None:
            note = note_cut(head, self._tokenizer.config, texts.cutting) if texts.advise else None
        elif texts.advise:
            sample = read_sample(head, self.paths)
            if self.lowercase:
                from wv_cli.text.lowercase import lower_bytes

                sample = lower_bytes(sample)
            note = note_raw(sample)
        else:
            note = note_unsegmented(head)
        for each in (note, note_wrapped(head) if texts.advise else None):
            if each is not None:
                texts.log(f"{name_of_input(self.paths[0])}: {each}")

    def _note_blank(self, what: str) -> None:
        self._blanks += 1
        self._first_blank = self._first_blank or what

    def _hash_chunks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        assert self._digest is not None
        for chunk in chunks:
            self._digest.update(chunk)
            yield chunk

    def _file(self, path: str) -> Iterator[bytes]:
        """The text of one file; empty chunks never."""
        name = name_of_input(path)
        if self._texts is not None and self._texts.records(path):
            texts = (block.texts for block in self.blocks(path))
            if self._labeled is not None:
                texts = (b"".join(b"%b%b\n" % each for each in block) for block in self._labels_and_texts(path))
            yield from filter(None, texts)  # of bad records there is none
            return
        with open_raw(path, once=self._texts is not None) as raw:
            read: Iterator[bytes] = self._count_bytes(blocks(raw, name, CHUNK))
            if self._texts is not None and not self._texts.reading.force_text and path != "-":
                read = read_documents(path, read, lambda what: self._note_blank(f"{name}: {what}"))
            text = without_mark(decompress(read, name))
            first = next(text, b"")
            page = bool(first) and self._is_page(path, first)
            text = iter([recode_page(b"".join([first, *text]))]) if page else chain(filter(None, [first]), text)
            if self._texts is not None:  # a pipe has not been looked at before
                text = self._texts.require_text(text, name)
                text = text if self._texts.reading.force_text else self._count_invalid(text, name, page)
            first = next(text, b"")
            if self._texts is None and (what := foreign_encoding(first)):
                raise BadFile(name, f"expected UTF-8 text, found {what}")
            if page and self._texts is not None and not self._texts.extracts_pages:
                first, text = read_page(b"".join([first, *text])), iter(())
                if not first:
                    self._note_blank(f"{name}: {BLANK}")
            if first:
                yield first
            yield from text

    def _is_page(self, path: str, head: bytes) -> bool:
        """Whether a file is a web page of which the text is read."""
        texts = self._texts
        if texts is None or texts.extracts_pages:
            return texts is not None
        return not texts.reading.force_text and is_file(path) and is_page(path, head)

    def _count_invalid(self, chunks: Iterator[bytes], name: str, page: bool) -> Iterator[bytes]:
        """The chunks of a text, whose bytes that are no UTF-8 are counted."""
        extracts = self._tokenizer is not None and self._tokenizer.extracts
        invalid = self._replaced if page or extracts else self._invalid
        for chunk in chunks:
            invalid.add(chunk, name)
            yield chunk
        invalid.end(name)

    def _piece(self, path: str, begin: int, end: int) -> Iterator[bytes]:
        """The text of a file from one byte up to another, which both begin a line or a word."""
        if begin == 0 and end == size_of_file(path):
            yield from self._file(path)
            return
        text = self._between(path, begin, end)
        if self._texts is not None and self._texts.records(path):
            found = self._texts.read_records(path, path, text, begins=begin == 0)
            text = filter(None, (block.texts for block in found))
        yield from text

    def _between(self, path: str, begin: int, end: int) -> Iterator[bytes]:
        """The bytes of a file that is not compressed, without a byte order mark."""
        block = b""
        with open_raw(path) as raw:
            for number, block in enumerate(self._read_range(raw, path, begin, end)):
                if text := block if begin or number else block.removeprefix(MARK):
                    yield text
        self.divided += end < (size_of_file(path) or 0) and block[-1:] != b"\n"


def _tokenizer(texts: Texts) -> "Tokenizer | None":
    if (tokenizing := texts.reading.tokenize_config) is None:
        return None
    from wv_cli.text.tokenizing import Tokenizer

    return Tokenizer(tokenizing)


def new_digest() -> "hashlib.blake2b":
    """Of the bytes of a text."""
    import hashlib

    return hashlib.blake2b(digest_size=16)


def text_digest(inputs: Inputs) -> str:
    """The digest of a text that somebody else reads. Raises what Source raises."""
    source = Source(inputs, compute_digest=True)
    for _ in source:
        pass
    return source.digest


def tell_words(texts: Texts) -> None:
    """Tells of texts that others read whether they have been cut into words."""
    read = 0
    for chunk in Source(texts):
        read += len(chunk)
        if read >= 2 * HEAD_BYTES:  # words have blanks between them
            return
