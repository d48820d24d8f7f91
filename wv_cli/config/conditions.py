"""Conditions on options, of which `option` has one as `only`: whether they hold, and what is said when they do not."""

import re
from collections.abc import Collection, Container, Iterable, Mapping
from typing import Any

from wv_cli.config.wording import either, flag_of, show_number
from wv_cli.errors import UsageError

_ATOM = re.compile(r"(not )?(\w+)(?:(!=|[=>])(.+))?")


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether a condition is true of options: "maxn>0 or loss=ns|nce and not merge". A bare name asks whether there is
    a value, of many values `=` whether one is among the words, `!=` whether one is not. Raises KeyError for a name that
    `values` lacks."""
    return any(all(_holds(atom, values) for atom in _atoms(each)) for each in condition.split(" or "))


def can_hold(condition: str, choices: Mapping[str, Collection[object]]) -> bool:
    """Whether some values make a condition true: those in `choices` for the options named there, any for the others."""
    return any(all(_can_hold(atom, choices) for atom in _atoms(each)) for each in condition.split(" or "))


def reject_ineffective(conditions: Iterable[tuple[str, str]], given: Container[str], values: Mapping[str, Any]) -> None:
    """Raises UsageError for the first option that was `given` and whose condition does not hold."""
    for name, condition in conditions:
        if name in given and not holds(condition, values):
            raise UsageError(_explain_ineffective(name, condition, values))


def _atoms(conjunction: str) -> list[str]:
    return conjunction.split(" and ")


def _parts(atom: str) -> tuple[str, str, str, str]:
    """("not " or "", name, "=" or "!=" or ">" or "", the rest)."""
    match = _ATOM.fullmatch(atom)
    assert match is not None, atom
    negated, name, relation, rest = match.groups(default="")
    return negated, name, relation, rest


def _holds(atom: str, values: Mapping[str, Any]) -> bool:
    negated, name, relation, rest = _parts(atom)
    value = values[name]
    if relation == ">":
        return bool(value > float(rest))
    if relation == "=":
        return any(each in rest.split("|") for each in (value if isinstance(value, tuple) else (value,)))
    if relation == "!=":
        return any(each not in rest.split("|") for each in (value if isinstance(value, tuple) else (value,)))
    return bool(value) is not bool(negated)


def _can_hold(atom: str, choices: Mapping[str, Collection[object]]) -> bool:
    name = _parts(atom)[1]
    return name not in choices or any(_holds(atom, {name: value}) for value in choices[name])


def _explain_ineffective(name: str, condition: str, values: Mapping[str, Any]) -> str:
    """What stands in the way, the first of it in every alternative, and what would have to be chosen instead."""
    found, wanted = [], []
    for alternative in condition.split(" or "):
        atom = next(atom for atom in _atoms(alternative) if not _holds(atom, values))
        negated, other, relation, rest = _parts(atom)
        value, flag = values[other], flag_of(other)
        if relation:
            shown = " ".join(map(show_number, value if isinstance(value, tuple) else (value,)))
            found.append(f"with {flag} {shown}" if value not in (None, ()) else "")
            words = {">": " above", "!=": " other than"}.get(relation, "")
            wanted.append(f"{flag}{words} {either(rest.split('|'))}")
        else:
            found.append(f"with {flag}" if negated else "")
            wanted += [] if negated else [flag]
    chosen = " and ".join(dict.fromkeys(filter(None, found)))
    needs = f"needs {' or '.join(dict.fromkeys(wanted))}" if wanted else ""
    if not chosen:
        return f"{flag_of(name)} {needs}"
    return f"{flag_of(name)} has no effect {chosen}; {f'it {needs}' if needs else 'leave it out'}"
