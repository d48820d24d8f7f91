"""Rules in a file: TOML whose keys are the options of `wv filter`, each with a rule or a list of them.

words = "50..100000"
language = "lid.176.ftz:en>=0.65"
heuristic = ["gopher-quality", "gopher-repetition"]
near-duplicates = 0.72
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from wv_cli.config import Option
from wv_cli.errors import BadFile, WvError, reason, show_value
from wv_cli.filtering.scorers import SCORERS
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.io.marks import MARK
from wv_cli.text.binary import foreign_encoding

_KINDS: dict[type, tuple[Any, str]] = {
    float: ((int, float), "a number"),
    str: (str, "text"),
    bool: (bool, "true or false"),
}
_SHIPPED = files("wv_cli.filtering") / "recipes"


def shipped_recipes() -> list[str]:
    """The names of the files that come with the program."""
    return sorted(Path(each.name).stem for each in _SHIPPED.iterdir() if each.name.endswith(".toml"))


def _advise_name(name: str) -> str:
    """What to write for the name of no file of rules."""
    from wv_cli.filtering.heuristics import RECIPES

    lower = name.lower()
    if lower in shipped_recipes():
        return f"did you mean --rules {lower}?"
    if lower in RECIPES:
        return f"{lower} is a recipe of heuristics: --heuristic {lower}"
    return f"shipped rules are {', '.join(shipped_recipes())}"


def read_rules(name: str, options: Mapping[str, Option]) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """(scorer, rule) of a file, or of a shipped one by its name, and its other `options`. Raises BadFile, WvError."""
    try:
        data = (_SHIPPED / f"{name}.toml" if name in shipped_recipes() else Path(name)).read_bytes()
    except OSError as error:
        message = f"{name}: cannot read: {reason(error)}; {_advise_name(name)}"
        raise WvError(message) from error
    refuse_other_kinds(data[:HEAD_BYTES], name, "rules in TOML")
    if found_encoding := foreign_encoding(data):
        raise BadFile(name, f"expected rules in UTF-8, found {found_encoding}")
    try:
        given = tomllib.loads(data.removeprefix(MARK).decode().replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        read, start = error.object, error.start
        problem = f"expected TOML in UTF-8, found the byte 0x{read[start]:02x}; convert it with iconv"
        raise BadFile(name, problem, line=read.count(b"\n", 0, start) + 1) from None
    except tomllib.TOMLDecodeError as error:
        raise BadFile(name, f"expected TOML in UTF-8, found: {error}") from None
    except RecursionError:
        raise BadFile(name, "expected TOML in UTF-8, found lists or tables too deep in each other") from None
    except ValueError:
        raise BadFile(name, "expected TOML in UTF-8, found a number of too many digits") from None
    found: list[tuple[str, str]] = []
    others: dict[str, Any] = {}
    known = {option.flag.removeprefix("--"): option for option in options.values()}
    for scorer, rules in given.items():
        if scorer in known:
            wanted, called = _KINDS[known[scorer].kind]
            if not isinstance(rules, wanted) or isinstance(rules, bool) != (wanted is bool):
                raise BadFile(name, f"{scorer}: expected {called}, found {show_value(rules)}")
            others[known[scorer].name] = rules
            continue
        if scorer not in SCORERS:
            raise BadFile(name, f"expected one of {', '.join([*SCORERS, *known])}, found {show_value(scorer)}")
        for rule in rules if isinstance(rules, list) else [rules]:
            found.append((scorer, rule if isinstance(rule, str) else show_value(rule)))
    return found, others
