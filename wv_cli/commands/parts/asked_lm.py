"""Options that the questions to a language model share."""

from wv_cli.config import option


def json_lines_option() -> bool:
    return option(False, "Print one JSON object per line.", off=None, group="Run")


def sentences_option() -> bool:
    return option(True, "Treat lines as whole sentences with <s> and </s>, or as fragments.", flag="sentences")
