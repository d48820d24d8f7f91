"""Every table of the guide by its name."""

from tests.peers import Answers, forks, language_models, records, separators, static, ties, words

TABLES: dict[str, Answers] = {
    "separators": separators.TABLE,
    "words": words.TABLE,
    "static": static.TABLE,
    "ties": ties.TABLE,
    "records": records.TABLE,
    "forks": forks.TABLE,
    "language-models": language_models.TABLE,
}
