"""A tokenizer.json of the package tokenizers: its settings, held to what a tokenizer can have."""

import json
from pathlib import Path
from typing import Any

from wv_cli.errors import BadFile, show_value
from wv_cli.io.folders import Settings, read_json
from wv_cli.io.json_text import to_unicode
from wv_cli.vectors.formats.beside import digest

TOKENIZER = "tokenizer.json"


def tokenizer_settings(path: Path) -> dict[str, Any]:
    """Of a tokenizer.json, without padding and truncation, which are those of its maker's last use. Raises BadFile,
    WvError."""
    return require_tokenizer(path, read_json(path, "the settings of a tokenizer"))


def require_tokenizer(path: Path, facts: Any) -> dict[str, Any]:
    """The same of settings that were read from the file `path`. Raises BadFile."""
    model = facts.get("model") if isinstance(facts, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict | list):
        raise BadFile(path, "expected a tokenizer with a vocabulary, found none")
    _require_tokens(path, model["vocab"], facts.get("added_tokens"))
    return {**facts, "truncation": None, "padding": None}


def _require_tokens(path: Path, vocabulary: Any, added: Any) -> None:
    """Raises BadFile for a vocabulary, or tokens `added` to it, that no tokenizer can have."""
    if isinstance(vocabulary, dict):
        for token, number in vocabulary.items():
            if type(number) is not int or not 0 <= number < 1 << 31:
                found = f"{show_value(number, 40)} for {token[:40]!a}"
                raise BadFile(path, f"vocab: expected a number of 0 or more for each token, found {found}")
    else:
        for place, row in enumerate(vocabulary):
            good = isinstance(row, list) and len(row) == 2 and isinstance(row[0], str)
            if not good or type(row[1]) not in (int, float):
                problem = f"vocab: expected [token, score] at place {place}, found {show_value(row, 40)}"
                raise BadFile(path, problem)
    tokens = vocabulary if isinstance(vocabulary, dict) else [row[0] for row in vocabulary]
    extra = [] if added is None else added
    if not isinstance(extra, list):
        raise BadFile(path, f"added_tokens: expected a list, found {show_value(extra, 40)}")
    for place, each in enumerate(extra):
        good = isinstance(each, dict) and isinstance(each.get("content"), str)
        if not good or type(each.get("id")) is not int or each["id"] < 0:
            problem = f"added_tokens: expected `content` and `id` at place {place}, found {show_value(each, 40)}"
            raise BadFile(path, problem)
    for token in (*tokens, *(each["content"] for each in extra)):
        if to_unicode(token) != token:
            raise BadFile(path, f"expected tokens of whole characters, found half of one in {token[:40]!a}")


def truncation(path: Path) -> int | None:
    """How many tokens of a text are read, by a tokenizer.json; None: all. Raises BadFile."""
    settings = Settings(path)
    if settings.facts.get("truncation") is None:
        return None
    part = settings.part("truncation")
    if (side := part.facts.get("direction", "Right")) != "Right":
        problem = f"truncation: expected the direction Right, found {show_value(side)}; other vectors would come of it"
        raise BadFile(path, problem)
    return part.number("max_length", 1, 1 << 30)


def unknown_token(model: dict[str, Any]) -> str | None:
    """The token for unknown words of a tokenizer's `model`: named, or of Unigram numbered."""
    place, vocabulary = model.get("unk_id"), model["vocab"]
    token = model.get("unk_token")
    if type(place) is int and isinstance(vocabulary, list) and 0 <= place < len(vocabulary):
        row = vocabulary[place]
        token = row[0] if isinstance(row, list) and row else None
    return token if isinstance(token, str) else None


def tokens_digest(tokenizer: dict[str, Any]) -> str:
    """Of the tokens of a tokenizer.json and their numbers."""
    return digest(json.dumps([tokenizer["model"]["vocab"], tokenizer.get("added_tokens")]).encode())
