#!/bin/sh
# trectools 0.0.50, pandas 3.1.1: R-precision, the part of relevant documents among the first R, where R are relevant.
# Guess: it is what trec_eval says, at which the package aims; with pandas 2.3.3 it is.
# Seen: the result of `groupby(...).apply(...)` has no column of groups from pandas 3 on. So `get_rprec` joins run and
# judgments by the document alone: all hits count for each query for which they are relevant, whoever found them, and
# the value passes 1. Nothing is said. Other measures, such as the mean average precision, are right.
# Output:
#   pandas 3.1.1: R-precision a 1.5, b 0.5; mean average precision 0.25
#   pandas 2.3.3: R-precision a 0.5, b 0.0; mean average precision 0.25
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
cat > qrels <<'END'
a 0 d1 1
a 0 d2 1
b 0 d3 1
b 0 d4 1
END
cat > run <<'END'
a Q0 d1 1 9 run
a Q0 d3 2 8 run
b Q0 d2 1 9 run
b Q0 d1 2 8 run
END
cat > score.py <<'PYTHON'
import sys
import warnings

warnings.simplefilter("ignore")
import pandas
from trectools import TrecEval, TrecQrel, TrecRun

scores = TrecEval(TrecRun("run"), TrecQrel("qrels"))
values = scores.get_rprec(per_query=True)["RPrec@1000"].fillna(0).to_dict()
shown = ", ".join(f"{query} {value}" for query, value in values.items())
average = scores.get_map()
print(f"pandas {pandas.__version__}: R-precision {shown}; mean average precision {average}")
expected = {"a": 1.5, "b": 0.5} if pandas.__version__ >= "3" else {"a": 0.5, "b": 0}
sys.exit(0 if values == expected and average == 0.25 else "the behaviour has changed")
PYTHON
python3 -m venv "$place/venv"
for version in 3.1.1 2.3.3; do
    "$place/venv/bin/pip" install --quiet 'trectools==0.0.50' "pandas==$version"
    "$place/venv/bin/python" score.py
done
