"""`wv lm score`: what a model says of sentences."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from wv_cli.cli.fields import make_command
from wv_cli.cli.options import refuse_options, take
from wv_cli.commands.parts.asked_lm import json_lines_option, sentences_option
from wv_cli.config import Options, argument, frozen, option
from wv_cli.errors import UsageError
from wv_cli.filtering.flattening import flatten_option, unit_option
from wv_cli.lm.config import PiecesConfig
from wv_cli.text.reading_config import AskedConfig

if TYPE_CHECKING:
    from wv_cli.lm.scoring import Scored
    from wv_cli.words import WordList

_PIPE_BYTES = 1 << 16


@frozen
class ScoreOptions(Options):
    """Print log10 of the probability of every line of INPUT (text files, folders, or - for standard input).

    Each line of input gives one line of output, as in KenLM's query. Without INPUT the lines of standard input are
    answered at once. LENGTH is the length of the n-gram that was found; OOV counts the words that the model does not
    list.

    A model of pieces, such as CCNet's, needs its sentencepiece model (--tokenizer) and the normalization that it was
    trained with. The text is then normalized, cut into pieces and scored.

    With --add INPUT has records, which are written again with log10 of the probability, the perplexity and the number
    of OOV words of each text.
    """

    model: str = argument("MODEL", role="read")
    inputs: tuple[str, ...] = argument("[INPUT]...", (), role="read")
    each_word: bool = option(
        False, "Also print each word as word=ID LENGTH LOG10 (ID 0: unknown).", flag="words", off=None
    )
    unnormalized: bool = option(
        False, "Use scores of a noise-contrast model as log10 probabilities, without normalizing.", off=None
    )
    add: str | None = option(
        None, "Write records again, with NAME, NAME_perplexity and NAME_oov added.", metavar="NAME"
    )
    flatten: str = flatten_option()
    unit: str = unit_option()
    output: str = option("-", "File for the records of --add.", short="o", role="result")
    ends: bool = sentences_option()
    pieces: PiecesConfig = field(default_factory=PiecesConfig)
    reading: AskedConfig = field(default_factory=AskedConfig)
    as_json: bool = json_lines_option()


def _score(
    model: str,
    inputs: tuple[str, ...],
    each_word: bool,
    unnormalized: bool,
    add: str | None,
    flatten: str,
    unit: str,
    output: str,
    ends: bool,
    normalize: Literal["none", "ccnet", "datatrove"],
    tokenizer: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    refuse_options(
        **dict.fromkeys(AskedConfig.options(), "inputs"),
        **dict.fromkeys(("flatten", "unit", "output"), "add"),
        **dict.fromkeys(("each_word", "as_json"), "not add"),
    )
    from dataclasses import replace
    from functools import partial

    from wv_cli.cli.display import emit
    from wv_cli.io.places import refuse_reading, require_one_use
    from wv_cli.lm import asking
    from wv_cli.lm.files import load
    from wv_cli.lm.preparation import Preparation
    from wv_cli.lm.scoring import Scorer
    from wv_cli.text.binary import note_invalid
    from wv_cli.text.source import Source
    from wv_cli.text.tokenizing import recipe_for
    from wv_cli.vectors.recognize import input_texts

    reading, log = take(AskedConfig, options), partial(emit, quiet=quiet, as_json=False)
    reading = replace(reading, tokenize=recipe_for([model], reading.tokenize, log))
    piped = not inputs or "-" in inputs
    require_one_use(model, piped or tokenizer == "-")
    require_one_use(tokenizer or "", piped)
    read = partial(input_texts, inputs, log=log, reading=reading)

    def open_scorer() -> tuple[Preparation, Scorer]:
        prepared = Preparation(PiecesConfig(normalize=normalize, tokenizer=tokenizer))
        loaded = load(model)
        return prepared, Scorer(asking.take_unnormalized(loaded, model) if unnormalized else loaded, ends=ends)

    if add is not None:
        if not inputs:
            message = "--add needs INPUT, files of records or - for standard input"
            raise UsageError(message)
        from wv_cli.commands.adding import RecordScorer, score_names
        from wv_cli.text.input_files import refuse_overwriting
        from wv_cli.text.records.writing import add_answers

        refuse_overwriting(inputs, output)
        refuse_reading([output], [model, *filter(None, [tokenizer])])
        names = score_names(add)

        def answer() -> tuple[tuple[str, ...], RecordScorer]:
            prepared, scorer = open_scorer()
            return names, RecordScorer(names, scorer, prepared, flatten, unit, ends)

        add_answers(read(written=[output]), output, answer)
        return
    text: Iterable[bytes] = Source(read(one_line=True)) if inputs else note_invalid(_read_pipe(), log)
    prepared, scorer = open_scorer()
    for scored in scorer.read(prepared.blocks(text)):
        lines = _lines(scored, scorer.words() if each_word else None, ends, as_json)
        sys.stdout.buffer.write("".join(lines).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()


def _read_pipe() -> Iterable[bytes]:
    """Standard input as it comes."""
    from wv_cli.io.marks import without_mark
    from wv_cli.text.raw_files import blocks, open_raw

    return without_mark(blocks(open_raw("-"), "standard input", _PIPE_BYTES))


def _lines(scored: "Scored", spellings: "WordList | None", ends: bool, as_json: bool) -> Iterator[str]:
    """What is said of each sentence, and with `spellings` of its words."""
    if spellings is None and not as_json:
        yield from (f"Total: {log10:.8g} OOV: {oov}\n" for log10, oov in zip(*scored.totals(), strict=True))
        return
    for sentence, log10, oov in zip(scored.sentences(), *scored.totals(), strict=True):
        part = sentence if ends else slice(sentence.start, sentence.stop - 1)
        words = _words(scored, part, spellings) if spellings is not None else None
        if as_json:
            from wv_cli.io.json_text import to_json

            facts: dict[str, Any] = {"log10": log10, "events": part.stop - part.start, "oov": oov}
            yield f"{to_json(facts if words is None else facts | {'words': words})}\n"
        else:
            fields = [f"{word['word']}={word['id']} {word['length']} {word['log10']:.7g}\t" for word in words or ()]
            yield f"{''.join(fields)}Total: {log10:.8g} OOV: {oov}\n"


def _words(scored: "Scored", part: slice, spellings: "WordList") -> list[dict[str, Any]]:
    spelled = [spellings[word] if word >= 0 else "</s>" for word in scored.spelled[part].tolist()]
    ids = [word if word >= 0 else 2 for word in scored.ids[part].tolist()]
    rows = zip(spelled, ids, scored.lengths[part].tolist(), scored.scores[part].tolist(), strict=True)
    return [dict(zip(("word", "id", "length", "log10"), row, strict=True)) for row in rows]


score = make_command("score", ScoreOptions, run=_score)
score.short_help = "Print how probable lines are."
