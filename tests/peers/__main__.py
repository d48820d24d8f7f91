"""Lists what the columns need; --write asks those that are installed and writes the guide's tables."""

import sys

from tests.peers import write_answers
from tests.peers.tables import TABLES

if "--write" in sys.argv[1:]:
    write_answers(TABLES)
else:
    needs = {program.needs for table in TABLES.values() for program in table.programs if program.needs}
    sys.stdout.write("".join(f"{each}\n" for each in sorted(needs)))
