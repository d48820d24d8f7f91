"""The check that the compiled modules are here. Importing it raises ImportError where they are not.

Python looks in the current folder first, and a checkout has no compiled modules there.
"""

from wv_cli.errors import NOT_BUILT

try:
    from wv_cli import _cpu  # noqa: F401
except ImportError as error:
    if error.name != "wv_cli":
        raise
    raise ImportError(NOT_BUILT) from error
