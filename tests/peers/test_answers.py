"""The answers of other programs that the guide shows are those that they give."""

import pytest

from tests.peers import read_answers
from tests.peers.tables import TABLES

COLUMNS = [(name, program) for name, table in TABLES.items() for program in table.programs]


@pytest.mark.filterwarnings("ignore")  # of the programs
@pytest.mark.parametrize(("name", "program"), COLUMNS, ids=[f"{name}-{each.name}" for name, each in COLUMNS])
def test_a_program_answers_as_the_guide_says(name, program):
    shown = read_answers(name)
    assert list(shown) == [each.name for each in TABLES[name].programs]
    assert list(shown[program.name]) == list(TABLES[name].questions)
    if not program.is_installed():
        pytest.skip(f"needs {program.needs}")
    assert {question: program.answer(question) for question in TABLES[name].questions} == shown[program.name]
