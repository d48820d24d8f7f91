"""How much memory a command takes."""

import json
import subprocess
import sys

# A process of its own starts the command: a child's peak begins with what its parent takes.
_MEASURE = """
import json, resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(json.dumps([code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]))
"""


def peak_bytes(argv: list[str]) -> int:
    """Of a command that ends with 0 and prints nothing; Linux alone counts in this unit."""
    done = subprocess.run([sys.executable, "-c", _MEASURE, *argv], capture_output=True, text=True, check=True)
    code, peak = json.loads(done.stdout)
    assert code == 0, done.stderr
    return int(peak)
