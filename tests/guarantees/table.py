"""The guarantees, the tests that hold each, and faults in the code that those tests must notice.

`words` stand so in wv_cli/guides/guarantees.md. A fault replaces `old`, which stands once in `file`, by `new`: a guard
taken out, a policy turned round. test_table.py checks that words, tests and old texts are there; `python -m
tests.guarantees` puts every fault in and runs the tests.
"""

from tests.guarantees.guarantee import Guarantee
from tests.guarantees.manners import MANNERS
from tests.guarantees.models import MODELS
from tests.guarantees.records import RECORDS

GUARANTEES: list[Guarantee] = [*MANNERS, *MODELS, *RECORDS]
