"""Rows `"class","title","text"` as lines of a classifier, cleaned as fastText's tutorial cleans, in a random order.

python benchmarks/clean_rows.py ag_news_test.csv > ag-news.clean.txt
"""

import csv
import random
import re
import sys
from pathlib import Path


def main(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream) if row[0].isdigit()]
    lines = [f"__label__{label} {' '.join(rest)}" for label, *rest in rows]
    lines = [re.sub(r"([.!?,'/()])", r" \1 ", line).lower() for line in lines]
    random.Random(1).shuffle(lines)
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
