"""What the extension modules refuse: numbers that would lead beyond an array."""

import numpy as np
import pytest

from tests.kernels import test_supervised
from wv_cli import _product, _subwords, _supervised
from wv_cli.vectors.quantizer import CENTROIDS


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_product_codes_of_a_mapped_file_may_begin_anywhere(shift):
    random = np.random.default_rng(1)
    centroids = random.standard_normal(CENTROIDS * 5).astype(np.float32)
    scales, codes = random.standard_normal(7).astype(np.float32), random.integers(0, 256, (7, 3)).astype(np.uint8)

    def moved(array):
        return np.frombuffer(bytes(shift) + array.tobytes(), np.float32, offset=shift)

    rows, first, second = np.arange(7), np.empty((7, 5), np.float32), np.empty((7, 5), np.float32)
    _product.decode(codes, rows, 5, 2, centroids, scales, first)
    _product.decode(codes, rows, 5, 2, moved(centroids), moved(scales), second)
    np.testing.assert_array_equal(first, second)
    scratch = np.zeros(_product.encode_scratch_bytes(5, 2) + 64, np.uint8)
    with pytest.raises(ValueError, match="centroids must be aligned to 4 bytes"):
        _product.encode(first, 2, moved(centroids), codes, 0, 7, scratch)


@pytest.mark.parametrize(("starts", "rows"), [([0, 2, 1, 3], [0, 1, 2]), ([0, 1, 2, 4], [0, 1, 2])])
def test_rows_of_words_cover_their_list(starts, rows):
    word_rows = np.array(starts), np.array(rows, np.int32)
    with pytest.raises(ValueError, match="word_rows"):
        _supervised.Rules(ids=3, words=3, end_of_line=2, word_rows=word_rows)


def test_rows_of_ngrams_are_those_of_the_corpus():
    ids, matrix = np.array([0, 1, -2, -3, -1], np.int32), test_supervised.zeros(9, 16)
    hashes, buckets = np.zeros(3, np.int32), np.full(5, -1, np.int32)
    rules = _supervised.Rules(ids=3, words=3, end_of_line=2, hashes=hashes, word_ngrams=2, bucket_row=buckets)
    config = test_supervised.SupervisedConfig(loss="softmax", dim=16)
    options = {"rules": rules, "input": matrix, "output": matrix[:2], "labels": 2}
    survey = {"next_row": 5, "longest_rows": 9, "longest_labels": 2}
    with pytest.raises(ValueError, match="word n-grams need a survey first"):
        _supervised.Run(config, ids=ids, survey=survey, **options)
    with pytest.raises(ValueError, match="ngram_rows: 4 do not fit 5 ids"):
        rules.survey(ids, 3, ngram_rows=np.zeros(4, np.int32))
    rules.survey(ids, 3)
    with pytest.raises(ValueError, match="ngram_rows: 5 do not fit 4 ids"):
        _supervised.Run(config, ids=ids[:4], survey=survey, **options)
    rules.ngram_rows[0] = 9
    with pytest.raises(ValueError, match="ngram_rows: expected"):
        _supervised.Run(config, ids=ids, survey=survey, **options)


@pytest.mark.parametrize("bad", [-1, 100])
def test_rows_of_words_lie_in_the_matrix(bad):
    ids = np.array([0, 1, -2, -3, -1], np.int32)
    rules = _supervised.Rules(ids=3, words=3, end_of_line=2, word_rows=(np.arange(4), np.array([0, bad, 2], np.int32)))
    matrix = test_supervised.zeros(3, 16)
    survey = {"next_row": 3, "longest_words": 2, "longest_rows": 2, "longest_labels": 2}
    config = test_supervised.SupervisedConfig(loss="softmax", dim=16)
    with pytest.raises(ValueError, match="word_rows: expected 0 to 2, found"):
        _supervised.Run(config, rules=rules, survey=survey, ids=ids, input=matrix, output=matrix[:2], labels=2)


def test_rows_to_spread_are_checked():
    values, out = np.ones((2, 3), np.float32), np.empty(4 * 3 * 4, np.uint8)
    for kept, source, begin in (
        ([0, 4], None, 0),
        ([1, 1], None, 0),
        ([0, 1], None, 12),
        ([0, 5], None, 11),
        ([0], None, -1),
        ([0], [2], 0),
        ([0], [0, 1], 0),
    ):
        numbers = None if source is None else np.array(source, np.int32)
        with pytest.raises(ValueError):
            _subwords.spread_rows(values, np.array(kept), numbers, begin, out)
    with pytest.raises(ValueError, match="rows without numbers"):
        _subwords.spread_rows(values[:, :0], np.array([0]), None, 0, out)
    _subwords.spread_rows(values, np.array([0, 4]), None, 11, out)
    assert out[1:37].max() == 0 and out[[0, *range(37, 48)]].tobytes() == b"\x3f" + values.tobytes()[:11]
