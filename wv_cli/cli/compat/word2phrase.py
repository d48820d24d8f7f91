"""`word2phrase` of word2vec: joins the pairs of words that occur together more often than chance would have it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.cli.compat import CompatCommand, Exit, say
from wv_cli.cli.compat.flags import Flags
from wv_cli.errors import UsageError
from wv_cli.io.events import unheard

if TYPE_CHECKING:
    from wv_cli.text.phrases import JoinedText

_MILLION = 1_000_000
_HELP = """WORD2PHRASE tool v0.1a

Options:
Parameters for training:
\t-train <file>
\t\tUse text data from <file> to train the model
\t-output <file>
\t\tUse <file> to save the resulting word vectors / word clusters / phrases
\t-min-count <int>
\t\tThis will discard words that appear less than <int> times; default is 5
\t-threshold <float>
\t\t The <float> value represents threshold for forming the phrases (higher means less phrases); default 100
\t-debug <int>
\t\tSet the debug mode (default = 2 = more info during training)

Examples:
./word2phrase -train text.txt -output phrases.txt -threshold 100 -debug 2

"""


def main(words: Sequence[str]) -> int:
    if not words:
        say(_HELP)
        return 0
    flags = Flags(words, "Argument missing for {}")
    train, debug, output = flags.text("-train"), flags.whole("-debug", 2), flags.text("-output")
    min_count, threshold = flags.whole("-min-count", 5), flags.number("-threshold", 100)
    say(f"Starting training using file {train}\n")
    if not Path(train).exists():
        say("ERROR: training data file not found!\n")
        raise Exit(1)
    if not output:
        raise UsageError("-output FILE is missing: nothing would be written")
    from wv_cli.io.output import check_writable, open_output
    from wv_cli.text.config import PhrasesConfig
    from wv_cli.text.input_files import refuse_overwriting
    from wv_cli.text.phrases import JoinedText
    from wv_cli.text.reading_config import ReadingConfig
    from wv_cli.vectors.recognize import input_texts

    # A count below 1 drops nothing, as 1 does.
    config = PhrasesConfig(thresholds=(threshold,), min_count=max(min_count, 1), across_lines=True)
    refuse_overwriting([train], output)
    check_writable(output)
    asked = input_texts([train], log=unheard, reading=ReadingConfig(force_text=True), written=[output])
    with JoinedText(asked, config, spool_beside=output, count_pairs=debug > 0) as text:
        millions = range(1, text.tokens_read // _MILLION + 1)
        if debug > 1:
            say("".join(f"Words processed: {million}M     Vocab size: 0K  \r" for million in millions))
        if debug > 0:
            say(f"\nVocab size (unigrams + bigrams): {_printed_size(text)}\nWords in train file: {text.tokens_read}\n")
        with open_output(output) as stream:
            for piece in _space_lines(text.chunks()):
                stream.write(piece)
    if debug > 1:
        say("".join(f"Words written: {million}M\r" for million in millions))
    return 0


def _printed_size(text: "JoinedText") -> int:
    """What word2phrase prints as the size of its vocabulary: not what it keeps. The loop that drops rare entries ends
    where they meet its own shrinking bound."""
    assert text.pairs is not None
    pairs, often = text.pairs
    words, kept_words = text.words_seen
    # Line ends are an entry, and so is the first word with what memory held before it.
    every, kept = words + pairs + 2, kept_words + often
    return every - 1 - max(0, -(-(every - kept - 2) // 2))


def _space_lines(chunks: Iterator[bytes | bytearray]) -> Iterator[bytes]:
    """A blank before the first word of each line, too."""
    start = True
    for chunk in chunks:
        first = b" " if start and not chunk.startswith(b"\n") else b""
        # Every line end but the last byte is followed by what is here; an empty line gets no blank.
        spaced = bytes(chunk).replace(b"\n", b"\n ").replace(b"\n \n", b"\n\n").replace(b"\n \n", b"\n\n")
        start = chunk.endswith(b"\n")
        yield first + (spaced.removesuffix(b" ") if start else spaced)


command = CompatCommand(
    "word2phrase", main, "word2phrase -train FILE -output FILE [-min-count N] [-threshold X] [-debug N]: joins phrases."
)
