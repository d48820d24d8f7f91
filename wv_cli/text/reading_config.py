"""What a command reads of its input: records, raw text and how it is tokenized, running text."""

from dataclasses import replace
from typing import Any, ClassVar, Literal

from wv_cli.config import Options, frozen, lowercase_option, option, require
from wv_cli.errors import UsageError

BadRecordsName = Literal["skip", "error"]


@frozen
class RecordsConfig(Options):
    """What a command takes for records, and how it reads them."""

    group: ClassVar[str] = "Input"

    field: str | None = option(
        None, "Field of records (JSON lines, CSV, TSV, Parquet) with the text; a.b is nested.", shown="text"
    )
    no_header: bool = option(False, "CSV and TSV have no header; --field is then a column's number.", only="field")
    tsv_quotes: bool = option(False, "Fields of TSV may stand in quotes, as in CSV, instead of quotes being letters.")
    bad_records: BadRecordsName = option(
        "skip", "Records that cannot be read: count and skip them, or stop.", identity=False
    )


@frozen
class TokenizeConfig(Options):
    """How raw text becomes running text."""

    words: Literal["unicode", "blanks", "jieba", "fugashi", "pythainlp"] = option(
        "unicode", "Words by Unicode's rules, by blanks, or by a package for Chinese, Japanese or Thai."
    )
    form: Literal["nfc", "nfkc", "none"] = option("nfc", "Unicode normalization form of the text.")
    lowercase: bool = lowercase_option()
    digits: Literal["keep", "zero", "drop"] = option(
        "keep", "Keep digits, write each as 0, or drop words of digits without letters."
    )
    punctuation: Literal["keep", "drop"] = option(
        "keep", "Keep marks and symbols as words, or drop them; emoji always stay."
    )
    sentences: bool = option(False, "Write each sentence as a line.")
    markup: Literal["none", "html", "mediawiki"] = option(
        "none", "Markup that is removed first; each record or file is a document."
    )


def label_field_option() -> tuple[str, ...]:
    help = "Field of records with their labels; may be repeated where a model answers several questions."
    return option((), help, metavar="NAME", group="Input")


def require_label_fields(names: tuple[str, ...], reading: RecordsConfig) -> None:
    """Raises UsageError for a name of --label-field that comes twice, or that is the field of the texts."""
    require(len(set(names)) == len(names), "--label-field names a field twice; leave one out")
    text = reading.field or "text"
    require(text not in names, f"--label-field {text} is the field of the texts; name the one of their labels")


OF_MODEL = "model"  # the recipe of the model that is asked
USUAL_RECIPE = "unicode,lowercase"


def recipe_of(config: TokenizeConfig) -> str:
    """The settings as one value, such as unicode,lowercase,digits=zero: what --tokenize takes."""
    changed = {name: value for name, value in vars(config).items() if value != getattr(TokenizeConfig, name)}
    changed.pop("words", None)
    return ",".join([config.words, *(name if value is True else f"{name}={value}" for name, value in changed.items())])


def read_recipe(recipe: str) -> TokenizeConfig:
    """The settings that a recipe names. A word without = is a flag or what cuts words. Raises UsageError."""
    options = TokenizeConfig.options()
    values: dict[str, Any] = {}
    for each in recipe.split(","):
        name, equals, value = each.strip().partition("=")
        is_flag = not equals and name in options and options[name].kind is bool
        if not equals and not is_flag and (name in options["words"].choices or "words" not in values):
            name, value = "words", name
        message = f"--tokenize {recipe}: expected settings of wv tokenize, such as unicode,lowercase,digits=zero, found"
        require(name in options, f"{message} {each.strip()!r}")
        require(name not in values, f"{message} {name} twice")
        values[name] = is_flag or value
    config = TokenizeConfig(**values)
    try:
        config.validate()
    except UsageError as error:
        raise UsageError(f"--tokenize {recipe}: {str(error).removeprefix('--')}") from error
    return config


def lowercase_recipe(recipe: str | None) -> str:
    """The recipe with lower case; without one, text is cut where it has blanks."""
    config = TokenizeConfig(words="blanks", form="none") if recipe is None else read_recipe(recipe)
    return recipe_of(replace(config, lowercase=True))


def is_recipe(value: str) -> bool:
    """Whether --tokenize takes the value."""
    try:
        return value == OF_MODEL or bool(read_recipe(value))
    except UsageError:
        return False


def tokenize_option(bare: str) -> str | None:
    help = f"Cut raw text into words as wv tokenize does; alone it means {bare}."
    return option(None, help, metavar="[SETTINGS]", bare=bare, common=True)


@frozen
class RawConfig(RecordsConfig):
    """What a command takes for text."""

    force_text: bool = option(
        False,
        "Read INPUT as text even if it looks like records, vectors or binary data.",
        identity=False,
        only="not field and bad_records=skip",
    )


@frozen
class LinesConfig(RecordsConfig):
    """What a command takes for lines of text that a model is asked about, and how it cuts them into words."""

    tokenize: str | None = tokenize_option(OF_MODEL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokenize not in (None, OF_MODEL):
            object.__setattr__(self, "tokenize", recipe_of(read_recipe(str(self.tokenize))))

    @property
    def tokenize_config(self) -> TokenizeConfig | None:
        """The settings of `tokenize`, None where words are cut already."""
        if self.tokenize == OF_MODEL:
            message = "--tokenize model is for questions to one model; name the settings, such as unicode,lowercase"
            raise UsageError(message)
        return read_recipe(self.tokenize) if self.tokenize is not None else None


@frozen
class ReadingConfig(RawConfig, LinesConfig):
    """What a command takes for running text."""

    tokenize: str | None = tokenize_option(USUAL_RECIPE)


@frozen
class AskedConfig(ReadingConfig):
    """What a command takes for running text that a model is asked about."""

    tokenize: str | None = tokenize_option(OF_MODEL)
