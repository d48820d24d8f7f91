"""Bilingual dictionaries: files of `word translation` lines (MUSE's, fastText's); a word with several translations
stands on several lines."""

from dataclasses import dataclass

from wv_cli.errors import BadFile
from wv_cli.evaluation.data import Malformed, data_lines
from wv_cli.words import split_words


@dataclass(frozen=True)
class Dictionary:
    """`pairs` of a word and a translation, each once, in the order of the file."""

    path: str
    pairs: list[tuple[str, str]]
    malformed: Malformed

    def entries(self) -> dict[str, list[str]]:
        """Word -> its translations."""
        found: dict[str, list[str]] = {}
        for word, translation in self.pairs:
            found.setdefault(word, []).append(translation)
        return found


def read_dictionary(path: str, *, strict: bool = False) -> Dictionary:
    """Raises BadFile when no line is a pair, or under `strict` for a line that is none."""
    malformed = Malformed(path, strict, "two words `word translation`")
    pairs: dict[tuple[str, str], None] = {}
    first = ""
    for line_number, line in enumerate(data_lines(path), 1):
        # A tab, if there is one, for words with blanks.
        fields = line.strip("\r").split("\t") if line.count("\t") == 1 else split_words(line)
        fields = [field for field in fields if field]
        if not fields:
            continue
        first = first or line
        if len(fields) != 2:
            malformed.add(line_number, line)
        else:
            pairs[fields[0], fields[1]] = None
    if not pairs:
        found = f"found {first[:60]!r}" if first else "found an empty file"
        raise BadFile(path, f"expected lines of two words `word translation`, {found}", line=1 if first else None)
    return Dictionary(path, list(pairs), malformed)
