"""Tests of whole tables: one test instead of a thousand for a millisecond of work each, and no row forgotten."""

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Check = Callable[..., None]


def for_each(names: str, cases: Iterable[Any], ids: Callable[[Any], object] = str) -> Callable[[Check], Check]:
    """Calls the test with every case as the arguments `names` ("config, field"), and fails with all that failed.

    Arguments that are not named are fixtures, made once for all cases. `ids` names a value in the report.
    """
    of_case = [name.strip() for name in names.split(",")]
    rows = [(case,) if len(of_case) == 1 else tuple(case) for case in cases]

    def decorate(check: Check) -> Check:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            assert rows, "the table is empty"
            failed = []
            for row in rows:
                try:
                    check(**fixtures, **dict(zip(of_case, row, strict=True)))
                except (Exception, pytest.fail.Exception):
                    failed.append(f"{', '.join(str(ids(value)) for value in row)}\n{traceback.format_exc()}")
            assert not failed, f"{len(failed)} of {len(rows)} cases:\n" + "\n".join(failed)

        signature = inspect.signature(check)
        fixtures = [each for name, each in signature.parameters.items() if name not in of_case]
        test.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test

    return decorate


def require_rows(table: str, rows: Iterable[object], wanted: Iterable[object]) -> None:
    """Fails with the rows that a table lacks, and those that nothing wants any more."""
    found, needed = set(rows), set(wanted)
    problems = [
        f"{table} {verb} {', '.join(sorted(map(str, names)))}"
        for verb, names in (("lacks", needed - found), ("should no longer have", found - needed))
        if names
    ]
    assert not problems, "; ".join(problems)
