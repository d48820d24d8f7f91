"""FineWeb-2's thresholds and stop words by language as wv_cli/filtering/recipes/fineweb2.tsv has them.

    PYTHON benchmarks/fineweb2_table.py fineweb-2/configs > wv_cli/filtering/recipes/fineweb2.tsv

PYTHON has PyYAML, datatrove 0.10.1 and spaCy 3.8.18; fineweb-2 is https://github.com/huggingface/fineweb-2 at COMMIT.
A cell is empty where the bound rejects nothing: datatrove takes 0 for none, and no text has less. Stop words with
a blank, which no token has, are left out. `words` says where the tokenizer of spaCy that datatrove takes for a language
keeps hyphens between letters, or cuts behind apostrophes.
"""

import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COMMIT = "d0defb24f193bb9a5a11b8b14524a03c4858e1b6"
HEAD = f"""# Thresholds and stop words of FineWeb-2 by language, of the texts that its authors filtered.
# Source: configs/*.yml of https://github.com/huggingface/fineweb-2 at {COMMIT}.
# By Hugging Face. Licence: Apache-2.0. Rewritten as a table by benchmarks/fineweb2_table.py.
"""
SCALARS = {
    "repeated-lines<=": "dup_line_frac",
    "terminal-lines>=": "line_punct_thr",
    "newlines-per-word<=": "new_line_ratio",
    "mean-word-length>=": "min_avg_word_length",
    "mean-word-length<=": "max_avg_word_length",
    "words-with-letter>=": "max_non_alpha_words_ratio",
}
MAY_BE_NONE = SCALARS.keys() - {"newlines-per-word<="}
COLUMNS = [*SCALARS, *(f"top-{n}-gram<=" for n in (2, 3, 4)), *(f"repeated-{n}-grams<=" for n in range(5, 11))]


def bounds(config: Mapping[str, Any]) -> list[str]:
    grams = {f"top-{n}-gram<=": bound for n, bound in config["top_n_grams"]}
    grams |= {f"repeated-{n}-grams<=": bound for n, bound in config["dup_n_grams"]}
    scalars = {column: config[name] for column, name in SCALARS.items()}
    numbers = {column: (scalars | grams)[column] for column in COLUMNS}
    return ["" if column in MAY_BE_NONE and bound <= 0 else f"{bound:g}" for column, bound in numbers.items()]


def word_rules() -> dict[str, str]:
    """What spaCy's tokenizer of each language does with hyphens and apostrophes, where datatrove takes one by rules."""
    import spacy
    from datatrove.utils._import_utils import ASSETS_PATH

    found: dict[str, str] = {}
    by_code: dict[str, str] = {}
    with Path(ASSETS_PATH, "tokenizer_assignment.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            code = row["tok_code"] if row["type"] == "SpaCyTokenizer" else "xx"
            if code not in by_code and code not in ("ja", "vi", "zh"):
                words = [word.text for word in spacy.blank(code)("salz-und l'homme")]
                rules = ["keep-hyphens"] * ("salz-und" in words) + ["cut-apostrophes"] * ("l'" in words)
                by_code[code] = " ".join(rules)
            found.setdefault(f"{row['code_3']}_{row['script']}", by_code.get(code, ""))
    return found


def main(folder: str) -> None:
    import yaml

    words = word_rules()

    print(HEAD, end="")
    print("language", *COLUMNS, "words", "stop words", sep="\t")
    for path in sorted(Path(folder).glob("*.yml")):
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        stop_words = " ".join(word for word in config["stopwords"] if word.split() == [word])
        print(path.stem, *bounds(config), words.get(path.stem, ""), stop_words, sep="\t")


if __name__ == "__main__":
    main(sys.argv[1])
