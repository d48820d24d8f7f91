"""Files of codes (wv_cli.vectors.codes): binary for programs, text for people. Both are read wherever vectors are, as
+1/-1, 1/0 or, product codes, what they stand for (codes.CodeVectors), and are written by `wv hash` alone.

Binary: a container (wv_cli.io.container) of the arrays `lengths` and `words` (the words end to end), and `codes`:
uint8 (n, ceil(bits / 8)) with the lowest bit first, or the positions of the active bits, uint16 or uint32 (n, active).
Product codes have a fourth array, `centroids` (float32, in the order of wv_cli.vectors.quantizer), and their bytes in
`codes`.

Text: a first line `# wv codes {JSON}`, then `word TAB code`, the code as 0101..., bit 0 first, or as the positions of
its active bits, separated by blanks. For product codes the bytes as numbers; the centroids are in the JSON, base64 of
little-endian float32.
"""

import base64
import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError, show_bytes, show_value
from wv_cli.io import container
from wv_cli.io.compression import inner_name
from wv_cli.io.input import Input
from wv_cli.io.output import open_output
from wv_cli.io.places import is_stdout
from wv_cli.vectors.codes import MAX_BITS, Codes, CodeVectors, product_quantizer
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.base import Format, ReadOptions
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.neighbors.codes import pack_bits, unpack_bits, words_per_code
from wv_cli.vectors.quantizer import ProductQuantizer
from wv_cli.words import WordList

_TEXT_MAGIC = b"# wv codes {"
TEXT_SUFFIXES = (".txt", ".tsv")
_BLOCK_ROWS = 1 << 14


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether save() writes text to `path`: by its ending, and on standard output."""
    return is_stdout(path) or inner_name(path).endswith(TEXT_SUFFIXES)


def save(path: str | os.PathLike[str], codes: Codes, *, text: bool | None = None) -> None:
    """Writes codes, whole or not at all; `text` None: is_text(path). Raises WvError; for text also, before anything is
    written, for a word that holds a tab or a newline."""
    text = is_text(path) if text is None else text
    if text and (bad := next((i for i, word in enumerate(codes.words) if set(word) & set("\t\n\r")), None)) is not None:
        message = (
            f"{path}: row {bad + 1}: the word {show_bytes(codes.words.bytes_at(bad))} holds a tab or a line end, which "
            "text cannot keep; write binary codes (another ending than .txt or .tsv)"
        )
        raise WvError(message)
    with open_output(path) as stream:
        (_write_text if text else _write_binary)(stream, codes)


def _facts(codes: Codes) -> dict[str, Any]:
    return {
        "method": codes.method,
        "bits": codes.bits,
        "active": codes.active,
        "rows": len(codes),
        "parameters": codes.parameters,
    }


def _write_binary(stream: BinaryIO, codes: Codes) -> None:
    more = {}
    if codes.quantizer is not None:
        data, more = codes.data, {"centroids": codes.quantizer.centroids.astype("<f4")}
    elif codes.sparse:
        data = codes.data.astype("<u2" if codes.bits <= 1 << 16 else "<u4")
    else:
        data = np.ascontiguousarray(codes.data, "<u8").view(np.uint8)[:, : -(-codes.bits // 8)]
    lengths = np.diff(codes.words.starts).astype("<u4")
    words = np.frombuffer(codes.words.blob, np.uint8)
    container.write(stream, "codes", _facts(codes), {"lengths": lengths, "words": words, "codes": data, **more})


def _write_text(stream: BinaryIO, codes: Codes) -> None:
    facts = _facts(codes)
    if codes.quantizer is not None:
        facts["centroids"] = base64.b64encode(codes.quantizer.centroids.astype("<f4").tobytes()).decode()
    stream.write(b"# wv codes " + json.dumps(facts).encode() + b"\n")
    for start in range(0, len(codes), _BLOCK_ROWS):
        part = codes.data[start : start + _BLOCK_ROWS]
        if codes.sparse or codes.quantizer is not None:
            texts = [" ".join(map(str, row)).encode() for row in part.tolist()]
        else:
            texts = [row.tobytes() for row in unpack_bits(part, codes.bits) + np.uint8(48)]
        stream.write(b"".join(b"%s\t%s\n" % (codes.words.bytes_at(start + i), text) for i, text in enumerate(texts)))


def _read_facts(source: Input, facts: Any, **position: int) -> tuple[str, int, int, int, dict[str, Any]]:
    """(method, bits, active, rows, parameters) of a header. Raises BadFile."""
    try:
        method, bits, active, rows, parameters = (
            facts[key] for key in ("method", "bits", "active", "rows", "parameters")
        )
        whole = [type(number) is int for number in (bits, active, rows)]
        sane = all(whole) and 1 <= bits <= MAX_BITS and 0 <= active <= bits and rows >= 0
    except (KeyError, TypeError):
        sane = False
    if not sane or not isinstance(method, str) or not isinstance(parameters, dict):
        raise BadFile(source.name, f"the header does not describe codes: {show_value(facts, 80)}", **position)
    return method, bits, active, rows, parameters


def read_binary(source: Input) -> Codes:
    """Raises BadFile for anything that save() would not have written."""
    return _read_binary(source)[0]


def _read_binary(source: Input) -> tuple[Codes, int]:
    """(the codes, the byte where their words begin)."""
    reader = container.Reader(source, "codes")
    method, bits, active, rows, parameters = _read_facts(source, reader.header, byte=reader.header_at)
    width, kinds = (active, "<u2 <u4") if active else (-(-bits // 8), "|u1")
    layout: dict[str, tuple[str, tuple[int | str, ...]]] = {
        "lengths": ("<u4", (rows,)),
        "words": ("|u1", ("letters",)),
        "codes": (kinds, (rows, width)),
    }
    if "centroids" in reader.layout:
        layout["centroids"] = ("<f4", ("numbers",))
    what = f"{rows:,} words and codes of {bits} bits, {active} active"
    letters = reader.expect(layout, what)["letters"]
    arrays = reader.read()
    lengths, words, data = arrays["lengths"], arrays["words"], arrays["codes"]
    quantizer = product_quantizer(arrays["centroids"], bits) if "centroids" in arrays and not active else None
    if ("centroids" in arrays and quantizer is None) or int(lengths.sum(dtype=np.int64)) != letters:
        reader.refuse(f"the lengths of the words or the centroids do not fit {what}")
    starts = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    if quantizer is not None:
        codes = data
    elif active:
        codes = data.astype(np.int32)
    else:
        octets = np.zeros((rows, 8 * words_per_code(bits)), np.uint8)
        octets[:, :width] = data
        codes = octets.view("<u8").astype(np.uint64, copy=False)
    if quantizer is None and (bad := _wrong_row(codes, bits, active)) is not None:
        expected = f"{active} ascending positions below {bits}" if active else f"no bits beyond the first {bits}"
        raise BadFile(source.name, f"expected {expected}, found otherwise in row {bad + 1}")
    made = Codes(WordList(words.tobytes(), starts), method, bits, active, codes, parameters, quantizer)
    return made, reader.offset("words")


def _wrong_row(codes: NDArray[Any], bits: int, active: int) -> int | None:
    """The first row that no hasher can have made."""
    if not active:
        spare = 64 * codes.shape[1] - bits
        wrong = (codes[:, -1] >> np.uint64(64 - spare)) != 0 if spare else np.zeros(len(codes), np.bool_)
    else:
        wrong = (codes[:, 0] < 0) | (codes[:, -1] >= bits) | (np.diff(codes, axis=1) <= 0).any(axis=1)
    return int(wrong.argmax()) if wrong.any() else None


def read_text(source: Input) -> Codes:
    """Raises BadFile with the line of the first fault."""
    lines = _lines(source)
    first = next(lines)
    try:
        facts = json.loads(first.removeprefix(_TEXT_MAGIC[:-1]))
    except (ValueError, RecursionError) as error:
        raise BadFile(source.name, f"expected `# wv codes {{JSON}}`, found {show_bytes(first)}", line=1) from error
    method, bits, active, rows, parameters = _read_facts(source, facts, line=1)
    quantizer = _text_quantizer(source, facts, bits, active)
    words: list[bytes] = []
    parts: list[NDArray[Any]] = []
    pending: list[Any] = []

    def convert() -> None:
        if quantizer is not None:
            parts.append(np.array(pending, np.uint8).reshape(-1, bits // 8))
        elif active:
            parts.append(np.array(pending, np.int32).reshape(-1, active))
        else:
            digits = np.frombuffer(b"".join(pending), np.uint8).reshape(-1, bits)
            parts.append(pack_bits(digits == ord("1")))
        pending.clear()

    for number, line in enumerate(lines, 2):
        word, tab, text = line.partition(b"\t")
        code = None
        if tab:
            code = _parse(text, bits, active) if quantizer is None else _numbers(text, bits // 8, 256)
        if code is None:
            expected = f"{active} ascending positions below {bits}" if active else f"{bits} digits 0 or 1"
            expected = expected if quantizer is None else f"{bits // 8} numbers below 256"
            problem = f"expected a word, a tab and {expected}, found {show_bytes(line)}"
            raise BadFile(source.name, problem, line=number)
        words.append(word)
        pending.append(code)
        if len(pending) == _BLOCK_ROWS:
            convert()
    convert()
    if len(words) != rows:
        problem = f"the first line promises {rows:,} codes, found {len(words):,}: the file was cut short or changed"
        raise BadFile(source.name, problem, line=len(words) + 1)
    return Codes(WordList.from_words(words), method, bits, active, np.concatenate(parts), parameters, quantizer)


def _text_quantizer(source: Input, facts: dict[str, Any], bits: int, active: int) -> ProductQuantizer | None:
    """Of product codes. Raises BadFile for centroids that do not fit."""
    if "centroids" not in facts:
        return None
    try:
        octets = base64.b64decode(facts["centroids"], validate=True)
        quantizer = None if active else product_quantizer(np.frombuffer(octets, "<f4").astype(np.float32), bits)
    except (ValueError, TypeError):
        quantizer = None
    if quantizer is None:
        problem = f"the centroids in the first line do not fit product codes of {bits} bits; make the file again"
        raise BadFile(source.name, problem, line=1)
    return quantizer


def _parse(text: bytes, bits: int, active: int) -> Any:
    """The digits of a dense code, the positions of a sparse one; None for anything else."""
    if not active:
        return text if len(text) == bits and not text.strip(b"01") else None
    at = _numbers(text, active, bits)
    return at if at and all(one < other for one, other in itertools.pairwise(at)) else None


def _numbers(text: bytes, count: int, below: int) -> list[int] | None:
    fields = text.split(b" ")
    if len(fields) != count or not all(field.isdigit() and len(field) < 10 for field in fields):
        return None
    numbers = [int(field) for field in fields]
    return numbers if max(numbers) < below else None


def _lines(source: Input) -> Iterator[bytes]:
    for buffer, length in source.line_blocks():
        for line in bytes(buffer[:length]).split(b"\n")[:-1]:
            yield line.removesuffix(b"\r")


def _check(codes: Codes, report: Report, position: Callable[[int], int], unit: str) -> None:
    report.rows, report.promised_rows, report.dim = len(codes), len(codes), CodeVectors(codes).dim
    nothing_zero = np.ones((len(codes), 1), np.float32)
    RowAudit(report, unit).add(codes.words.blob, np.diff(codes.words.starts), nothing_zero, position)


def _check_binary(source: Input, report: Report) -> None:
    codes, first_word = _read_binary(source)
    _check(codes, report, lambda row: first_word + int(codes.words.starts[row]), "byte")


def _as_vectors(codes: Codes, options: ReadOptions) -> Embeddings:
    limited = options.limit is not None and options.limit < len(codes)
    return CodeVectors(codes.take(slice(options.limit)) if limited else codes)


FORMAT = Format(
    name="codes",
    what="codes of words",
    summary="binary codes and how they were made, with a check sum; written by `wv hash`",
    text=False,
    loses="the vectors",
    sniff=lambda head: head.startswith(container.magic("codes")[:-2]),
    read=lambda source, options: _as_vectors(read_binary(source), options),
    check=_check_binary,
)
TEXT_FORMAT = Format(
    name="codes-text",
    what="codes of words",
    summary="codes as `word 0101...` or `word positions`; written by `wv hash -o NAME.txt`",
    text=True,
    loses="the vectors; words with a tab or line end",
    sniff=lambda head: head.startswith(_TEXT_MAGIC),
    read=lambda source, options: _as_vectors(read_text(source), options),
    check=lambda source, report: _check(read_text(source), report, lambda row: row + 2, "line"),
)
