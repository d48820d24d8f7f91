"""Texts made ready for a language model of pieces: normalized, then cut."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from wv_cli.lm.config import PiecesConfig


class Preparation:
    """What is done to a text before a language model reads it: normalization, then cutting into pieces."""

    def __init__(self, config: PiecesConfig) -> None:
        """Raises what Pieces raises."""
        self._normalize: Callable[[str], str] | None = None
        self._cut: Callable[[Sequence[str]], list[list[str]]] | None = None
        if config.normalize != "none":
            from wv_cli.text.normalize import NORMALIZERS

            self._normalize = NORMALIZERS.find(config.normalize)
        if config.tokenizer is not None:
            from wv_cli.lm.pieces import Pieces

            self._cut = Pieces(config.tokenizer).cut

    def blocks(self, text: Iterable[bytes]) -> Iterator[bytes]:
        """A text in chunks, cut anywhere, as chunks of whole lines that hold the pieces divided by blanks. Nothing is
        done where there is nothing to do."""
        if self._normalize is None and self._cut is None:
            yield from text
            return
        carry: list[bytes] = []
        for chunk in text:
            whole, newline, rest = chunk.rpartition(b"\n")
            if newline:
                yield self._lines(b"".join([*carry, whole]))
                carry = []
            carry.append(rest)
        if any(carry):
            yield self._lines(b"".join(carry))

    def _lines(self, block: bytes) -> bytes:
        from wv_cli.lm.pieces import join_pieces
        from wv_cli.words import decode, encode

        lines = decode(block).split("\n")
        if self._normalize is not None:
            lines = list(map(self._normalize, lines))
        if self._cut is not None:
            return join_pieces(self._cut(lines))
        return encode("".join(f"{line}\n" for line in lines))
