"""The child process that judges documents by FineWeb-2's filters as its pipeline calls them:
`peer_languages.py CONFIG DOCUMENTS FOUND`. A line of FOUND has the reasons of all filters that drop a document."""

import json
import sys
from pathlib import Path


def main(config: Path, documents: Path, found: Path) -> None:
    from datatrove.data import Document
    from datatrove.pipeline.filters import FineWebQualityFilter, GopherQualityFilter, GopherRepetitionFilter

    of = json.loads(config.read_text(encoding="utf-8"))
    filters = [
        GopherRepetitionFilter(
            language=of["language"],
            dup_para_frac=0,
            dup_line_char_frac=0,
            dup_para_char_frac=0,
            dup_line_frac=of["dup_line_frac"],
            top_n_grams=of["top_n_grams"],
            dup_n_grams=of["dup_n_grams"],
        ),
        FineWebQualityFilter(
            language=of["language"],
            short_line_thr=999,
            char_duplicates_ratio=0.1,
            line_punct_thr=of["line_punct_thr"],
            new_line_ratio=of["new_line_ratio"],
        ),
        GopherQualityFilter(
            language=of["language"],
            max_avg_word_length=of["max_avg_word_length"],
            min_avg_word_length=of["min_avg_word_length"],
            stop_words=of["stopwords"],
            max_non_alpha_words_ratio=of["max_non_alpha_words_ratio"],
            min_stop_words=2,
        ),
    ]
    with documents.open(encoding="utf-8") as lines, found.open("w", encoding="utf-8") as answers:
        for line in lines:
            record = json.loads(line)
            judged = [each.filter(Document(text=record["text"], id=str(record["id"]))) for each in filters]
            reasons = [each[1] for each in judged if isinstance(each, tuple)]
            print(json.dumps({"id": record["id"], "reasons": reasons}), file=answers)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
