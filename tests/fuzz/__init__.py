"""One harness for every reader of foreign bytes: files are damaged in many ways, read and, when that works, used.

    python -m tests.fuzz --files 100000            # a long run; a short one is part of the suite
    python -m tests.fuzz --target codes --file X   # one file again, with its traceback

targets.py is the table of readers, mutations.py and containers.py damage files, harness.py says what is a finding.
"""
