"""`wv_cli.Filter`: the rules of `wv filter` for batches of texts inside another program."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wv_cli.cli.arguments import argument_names, plain_value, read_arguments
from wv_cli.commands.job import build
from wv_cli.commands.parts.filter_rules import Duplicates, Rules
from wv_cli.commands.telling import tee_log
from wv_cli.config import conditions_of, options_of, parts_of, values_of
from wv_cli.config.conditions import reject_ineffective
from wv_cli.config.wording import arguments_in_errors, flag_of, name_arguments
from wv_cli.errors import UsageError
from wv_cli.io.arguments import require_type
from wv_cli.io.extra import require

if TYPE_CHECKING:
    from typing import Unpack

    from wv_cli.cli.functions import FilterOptions
    from wv_cli.filtering.judge import Judge
    from wv_cli.filtering.rule_set import RuleSet
    from wv_cli.filtering.verdicts import Verdict

_NO_VERDICT = (*Duplicates.options(), "decontaminate")
FILTER_OPTIONS = {name: option for name, option in options_of(Rules).items() if name not in _NO_VERDICT}
_NAMES = argument_names(options_of(Rules))
Path = str | os.PathLike[str]


class Filter:
    """Judges batches of texts by the rules of `wv filter`, each text alone.

        rules = wv_cli.Filter("rules.toml")                 # or a dict, or the options of wv_cli.filter
        keep, reason, scores = rules(["a text", "another"])
        kept = rules.table(table, field="text")             # of pyarrow

    A filter can be pickled: it has the options, and the paths and digests of the models. Models are opened when it is
    made, and in another process when the first text is judged. Threads may share it. Raises TypeError, UsageError and
    WvError.
    """

    def __init__(self, rules: "Path | Mapping[str, Any] | None" = None, **options: "Unpack[FilterOptions]") -> None:
        given = _merge(rules, options)
        with arguments_in_errors(_NAMES):
            _refuse_others(given)
            self._rules = _rule_set(read_arguments(given, FILTER_OPTIONS, "Filter"))
            self._opened: Judge | None = self._rules.open_judge()
        self._identities: dict[str, tuple[str, str | None]] | None = None

    def __call__(self, texts: Any) -> "Verdict":
        """The verdict on the texts of a list of str or bytes, a NumPy array, a Series, or an Arrow array."""
        from wv_cli.filtering.verdicts import judge_texts

        if (judge := self._judge()).fields:
            message = f"the rules ask for fields of records ({', '.join(judge.fields)}); call table() of the filter"
            raise TypeError(message)
        return judge_texts(judge, texts)

    def table(self, table: Any, field: str = "text") -> Any:
        """The rows of a pyarrow Table or RecordBatch, or of another Arrow table, that stay."""
        from wv_cli.filtering.verdicts import judge_texts
        from wv_cli.text.records.arrow import column_at, find_column, take_rows
        from wv_cli.text.records.field_values import read_columns

        require_type(field, str, "field", "a name as str")
        whole = _arrow_table(table)
        found = find_column(whole.schema, field, "table")
        if found is None:
            message = f"table: expected the column {field}, found {', '.join(whole.column_names) or 'none'}; give field"
            raise UsageError(message)
        fields = read_columns(whole, self._judge().fields, "table")
        verdict = judge_texts(self._judge(), column_at(whole, found[0]), f"table: the column {field}", fields)
        kept = take_rows(whole, verdict.keep)
        is_batch = isinstance(table, require("pyarrow", "Filter.table").RecordBatch)
        return next(iter(kept.to_batches()), table.slice(0, 0)) if is_batch else kept

    def batches(self, tables: Iterable[Any], field: str = "text") -> Iterator[Any]:
        """`table` of one batch after the other."""
        for table in tables:
            yield self.table(table, field)

    def _judge(self) -> "Judge":
        if self._opened is None:
            if self._identities is not None:
                self._rules.require_models(self._identities)
            self._opened = self._rules.open_judge()
        return self._opened

    def __getstate__(self) -> dict[str, Any]:
        if self._identities is None:
            self._identities = self._rules.model_identities()
        return {"_rules": self._rules, "_identities": self._identities, "_opened": None}


_MEANINGS = (f"    {name}: {name_arguments(option.full_help, _NAMES)}" for name, option in FILTER_OPTIONS.items())
Filter.__doc__ = "\n".join([str(Filter.__doc__).rstrip(), "", *_MEANINGS])


def _arrow_table(table: Any) -> Any:
    """As a pyarrow Table. Raises TypeError for what is none of Arrow's."""
    pyarrow = require("pyarrow", "Filter.table")
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        with contextlib.suppress(pyarrow.ArrowInvalid):  # of an array
            return table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
    message = f"table: expected a table of Arrow, found {type(table).__name__}; call the filter itself for texts"
    raise TypeError(message)


def _merge(rules: "Path | Mapping[str, Any] | None", options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a call, with those of a dict, whose keys may be those of a TOML file."""
    if isinstance(rules, Mapping):
        named = {str(name).replace("-", "_"): value for name, value in rules.items()}
        for name in options:
            if name in named:
                raise TypeError(f"{name}: given twice, in the dict and by itself; leave one out")
        return {**named, **options}
    require_type(plain_value(rules), (str, type(None)), "rules", "a path, a dict or options")
    return {**options, "rules": rules}


def _refuse_others(given: Mapping[str, Any]) -> None:
    for name in _NO_VERDICT:
        if given.get(name) is None:
            continue
        problem, step = "compares a text with earlier ones, and a Filter judges each alone", "on what is kept"
        if name == "decontaminate":
            problem, step = "removes lines of a text, and a Filter keeps texts as they are", "instead"
        raise UsageError(f"{flag_of(name)} {problem}; leave it out, and run `wv filter` with it {step}")


def _rule_set(options: Mapping[str, Any]) -> "RuleSet":
    found = Rules.with_files(options, options)
    _refuse_others(found)
    explicit = found.pop("explicit")
    rules = build(Rules, found)
    for part in (*parts_of(rules), rules):
        part.validate()
    reject_ineffective(conditions_of(Rules), explicit, {**values_of(rules), **rules.by_option})
    rules.require_some()
    rules.require_words(tee_log(None))
    return rules.rule_set
