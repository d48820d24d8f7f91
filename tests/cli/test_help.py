"""How commands explain themselves and what they say of a command line they do not understand."""

import os
import re
import shlex
from collections.abc import Iterator

import click
import pytest

from tests.conftest import Run, run_wv
from tests.walk import for_each
from wv_cli.cli import COMMANDS, COMPAT, group_commands, habits
from wv_cli.cli.document import Listed
from wv_cli.cli.examples import EXAMPLES
from wv_cli.cli.help import HEADINGS, heading
from wv_cli.cli.manual import pages
from wv_cli.cli.mistakes import flags, suggest_option
from wv_cli.cli.options import FieldOption
from wv_cli.cli.program import wv as group
from wv_cli.cli.synonyms import SYNONYMS, plain
from wv_cli.commands.models import MODELS
from wv_cli.evaluation import TASKS
from wv_cli.guides import GUIDES
from wv_cli.models.config import START_LR, Word2vecConfig

# Every option of the originals and the commoner ones of gensim, by the command that does their work here.
FOREIGN = {
    "train": "-train -output -size -window -sample -hs -negative -threads -iter -min-count -alpha -classes -debug "
    "-binary -save-vocab -read-vocab -cbow "  # word2vec
    "-input -lr -lrUpdateRate -dim -ws -epoch -minCount -minCountLabel -neg -wordNgrams -loss -bucket -minn -maxn "
    "-thread -t -label -verbose -pretrainedVectors -saveOutput -seed -autotune-validation -autotune-metric "
    "-autotune-predictions -autotune-duration -autotune-modelsize "  # fastText
    "--vector_size --min_count --workers --sg --hs --epochs --max_vocab_size --max_final_vocab --ns_exponent "
    "--cbow_mean --min_alpha --corpus_file --sentences --min_n --max_n --shrink_windows --word_ngrams",  # gensim
    "phrases": "-train -output -min-count -threshold -debug --connector_words --scoring --delimiter",
    "quantize": "-input -output -cutoff -retrain -qnorm -qout -dsub -epoch -lr -thread -verbose",
    "glove": "-verbose -symmetric -window-size -vocab-file -memory -max-product -overflow-length -overflow-file "
    "-distance-weighting -array-size -temp-file -seed -write-header -vector-size -threads -iter -eta -alpha -x-max "
    "-grad-clip -binary -model -input-file -save-file -gradsq-file -save-gradsq -checkpoint-every -load-init-param "
    "-save-init-param -init-param-file -load-init-gradsq -init-gradsq-file",
    "build-vocab": "-verbose -max-vocab -min-count",
    "nn": "--topn --restrict_vocab -binary",
}
EVERY = pytest.mark.parametrize("name", list(COMMANDS))


def every_command(command: click.Command = group, path: str = "") -> Iterator[str]:
    """The words after `wv` of every command of ours, those of groups too."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and name not in COMPAT:
                yield from every_command(found, f"{path} {name}".strip())


COMMAND_PATHS = list(every_command())


def command_of(path: str) -> click.Command:
    command: click.Command = group
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None
        command = found
    return command


def without_blanks(text: str) -> str:
    """Help is broken into lines at blanks and hyphens."""
    return "".join(text.split())


@EVERY
def test_three_examples_or_more(name: str, wv: Run) -> None:
    shown = wv(name, "--help").stdout
    assert len(EXAMPLES[name]) >= 3
    for comment, line in EXAMPLES[name]:
        assert f"\n  # {comment}\n  {line}\n" in shown


def test_every_example_belongs_to_a_command() -> None:
    assert {path.split()[0] for path in EXAMPLES} == set(COMMANDS)


@for_each("path, line", [(path, line) for path, lines in EXAMPLES.items() for _, line in lines])
def test_every_example_is_understood(path: str, line: str) -> None:
    """Names of commands and options exist, values have the right type; nothing is run."""
    calls = [part.strip() for part in line.replace("&&", "|").split("|") if part.strip().startswith("wv ")]
    for call in calls:
        words = shlex.split(call.partition(">")[0].partition("<")[0])[1:]
        name, command, parent = "wv", group, click.Context(group, info_name="wv", **group.context_settings)
        while isinstance(command, click.Group):
            name, command, words = command.resolve_command(click.Context(command), words)
        command.make_context(name, words, parent=parent)
    if path != "links":
        assert any(call.startswith(f"wv {path} ") or call == f"wv {path}" for call in calls)


def own_words(option: click.Option) -> list[str]:
    """Those of its help, without the default that the command words."""
    return (option.help or "").partition("  [")[0].split()


@for_each("path", COMMAND_PATHS)
def test_help_of_an_option_is_short(path: str) -> None:
    for option in command_of(path).params:
        if isinstance(option, click.Option) and not option.hidden:
            assert 0 < len(own_words(option)) <= 15, f"{option.opts}: {option.help}"
            assert (option.help or "")[0] == (option.help or "")[0].upper() or ":" in (option.help or ""), option.opts


@for_each("path", COMMAND_PATHS)
def test_an_option_that_begins_with_no_has_no_other_half(path: str) -> None:
    names = [name for option in command_of(path).params for name in (*option.opts, *option.secondary_opts)]
    assert not [name for name in names if name.startswith("--no-no-")]


@for_each("path", COMMAND_PATHS)
def test_text_of_a_command_has_short_sentences(path: str) -> None:
    for paragraph in (command_of(path).help or "").split("\n\n"):
        if not paragraph.strip().startswith("\b"):
            for sentence in re.split(r"(?<=[.?])\s", " ".join(paragraph.split())):
                assert len(sentence.split()) <= 30, sentence


def test_options_of_train_stand_under_headings(wv: Run) -> None:
    shown = wv("train", "--help-all").stdout
    order = [
        "Output",
        "Input",
        "Model",
        "Vocabulary",
        "Training",
        "Run",
        "Language model",
        "Sentences and documents",
        "Classifier",
        "Autotune",
        "Examples",
    ]
    places = [shown.index(f"\n{title}:\n") for title in order]
    assert places == sorted(places) and "\nOptions:" not in shown


def test_commands_stand_in_groups_by_job(wv: Run) -> None:
    shown = wv("--help").stdout
    groups = ["Train", "Ask", "Curate", "Evaluate", "Transform", "Language models", "Files and help"]
    assert [*group_commands()] == [*groups, "The originals' command lines"]
    places = [shown.index(f"\n{group}:\n") for group in group_commands()]
    assert places == sorted(places)
    listed = [name for rows in group_commands().values() for name, _ in rows]
    assert listed == [*COMMANDS, *COMPAT], "the rows of a group stand together in the table"


def test_every_heading_has_its_place() -> None:
    for name in COMMANDS:
        for each in command_of(name).params:
            assert not isinstance(each, click.Option) or heading(each) in HEADINGS


def test_help_has_the_fields_own_defaults_and_ranges(wv: Run) -> None:
    shown = without_blanks(wv("train", "--help-all").stdout)
    lr = "--lr X Initial learning rate. [default: 0.025 (cbow 0.05, fasttext 0.05, supervised 0.1, "
    lr += "supervised quality 1.0, nplm 0.01, "
    assert without_blanks(lr) in shown
    assert {model: Word2vecConfig(model=model).start_lr for model in START_LR} == START_LR  # type: ignore[arg-type]
    options = [each for each in command_of("train").params if isinstance(each, FieldOption)]
    assert len(options) > 20
    for each in options:
        for text in (each.field.help, f"default: {each.field.default_text}", each.field.bounds):
            assert without_blanks(text) in shown


def shown_options(help: str) -> set[str]:
    return {
        flag for line in re.findall(r"^  (-.*?)(?:  |$)", help, re.MULTILINE) for flag in re.findall(r"--[\w-]+", line)
    }


def test_short_help_of_train_has_the_common_options_of_word_vectors(wv: Run) -> None:
    short, long = wv("train", "-h").stdout, wv("train", "--help").stdout
    assert short == long
    assert 25 <= len(shown_options(short)) <= 40 and len(short.splitlines()) <= 150
    assert {"--dim", "--epochs", "--model", "--help-all"} < shown_options(short)
    assert not {"--hidden", "--label-prefix", "--algorithm", "--meta"} & shown_options(short)
    assert short.splitlines()[-1] == (
        "wv train --model NAME -h shows the options of a model, wv train --help-all those of all models."
    )


@for_each("model", MODELS)
def test_help_of_a_model_has_its_options(model: str) -> None:
    """What is left out is refused for this model whatever else is given; defaults are the model's own."""
    found = run_wv("train", "--model", model, "-h")
    assert found.returncode == 0 and found.stdout == run_wv("train", "-h", "--model", model).stdout
    row, shown = MODELS[model], shown_options(found.stdout)
    assert {"--dim", "--lr", "--output", "--threads"} <= shown
    own = {name for name, each in row.config.options().items() if each.help}
    for option in command_of("train").params:
        if isinstance(option, FieldOption) and option.opts[-1] not in shown:
            assert option.name not in own or option.field.only, f"{option.opts[-1]} always has an effect"
    assert ("--preset" in shown) is (row.presets is not None)
    assert ("--hidden" in shown) is (model == "nplm") and ("--algorithm" in shown) is (model == "doc2vec")
    assert ("--cbow-mean" in shown) is (model == "cbow") and ("--share-negatives" in shown) is (model == "skipgram")
    epochs = without_blanks(found.stdout).partition("--epochsN")[2].partition("[default:")[2]
    assert epochs.startswith(str(row.config.options()["epochs"].default))
    assert "supervised " not in found.stdout.partition("--epochs N")[2].partition("]")[0]


def test_manual_and_completion_keep_all_options_of_train() -> None:
    page = next(page for page in pages() if page.name == "wv-train")
    typed = " ".join(term for block in page.blocks if isinstance(block, Listed) for term, _ in block.rows)
    assert {flag for flag in flags(command_of("train")) if flag.startswith("--")} <= {*re.findall(r"--[\w-]+", typed)}


def test_help_of_an_unknown_model(wv: Run) -> None:
    done = wv("train", "--model", "cbwo", "-h")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("wv train: unknown model 'cbwo'; did you mean 'cbow'?")


@EVERY
def test_help_by_name_is_the_same(name: str, wv: Run) -> None:
    assert wv("help", name).stdout == wv(name, "--help").stdout


def test_help_of_a_part_and_of_all(wv: Run) -> None:
    assert wv("help", "eval", "sts").stdout == wv("eval", "sts", "-h").stdout
    assert wv("-V").stdout == wv("--version").stdout


@pytest.mark.parametrize("name", COMPAT)
def test_help_of_an_original_is_its_own(name: str, wv: Run) -> None:
    shown, own = wv("help", name), wv(name, *(["-h"] if name == "glove-tools" else []))
    assert shown.returncode == 0
    assert own.stdout or own.stderr.startswith("usage: fasttext <command>")
    assert shown.stdout.removeprefix(own.stdout).startswith(f"{name} as `wv {name}`; `wv links DIR` ")
    assert shown.stdout.count("\n") == own.stdout.count("\n") + 1 and shown.stderr == own.stderr


@for_each("command, name", [(command, name) for command in FOREIGN for name in FOREIGN[command].split()])
def test_every_option_of_the_originals_has_an_answer(command: str, name: str) -> None:
    """Ours, or a way to do without; an option that is called the same needs none."""
    found = command_of(command)
    if name in flags(found):
        return
    way = suggest_option(name, found)
    assert way
    if way.startswith("did you mean"):
        assert way.split()[3].rstrip("?") in flags(found)
    assert plain(name) in SYNONYMS or plain(way.split()[3]).rstrip("?") == plain(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "x", "-o", "y", "--size", "9"], "wv train: no such option --size; did you mean --dim?"),
        (["train", "x", "-o", "y", "-dim", "9"], "wv train: no such option -dim; did you mean --dim?"),
        (["train", "x", "-output", "y"], "wv train: no such option -output; did you mean --output?"),
        (["train", "x", "--iter=9"], "wv train: no such option --iter; did you mean --epochs?"),
        (["glove", "x", "-iter", "9"], "wv glove: no such option -iter; did you mean --iterations?"),
        (["train", "x", "-t", "1e-4"], "wv train: no such option -t; did you mean --sample?"),
        (["train", "-train", "x"], "wv train: no such option -train; name the text without an option"),
        (["train", "x", "-minCount", "3"], "wv train: no such option -minCount; did you mean --min-count?"),
        (["train", "x", "--epcohs", "3"], "wv train: no such option --epcohs; did you mean --epochs?"),
        (["nn", "x", "--zzz"], "wv nn: no such option --zzz; `wv nn --help` shows the options"),
        (["--zzz"], "wv: no such option --zzz; `wv --help` shows the options"),
        (["train", "x"], "wv train: missing option '-o' / '--output'; usage: wv train [OPTIONS] INPUT..."),
        (["train", "x", "-o"], "wv train: option '-o' requires an argument; usage: wv train [OPTIONS] INPUT..."),
        (["check", "a", "b"], "wv check: got unexpected extra argument (b); usage: wv check [OPTIONS] FILE"),
        (["train", "x", "-o", "y", "--dim", "a"], "wv train: --dim must be a whole number, not 'a'"),
        (["train", "x", "-o", "y", "--lr", "a"], "wv train: --lr must be a number, not 'a'"),
        (["nn", "x", "--k", "0"], "wv nn: --k must be at least 1, not 0"),
        (["plot", "x", "-o", "y", "--method", "pac"],
         "wv plot: --method: 'pac' is not one of 'pca', 'tsne'; did you mean 'pca'?"),
        (["eval", "simlarity"],
         "wv eval: unknown subcommand 'simlarity'; did you mean 'similarity'?"),
        (["eval", "xyz"], f"wv eval: unknown subcommand 'xyz' (choices: {', '.join(TASKS)})"),
        (["help", "nope", "x"], "wv help: no command or guide is called 'nope'; `wv help` lists them"),
        (["help", "search", "nope"], "wv help: no part of `wv search` is called 'nope'; `wv search -h` lists them"),
        (["help", "chages"], "wv help: no command or guide is called 'chages'; "
         "did you mean 'changes' or 'phrases' or 'chinese'?"),
        (["help", "dedup"], "wv help: no command or guide is called 'dedup'; see `wv help duplicates`; "
         "it is `wv filter INPUT -o FOLDER --near-duplicates 0.72`"),
        (["help", "gopher"], "wv help: no command or guide is called 'gopher'; see `wv help heuristics`; "
         "it is `wv filter INPUT -o FOLDER --heuristic gopher-quality`"),
        (["help", "decontaminate"], "wv help: no command or guide is called 'decontaminate'; "
         "see `wv help duplicates`; it is `wv filter INPUT -o FOLDER --contamination FILE:FIELD=..0.5`"),
        (["dedup", "x"],
         "wv: unknown command 'dedup'; it is `wv filter INPUT -o FOLDER --near-duplicates 0.72`"),
        (["filter", "x", "--dedup"], "wv filter: no such option --dedup; did you mean --near-duplicates 0.72?"),
        (["filter", "x", "--minhash"], "wv filter: no such option --minhash; did you mean --near-duplicates 0.72?"),
        (["filter", "x", "--near-duplicates", "0.72", "--near-duplicates=0.9"],
         "wv filter: --near-duplicates is given 2 times, and one counts; give it once"),
        (["filter", "x", "--heuristic", "words=20..", "--heuristic", "gopher-quality", "--dry-run"],
         "wv filter: --heuristic words=20..: the lower bound has no effect: all rules hold, and another one about "
         "words has 50; leave it out, or give the bounds of a recipe one by one"),
        (["help", "changes", "x"], "wv help: 'changes' is a guide; expected nothing after it, found 'x'"),
        (["help", "train", "x"], "wv help: `wv train` has no parts; expected nothing after it, found 'x'"),
    ],
)  # fmt: skip
def test_misuse_is_told_in_one_line(arguments: list[str], message: str, wv: Run) -> None:
    done = wv(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{message}\n")


def test_a_value_joined_to_a_short_option_stays_one(wv: Run, slice_vectors: os.PathLike[str]) -> None:
    many = wv("nn", slice_vectors, "the", "-k3", "-q")
    assert many.returncode == 0 and many.stdout.count("\n") == 3
    assert many.stdout == wv("nn", slice_vectors, "the", "--k", 3, "-q").stdout
    assert "did you mean" not in wv("nn", slice_vectors, "--", "-dim").stderr


def test_words_that_lead_to_a_guide():
    assert {*habits.GUIDES.values()} <= {*GUIDES} and not {*habits.GUIDES} & {*map(plain, GUIDES)}
