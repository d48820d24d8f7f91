"""A sentence encoder's pieces as a static embedding, and its table fitted to texts: the work of `wv distil` without
VOCAB. wv_cli/transforms/distillation.py has the formulas."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode_ids
from wv_cli.encoders.config import DistilConfig, FitConfig
from wv_cli.encoders.pieces import Pieces
from wv_cli.encoders.pooling import Pooling
from wv_cli.encoders.transformer import Transformer
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.events import Log, OnProgress
from wv_cli.io.extra import require
from wv_cli.io.input import open_input
from wv_cli.text.vocab import read_vocab
from wv_cli.transforms.distillation import Bags, cluster_rows, fit_table, map_table, rank_weights, reduce_rows
from wv_cli.vectors.formats.static import StaticModel, Table
from wv_cli.vectors.formats.static_folder import without_unknown

if TYPE_CHECKING:
    from wv_cli.commands.distil import PieceOptions

_PIECES_A = 1e-4  # model2vec's
_MAX_LENGTH = 512


def _lines(path: str, what: str) -> list[str]:
    """Those that are not blank. Raises BadFile, WvError."""
    with open_input(path, f"{what}, one a line") as source:
        blocks = [bytes(buffer[:length]) for buffer, length in source.line_blocks()]
    try:
        return [text for line in b"".join(blocks).decode().split("\n") if (text := line.strip())]
    except ValueError:
        raise BadFile(path, f"expected {what} in UTF-8, one a line, found other bytes") from None


def distil_pieces(
    encoder: str,
    options: "PieceOptions",
    config: DistilConfig,
    log: Log,
    progress: OnProgress | None = None,
    fit: FitConfig | None = None,
) -> tuple[Pieces, StaticModel, int, dict[str, object]]:
    """(pieces, the static embedding of them, numbers of the encoder's vectors, settings for config.json). The row for
    unknown words is zero. Raises what open_encoder raises, UsageError for an encoder that has no pieces."""
    config.validate()
    how = config.pooling or "mean"
    source = open_encoder(encoder, EncoderConfig(threads=config.threads), (how,))
    if not isinstance(source, Transformer):
        message = f"{encoder}: expected a BERT-like encoder, whose tokenizer has pieces; for another give VOCAB"
        raise UsageError(message)
    own_words = [] if options.words is None else _lines(options.words, "words")
    pieces = Pieces.from_folder(source.root, own_words)
    for token, ids in zip(pieces.tokens, pieces.asked, strict=True):
        if len(ids) > source.max_length:
            message = f"{options.words}: {token[:40]!r} has {len(ids)} tokens, more than the encoder reads"
            raise WvError(message)
    pooling = Pooling.parse(how, source.layers, source.name)
    (vectors,) = encode_ids(
        source, pieces.asked, [pooling], threads=config.threads, progress=progress, nan_to_zero=True
    )
    a = _PIECES_A if config.sif_a is None else config.sif_a
    weights = np.ones(len(vectors))
    if a:
        weights = (
            rank_weights(len(vectors), a) if options.counts is None else _weights_of_counts(pieces, options.counts, a)
        )
    mapping, kept = None, None
    if options.clusters:
        vectors, mapping = cluster_rows(vectors, options.clusters)
    if config.method == "none":
        matrix, note = vectors.astype(np.float64), ""
    else:
        matrix, note = reduce_rows(
            vectors, dim=config.dim, variance=options.variance or 0.0, whiten=config.method == "whiten"
        )
    if note:
        log(note)
    if mapping is None:
        matrix *= weights[:, None]
    else:
        kept = weights.astype(np.float32)
    rows = matrix.astype(np.float32)
    if fit is not None and fit.train is not None:
        rows = _fit_table(source, pieces, rows, fit, config, log, progress)
    model = StaticModel(Table(encoder, rows, mapping, kept), pieces.tokenizer, True, _MAX_LENGTH)
    settings = {
        "tokenizer_name": Path(encoder).name,
        "apply_pca": None if config.method == "none" else options.variance or matrix.shape[1],
        "sif_coefficient": a or None,
        "seq_length": 1_000_000,
        "pooling": {"cls": "first"}.get(how, how),
    }
    return pieces, without_unknown(model), vectors.shape[1], settings


def _fit_table(
    source: Transformer,
    pieces: Pieces,
    table: NDArray[np.float32],
    config: FitConfig,
    how: DistilConfig,
    log: Log,
    progress: OnProgress | None,
) -> NDArray[np.float32]:
    """The table fitted to what the encoder makes of texts: the mean of its last layer without the first and the last
    token, reduce_rows to as many numbers. Raises BadFile, WvError."""
    assert config.train is not None
    texts = _lines(config.train, "texts")
    read, cut = source.tokens(texts)
    inner = Pooling("inner", (source.layers,), "inner")
    (vectors,) = encode_ids(source, read, [inner], threads=how.threads, progress=progress, nan_to_zero=True)
    ids = pieces.ids(texts, read)
    used = np.array([len(each) > 0 for each in ids], bool) & vectors.any(axis=1)
    dim = table.shape[1]
    if np.count_nonzero(used) <= dim:
        found = f"expected more texts than dimensions, found {np.count_nonzero(used):,} for {dim}"
        raise WvError(f"{config.train}: {found}; give more texts or a smaller --dim")
    targets, _ = reduce_rows(vectors[used], dim=dim, whiten=how.method == "whiten")
    bags = Bags.from_texts([each for each, is_used in zip(ids, used.tolist(), strict=True) if is_used])
    log(f"{config.train}: {len(bags):,} texts, {len(bags.flat):,} pieces" + f"; {cut:,} texts were cut" * bool(cut))
    goal = targets.astype(np.float32)
    return fit_table(
        map_table(table, bags, goal),
        bags,
        goal,
        loss=config.loss,
        epochs=config.epochs,
        batch=config.batch,
        lr=config.lr,
        seed=config.seed,
        on_epoch=lambda epoch, loss: log(f"epoch {epoch} of {config.epochs}: {config.loss} {loss:.6f}"),
    )


def _weights_of_counts(pieces: Pieces, counts: str, a: float) -> NDArray[np.float64]:
    """(pieces,): a / (a + p) by the pieces of the words that a vocabulary file counts. Raises BadFile, WvError."""
    package, vocab = require("tokenizers", "the pieces of words"), read_vocab(counts)
    inner = package.Tokenizer.from_str(json.dumps(pieces.tokenizer))
    total = np.zeros(len(pieces.tokens))
    words = [vocab.words[row] for row in range(len(vocab.words))]
    for each, count in zip(inner.encode_batch(words, add_special_tokens=False), vocab.counts.tolist(), strict=True):
        np.add.at(total, each.ids, count)
    weights: NDArray[np.float64] = a / (a + total / max(1.0, total.sum()))
    return weights
