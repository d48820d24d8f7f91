"""The pieces of an encoder's tokenizer as the vocabulary of a static embedding, as model2vec 0.10 takes them.

Special tokens go, but for those that stand for unknown words and for padding; so does what is called [unused0],
[unused1], ... The numbers of the others are closed up in their order, which is that of their frequency in the
vocabularies of BERT and its kin. The static embedding adds no token of its own to a text.

Own words come after the pieces. A word that stays whole (it is normalized, and cut as texts are) becomes an entry of a
WordPiece or WordLevel vocabulary. All others, such as "New York" and "c++", become added tokens, which are found in the
text before it is cut.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.tokenizer import load
from wv_cli.errors import BadFile
from wv_cli.io.extra import foreign, require
from wv_cli.io.folders import Settings
from wv_cli.vectors.formats.tokenizer_file import TOKENIZER, tokenizer_settings, unknown_token

_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass(frozen=True, eq=False)
class Pieces:
    """`tokens` in the order of their new numbers, own words behind them; `tokenizer`: the settings of the new one.
    `asked`: what the encoder is to encode for each: the numbers of its tokens. `old` (pieces,): the numbers that the
    pieces had; own words had none."""

    tokens: list[str]
    tokenizer: dict[str, Any]
    asked: list[NDArray[np.int64]]
    old: NDArray[np.int64]

    @classmethod
    def from_folder(cls, root: Path, words: Sequence[str] = ()) -> "Pieces":
        """Of the tokenizer in a folder and own `words`. Raises BadFile, WvError."""
        path = root / TOKENIZER
        facts, inner = tokenizer_settings(path), load(path)
        with foreign(path, "expected the settings of a tokenizer"):
            numbers: dict[str, int] = inner.get_vocab(with_added_tokens=True)
            example = inner.encode("a")
        keeps = {unknown_token(facts["model"]), _padding_token(root)}
        added = [each for each in facts.get("added_tokens") or [] if each["content"] in keeps]
        gone = {each["content"] for each in facts.get("added_tokens") or []} - keeps
        tokens = [
            token
            for token, _ in sorted(numbers.items(), key=lambda item: item[1])
            if token not in gone and not _UNUSED.match(token)
        ]
        if not tokens:
            raise BadFile(path, "expected a vocabulary of pieces, found special tokens only")
        special = np.array(example.special_tokens_mask, bool)
        first = int(np.argmin(special)) if not special.all() else len(special)
        last = len(special) - int(np.argmin(special[::-1])) if not special.all() else len(special)
        before, after = example.ids[:first], example.ids[last:]
        old = np.array([numbers[token] for token in tokens], np.int64)
        asked = [np.array([*before, number, *after], np.int64) for number in old.tolist()]
        whole, joined = _own(inner, facts["model"]["type"], words, set(tokens))
        with foreign(path, "the tokenizer fails", quiet=True):
            asked += [np.array(inner.encode(word).ids, np.int64) for word in (*whole, *joined)]
        tokens += whole
        added += [_added_token(word) for word in joined]
        return cls([*tokens, *joined], _renumber(facts, tokens, joined, added), asked, old)

    def ids(self, texts: Sequence[str], read: Sequence[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
        """The new numbers of each text's tokens, without those for unknown words. `read`: the numbers that the encoder
        reads, which are the same text's unless there are own words."""
        unknown = unknown_token(self.tokenizer["model"])
        if len(self.tokens) > len(self.old):
            package = require("tokenizers", "the pieces of texts")
            inner = package.Tokenizer.from_str(json.dumps(self.tokenizer))
            gone = None if unknown is None else inner.token_to_id(unknown)
            found = (each.ids for each in inner.encode_batch(texts, add_special_tokens=False))
            return [np.array([id for id in ids if id != gone], np.int64) for ids in found]
        new = np.full(1 + max(int(self.old.max()), *(int(ids.max(initial=0)) for ids in read)), -1)
        new[self.old] = np.arange(len(self.old))
        if unknown in self.tokens:
            new[self.old[self.tokens.index(unknown)]] = -1
        renumbered = (new[ids] for ids in read)
        return [ids[ids >= 0] for ids in renumbered]


def _padding_token(root: Path) -> str | None:
    """The token that fills up, which texts do not have: model2vec keeps it."""
    padding = Settings(root / TOKENIZER).facts.get("padding")
    token = Settings(root / "tokenizer_config.json", required=False).facts.get("pad_token")
    token = token.get("content") if isinstance(token, dict) else token
    token = token or (padding.get("pad_token") if isinstance(padding, dict) else None)
    return token if isinstance(token, str) else None


def _own(inner: Any, kind: str, words: Iterable[str], known: set[str]) -> tuple[list[str], list[str]]:
    """(words that become entries of the vocabulary, those that become added tokens), each once."""
    whole: dict[str, None] = {}
    joined: dict[str, None] = {}
    for word in words:
        normal = inner.normalizer.normalize_str(word) if inner.normalizer else word
        cut = [normal]
        if inner.pre_tokenizer is not None:
            cut = [part for part, _ in inner.pre_tokenizer.pre_tokenize_str(normal)]
        if len(cut) == 1 and kind in ("WordPiece", "WordLevel"):
            if cut[0] and cut[0] not in known:
                whole[cut[0]] = None
        elif normal.strip() and normal.strip() not in known:
            joined[normal.strip()] = None
    return list(whole), list(joined)


def _added_token(word: str) -> dict[str, Any]:
    return {
        "content": word, "single_word": False, "lstrip": True, "rstrip": True, "normalized": True, "special": False,
    }  # fmt: skip


def _renumber(
    facts: dict[str, Any], tokens: list[str], joined: list[str], added: list[dict[str, Any]]
) -> dict[str, Any]:
    """The settings of a tokenizer with these tokens only, that adds none to a text."""
    ids = {token: id for id, token in enumerate([*tokens, *joined])}
    model = dict(facts["model"])
    if isinstance(model["vocab"], dict):
        model["vocab"] = {token: ids[token] for token in [*tokens, *joined]}
    else:  # Unigram: [token, score], numbered by their order; own words are as unlikely as the least likely piece
        scores = {row[0]: row[1] for row in model["vocab"]}
        least = min(scores.values(), default=-100.0)
        unknown = unknown_token(model)
        model["vocab"] = [[token, scores.get(token, least)] for token in [*tokens, *joined]]
        model["unk_id"] = ids.get(unknown) if unknown is not None else None
    if "merges" in model:
        pairs = [(each, each.split(" ", 1) if isinstance(each, str) else each) for each in model["merges"]]
        model["merges"] = [
            each for each, (left, right) in pairs if left in ids and right in ids and left + right in ids
        ]
    new = [{"id": ids[each["content"]], **{key: value for key, value in each.items() if key != "id"}} for each in added]
    return {**facts, "added_tokens": new, "post_processor": None, "model": model} | _with_blank(facts)


def _with_blank(facts: dict[str, Any]) -> dict[str, Any]:
    """A byte-level pre-tokenizer puts a blank before the first word, as before all others."""

    def renumber_token(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        if part.get("type") == "ByteLevel":
            return {**part, "add_prefix_space": True}
        if part.get("type") == "Sequence":
            return {**part, "pretokenizers": [renumber_token(each) for each in part.get("pretokenizers", [])]}
        return part

    return {"pre_tokenizer": renumber_token(facts.get("pre_tokenizer"))}
