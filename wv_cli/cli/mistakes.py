"""What is wrong with a command line, in one line: options that do not exist and what they are called here."""

import re
from collections.abc import Sequence

import click

from wv_cli.cli.options import FieldOption, range_of
from wv_cli.cli.synonyms import SYNONYMS, plain
from wv_cli.errors import UsageError

WORDS = "wv.words"  # in a context's meta: the whole command line

# Values by the names that other programs have for them: of what is meant the first that is a choice counts.
VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("sg", "word2vec", "sgns"), ("skipgram",)),
    **dict.fromkeys(("classifier", "classification", "sup", "text"), ("supervised",)),
    **dict.fromkeys(("paragraphvector", "pvdm", "pvdbow", "dbow", "dm"), ("doc2vec",)),
    **dict.fromkeys(("onevsall", "ovr", "onevsrest", "sigmoid", "bce", "binary"), ("ova",)),
    **dict.fromkeys(("negativesampling", "neg", "negative", "nsloss"), ("ns",)),
    **dict.fromkeys(("hierarchicalsoftmax", "hierarchical", "huffman"), ("hs",)),
    **dict.fromkeys(("crossentropy", "sm"), ("softmax",)),
    **dict.fromkeys(("flyhash", "flylsh"), ("fly",)),
    **dict.fromkeys(("simhash", "randomprojection", "hyperplanes"), ("lsh",)),
    **dict.fromkeys(("productquantization", "opq"), ("pq",)),
    **dict.fromkeys(("pcahash",), ("pcah",)),
    **dict.fromkeys(("kneserney", "kn", "modifiedkneserney", "mkn"), ("kneser-ney", "modified-kneser-ney")),
}
# Values of --model that are none here.
_OTHERWISE = {
    "glove": "`wv glove` trains that model",
    "fasttext": "--preset fasttext trains its subwords",
    "regression": "labels may be numbers, whose expected one `wv predict --number` gives",
}


def flags(command: click.Command) -> list[str]:
    options = [each for each in command.params if isinstance(each, click.Option)]
    return ["--help", *(flag for each in options for flag in (*each.opts, *each.secondary_opts))]


def suggest_option(name: str, command: click.Command) -> str:
    """What to do instead of giving the option `name`, "" when nobody knows."""
    import difflib

    known = flags(command)
    same = [flag for flag in known if plain(flag) == plain(name)]
    found = [way for way in SYNONYMS.get(plain(name), ()) if not way.startswith("-") or way.split()[0] in known]
    alike = {plain(flag): flag for flag in known}
    near = [alike[each] for each in difflib.get_close_matches(plain(name), alike, n=1)]
    way = next(iter([*same, *found, *near]), "")
    return f"did you mean {way}?" if way.startswith("-") else way


def require_two_dashes(command: click.Command, args: list[str]) -> None:
    """Raises NoSuchOption for a long name after one dash, which would be read as the options of its letters."""
    known = {plain(flag) for flag in flags(command) if flag.startswith("--")}
    for word in args[: args.index("--")] if "--" in args else args:
        name = plain(word)
        if re.match(r"-[A-Za-z]\w", word) and (name in known or name in SYNONYMS):
            raise click.NoSuchOption(word.partition("=")[0])


def require_glued_values(command: click.Command, args: Sequence[str], context: click.Context) -> None:
    """Raises UsageError for a word such as -king, read as -k with the value "ing": where -k cannot have that value, and
    where another -k would hide a text. Of two numbers the last one counts, so that an alias can be overridden. An
    option in the place of a value is refused, too."""
    options = [each for each in command.params if isinstance(each, click.Option) and not (each.is_flag or each.count)]
    takes_value = {flag: each for each in options for flag in each.opts}
    given, glued, known = [], {}, {*flags(command)}
    words = iter(args)
    for word in words:
        if word == "--":
            break
        if option := takes_value.get(word.partition("=")[0] if word.startswith("--") else word):
            given.append(option)
            if word in takes_value and (value := next(words, None)) in known:
                raise UsageError(f"{word}: expected a value, found the option {value}; give the value before {value}")
        elif option := takes_value.get(word[:2]):
            given.append(option)
            glued[word] = option
    many = any(isinstance(each, click.Argument) and each.nargs < 0 for each in command.params)
    for word, option in glued.items():
        hint = f"; {word} is {word[:2]} {word[2:]}" + ", and words that begin with - come after --" * many
        try:
            option.type.convert(word[2:], option, context)
        except click.BadParameter as error:
            raise UsageError(message(click.BadParameter(error.message, context, option)) + hint) from None
        is_number = isinstance(option.type, type(click.INT) | type(click.FLOAT))
        if given.count(option) > 1 and not (option.multiple or is_number):
            raise UsageError(f"{word[:2]} is given {given.count(option)} times, and one counts{hint}")


def require_rules_once(command: click.Command, args: Sequence[str]) -> None:
    """Raises UsageError for a rule that is given twice where one counts: of other rules all hold."""
    words = args[: args.index("--")] if "--" in args else args
    for each in command.params:
        if isinstance(each, FieldOption) and each.field.group == "Rules" and not each.multiple and not each.is_flag:
            flags = [flag for flag in each.opts if flag.startswith("--")]
            given = [word for word in words if word.partition("=")[0] in flags]
            if len(given) > 1:
                raise UsageError(f"{flags[0]} is given {len(given)} times, and one counts; give it once")


def message(error: click.UsageError) -> str:
    """One line: what is wrong and what to do."""
    if isinstance(error, click.NoSuchOption):
        return _unknown(error)
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return _bad_value(error)
    text = " ".join(error.format_message().split()).partition(". Choose from:")[0].removesuffix(".")
    if error.ctx and text.startswith("Got unexpected extra argument"):
        from wv_cli.cli.habits import EXTRA

        if way := EXTRA.get(error.ctx.command_path):
            return f"{text[:1].lower()}{text[1:]}; {way}"
    usage = " ".join(error.ctx.get_usage().split()).removeprefix("Usage: ") if error.ctx else "wv COMMAND ..."
    return f"{text[:1].lower()}{text[1:]}; usage: {usage}"


def _unknown(error: click.NoSuchOption) -> str:
    command, path = (error.ctx.command, error.ctx.command_path) if error.ctx else (None, "wv")
    way = suggest_option(error.option_name, command) if command else ""
    if error.ctx and not error.ctx.parent and (later := _command_of(error)):
        return f"no such option {error.option_name} before the command; put it behind `wv {later}`"
    return f"no such option {error.option_name}; {way or f'`{path} --help` shows the options'}"


def _command_of(error: click.NoSuchOption) -> str:
    """The command behind an option that stands before it, "" where that has no such option."""
    from wv_cli.cli import COMMANDS

    context = error.ctx
    if context is None or not isinstance(context.command, click.Group):
        return ""
    name = next((word for word in context.meta.get(WORDS, []) if word in COMMANDS), "")
    command = context.command.get_command(context, name) if name else None
    return name if command is not None and plain(error.option_name) in map(plain, flags(command)) else ""


def _bad_value(error: click.BadParameter) -> str:
    text, parameter = " ".join(error.message.split()).removesuffix("."), error.param
    if parameter is None:
        return text
    name = max(parameter.opts, key=len) if isinstance(parameter, click.Option) else parameter.human_readable_name
    value, is_not, what = text.partition(" is not ")
    if what.startswith("in the range "):
        return f"{name} must be {range_of(parameter)}, not {value}"
    if what.startswith(("a valid integer", "a valid float")):
        return f"{name} must be {'a whole number' if 'integer' in what else 'a number'}, not {value}"
    near = []
    if is_not and isinstance(parameter.type, click.Choice):
        import difflib

        given, choices = plain(value.strip("'")), [str(each) for each in parameter.type.choices]
        if name == "--model" and given in _OTHERWISE:
            return f"{name}: {text}; {_OTHERWISE[given]}"
        words = [each for each in choices if len(each) > 1]
        near = [each for each in choices if plain(each) == given]
        near += [each for each in VALUES.get(given, ()) if each in choices]
        near += difflib.get_close_matches(value.strip("'"), words, n=1)
    return f"{name}: {text}" + (f"; did you mean {near[0]!r}?" if near else "")
