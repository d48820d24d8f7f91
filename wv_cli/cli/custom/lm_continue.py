"""`wv lm next` and `sample`: how a model would go on, and what it would write."""

import sys

from wv_cli.cli.fields import make_command
from wv_cli.commands.parts.asked_lm import json_lines_option, sentences_option
from wv_cli.config import Options, argument, frozen, option


@frozen
class NextOptions(Options):
    """Print the most probable words after START ("the cat") with their probabilities; </s> is the end of the sentence.

    Without START the lines of standard input are the queries. With several queries, or with standard input, the
    first column is the query.
    """

    model: str = argument("MODEL", role="read")
    starts: tuple[str, ...] = argument("[START]...", ())
    k: int = option(10, "Number of words.", low=1)
    ends: bool = sentences_option()
    as_json: bool = json_lines_option()


def _next_words(model: str, starts: tuple[str, ...], k: int, ends: bool, as_json: bool, quiet: bool) -> None:
    from wv_cli.cli.queries import piped_lines
    from wv_cli.io.places import require_one_use
    from wv_cli.lm.files import load
    from wv_cli.lm.generating import Generator

    require_one_use(model, not starts)
    generator = Generator(load(model), ends=ends)
    for batch in [list(starts)] if starts else piped_lines():
        for start in batch:
            found = generator.next_words(start, k)
            column = f"{start}\t" if len(starts) != 1 else ""
            if as_json:
                from wv_cli.io.json_text import to_json

                rows = [{"word": word, "probability": round(p, 9)} for word, p in found]
                lines = [to_json({"start": start, "next": rows})]
            else:
                lines = [f"{column}{word}\t{p:.6g}" for word, p in found]
            sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()


@frozen
class SampleOptions(Options):
    """Print sentences drawn word by word from MODEL. The unknown word <unk> is never drawn."""

    model: str = argument("MODEL", role="read")
    count: int = option(1, "Number of sentences.", low=1, flag="n", short="n")
    start: str = option("", "Words that begin each sentence.", metavar="WORDS")
    max_words: int = option(100, "Limit on the words of a sentence.", low=1)
    seed: int = option(1, "Random seed of the draws.", low=0)


def _sample(model: str, count: int, start: str, max_words: int, seed: int, as_json: bool, quiet: bool) -> None:
    from wv_cli.lm.files import load
    from wv_cli.lm.generating import Generator

    for sentence in Generator(load(model)).sample(count, seed, start=start, max_words=max_words):
        sys.stdout.buffer.write(f"{sentence}\n".encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


next_words = make_command("next", NextOptions, run=_next_words)
next_words.short_help = "Print the most probable next words."
sample = make_command("sample", SampleOptions, run=_sample)
sample.short_help = "Print sentences drawn from a model."
