"""The README's promises, the tests that hold each, and faults in the code that those tests must notice.

`words` stand so in README.md. A fault replaces `old`, which stands once in `file`, by `new`: a guard taken out, a
policy turned round. test_table.py checks that words, tests and old texts are there; `python -m tests.promises` puts
every fault in and runs the tests.
"""

from tests.promises.manners import MANNERS
from tests.promises.models import MODELS
from tests.promises.promise import Promise

PROMISES: list[Promise] = [*MANNERS, *MODELS]
