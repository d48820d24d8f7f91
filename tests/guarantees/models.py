"""What is guaranteed of texts, models, vectors and their search."""

from tests.guarantees.guarantee import GUARDS, Fault, Guarantee

MODELS: list[Guarantee] = [
    Guarantee(
        "The format of a file is recognized by its content",
        ("tests/vectors/formats/test_word2vec_binary.py",),
        (
            Fault(
                "a number and a line end among a few floats make a binary file text",
                "wv_cli/vectors/formats/header.py",
                'return not (b"".join(behind).strip() and _is_binary_whole(rows, header))',
                "return True",
            ),
        ),
    ),
    Guarantee(
        "A wrong use of options ends with exit code 2",
        ("tests/test_config.py", GUARDS),
        (
            Fault(
                "minn above maxn is taken",
                "wv_cli/models/config.py",
                "        _require_subwords(self.minn, self.maxn)\n        sides = self.window_side",
                "        sides = self.window_side",
            ),
        ),
    ),
    Guarantee(
        "Negative samples are drawn by word counts",
        (GUARDS,),
        (
            Fault(
                "--power is fixed",
                "wv_cli/models/word2vec.py",
                "counts.astype(np.float64) ** self.config.power",
                "counts.astype(np.float64) ** 0.75",
            ),
        ),
    ),
    Guarantee(
        "scores the vectors after every epoch",
        ("tests/models/training/test_run.py::test_a_run_that_is_to_stop_in_its_last_step_is_whole",),
        (
            Fault(
                "a signal in the last step leaves the last epoch unscored",
                "wv_cli/models/training/run.py",
                "if after_epoch is not None and steps and trainer.next_step >= limit:",
                "if after_epoch is not None and steps and trainer.next_step >= limit and not wishes().to_end:",
            ),
        ),
    ),
    Guarantee(
        "A thread copies at most 51,200 rows",
        ("tests/models/test_replicas.py",),
        (
            Fault(
                "private rows grow with the text for ever",
                "wv_cli/models/replicas.py",
                "rows = int(min(max(1, longest / least) * _HOTTEST, _MOST_ROWS))",
                "rows = int(max(1, longest / least) * _HOTTEST)",
            ),
            Fault(
                "the memory of copied output rows is not foreseen",
                "wv_cli/models/word2vec.py",
                "needed += 2 * config.threads * (inputs + outputs) * row",
                "needed += 0 * (inputs + outputs)",
            ),
        ),
    ),
    Guarantee(
        "keeps its own copy of all output rows",
        ("tests/models/test_label_updates.py", "tests/kernels/test_supervised.py"),
        (
            Fault(
                "the memory of private rows is not foreseen",
                "wv_cli/models/supervised.py",
                "needed += replica_bytes(config, outputs)",
                "needed += 0",
            ),
            Fault(
                "copies of any size",
                "wv_cli/models/supervised.py",
                "LAYERS[config.loss].takes_all and each <= _MOST_REPLICA_BYTES",
                "LAYERS[config.loss].takes_all",
            ),
            Fault(
                "what a thread learns last is lost",
                "wv_cli/models/supervised.py",
                "worker.flush()",
                "pass",
            ),
            Fault(
                "shares of other rows are taken",
                "csrc/wv_cli/_supervised.pyx",
                "share.shape[0] == rows",
                "True",
            ),
        ),
    ),
    Guarantee(
        "N-grams are copied for at most four threads",
        ("tests/models/test_replicas.py", "tests/kernels/test_word2vec.py"),
        (
            Fault(
                "n-grams are private to any number of threads",
                "wv_cli/models/replicas.py",
                "if config.threads > _INPUTS_UP_TO:",
                "if False:",
            ),
            Fault(
                "copies of n-grams that a run does not have are taken",
                "csrc/wv_cli/_word2vec.pyx",
                "np.min(hot.subword) >= -inputs",
                "True",
            ),
        ),
    ),
    Guarantee(
        "The progress bar",
        (GUARDS,),
        (
            Fault(
                "ETA counts what was done before",
                "wv_cli/models/training/progress.py",
                "eta=seconds * (total - done) / done if done else None",
                "eta=seconds * (total - done) / step if step else None",
            ),
        ),
    ),
    Guarantee(
        "keeps the first of equal trials",
        ("tests/commands/test_autotune.py", GUARDS),
        (
            Fault(
                "autotune takes the last of equals",
                "wv_cli/commands/autotune.py",
                "(trial.score, -trial.number)",
                "(trial.score, trial.number)",
            ),
            Fault(
                "trials are not synced",
                "wv_cli/commands/autotune_log.py",
                "            host.sync(self._stream.fileno())\n",
                "",
            ),
            Fault(
                "the log of a search is discarded unasked",
                "wv_cli/commands/autotune_log.py",
                "if lines and not discard and not _is_over(lines):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "Binary codes are searched by their bits",
        (GUARDS,),
        (
            Fault(
                "a tie of bits is off",
                "wv_cli/vectors/neighbors/codes.py",
                "(signs.sum(axis=0) >= 0)",
                "(signs.sum(axis=0) > 0)",
            ),
        ),
    ),
    Guarantee(
        "The counts of `wv build-vocab --merge` are added exactly",
        ("tests/text/test_vocab.py",),
        (
            Fault(
                "sums of counts overflow",
                "wv_cli/text/vocab.py",
                "        if total > MOST_COUNTED:",
                "        if False:",
            ),
        ),
    ),
    Guarantee(
        "need no sum over the vocabulary",
        ("tests/models/test_nce.py",),
        (),
    ),
    Guarantee(
        "such inputs are unpacked",
        ("tests/io/test_compression.py",),
        (
            Fault(
                "a reader goes on after its file is closed",
                "wv_cli/io/compression.py",
                "        thread.join(_PATIENCE)\n",
                "",
            ),
        ),
    ),
    Guarantee(
        "Words and lines may have any length",
        ("tests/text/test_tokenizer.py",),
        (
            Fault(
                "CR joins a word that ends a chunk",
                "csrc/core/tokenizer.c",
                "!wv_is_separator(bytes[from])",
                "(!wv_is_separator(bytes[from]) || bytes[from] == 13)",
            ),
        ),
    ),
    Guarantee(
        "keeps all old words and adds the new ones",
        (
            "tests/text/test_continued_vocabulary.py",
            "tests/models/test_continued_rows.py",
            "tests/commands/test_continuation.py",
        ),
        (
            Fault(
                "what the text has of an old word is lost when it is rare",
                "wv_cli/text/continued_vocabulary.py",
                "    known[fresh] = True\n",
                "    known = text.counts >= config.min_count\n",
            ),
            Fault(
                "old rows begin anew",
                "wv_cli/models/word2vec.py",
                '        self.input[ids, :dim] = arrays["input"][:words]\n',
                "",
            ),
            Fault(
                "rows of n-grams are not carried",
                "wv_cli/models/continued_rows.py",
                "    out[learnt] = rows[order[at[learnt]]]\n",
                "",
            ),
            Fault(
                "output rows begin anew",
                "wv_cli/models/word2vec.py",
                "        if outputs > nodes:\n",
                "        if False:\n",
            ),
        ),
    ),
    Guarantee(
        "Options that are not given come from the state",
        ("tests/commands/test_continuation.py", "tests/commands/test_continuation_classifier.py"),
        (
            Fault(
                "options of the state are not compared",
                "wv_cli/commands/parts/continuation.py",
                "            if one != other:\n",
                "            if False:\n",
            ),
        ),
    ),
    Guarantee(
        "The learning rate begins where one run over all texts",
        ("tests/commands/test_continuation.py",),
        (
            Fault(
                "the rate starts again",
                "wv_cli/models/training/state.py",
                "        return self.lr * tokens / max(1.0, tokens + fraction * self.trained)\n",
                "        return self.lr\n",
            ),
        ),
    ),
    Guarantee(
        "counts of several days are those of one pass over all of their text",
        ("tests/models/glove/test_continued_counts.py", "tests/commands/test_continuation_glove.py"),
        (
            Fault(
                "earlier pairs keep the numbers of yesterday's words",
                "wv_cli/models/glove/continued_counts.py",
                '            run["row"], run["column"] = ids[run["row"] - 1], ids[run["column"] - 1]\n',
                "",
            ),
            Fault(
                "a share is one of whole counts",
                "wv_cli/models/glove/cooccurrence.py",
                "        scale <<= max(0, int(math.log2(_LARGEST_EXACT / (scale * pairs))))\n",
                "        pass\n",
            ),
            Fault(
                "the squared gradients begin anew",
                "wv_cli/models/glove/model.py",
                "    return squares if fraction == 1 else 1 + np.float32(fraction) * (squares - 1)\n",
                "    return np.ones_like(squares)\n",
            ),
        ),
    ),
    Guarantee(
        "An index of other vectors is refused",
        ("tests/retrieval/test_search.py",),
        (
            Fault(
                "an index of another model is searched",
                "wv_cli/retrieval/query.py",
                "if model is not None and model.digest != index.model_digest:",
                "if False:",
            ),
            Fault(
                "a place in an index leads out of it",
                "wv_cli/vectors/stored_index.py",
                "if not 0 <= begin <= end <= len(self.arrays[_PLACES[places]]):",
                "if False:",
            ),
        ),
    ),
    Guarantee(
        "An encoder uses its own tokenizer",
        ("tests/encoders/test_transformer.py", "tests/encoders/test_elmo.py"),
        (
            Fault(
                "the truncation baked into a tokenizer holds",
                "wv_cli/encoders/tokenizer.py",
                "        found.no_truncation()\n",
                "",
            ),
            Fault(
                "the padding baked into a tokenizer holds",
                "wv_cli/encoders/tokenizer.py",
                "        found.no_padding()\n",
                "",
            ),
            Fault(
                "a tokenizer of another vocabulary is taken",
                "wv_cli/encoders/tokenizer.py",
                "        if self.size > rows:\n",
                "        if False:\n",
            ),
            Fault(
                "padding takes part in a mean",
                "wv_cli/encoders/pooling.py",
                "np.where(mask[:, :, None], state, 0).sum(axis=1, dtype=np.float64)",
                "state.sum(axis=1, dtype=np.float64)",
            ),
        ),
    ),
    Guarantee(
        "the same seed gives the same file with any number of threads",
        ("tests/models/test_deterministic.py",),
        (
            Fault(
                "the threads after a save take the marks of those before for their own",
                "csrc/wv_cli/_rounds.pyx",
                "if self.stamp == 0 or self.stamp + end - first > WV_ROUND_STAMPS:",
                "if self.stamp + end - first > WV_ROUND_STAMPS:",
            ),
            Fault(
                "as many workers as threads",
                "wv_cli/models/deterministic.py",
                "workers=WORKERS, threads",
                "workers=self.threads, threads",
            ),
            Fault(
                "rounds of other workers go on",
                "wv_cli/models/deterministic.py",
                '"workers": WORKERS, "step_rounds": _STEP_ROUNDS, ',
                "",
            ),
            Fault(
                "what another version's rounds began goes on",
                "wv_cli/models/deterministic.py",
                ', "round_version": _ROUND_VERSION}',
                "}",
            ),
        ),
    ),
    Guarantee(
        "larger matrices live in a file beside the output",
        ("tests/io/test_matrices.py",),
        (
            Fault(
                "matrices are never too large",
                "wv_cli/io/matrices.py",
                "self._most is not None and matrices > self._most",
                "False",
            ),
            Fault(
                "the disk is not asked for room",
                "wv_cli/io/matrices.py",
                "            self._file().require_disk_space(matrices)\n",
                "",
            ),
            Fault(
                "room on the disk is not taken first",
                "wv_cli/io/matrices.py",
                "            host.reserve(spool.descriptor, length)\n",
                "            spool.truncate(length)\n",
            ),
            Fault(
                "a second model of a run is in memory again",
                "wv_cli/io/matrices.py",
                "if not self.on_disk and self._most is not None and matrices > self._most:",
                "self.on_disk = self._most is not None and matrices > self._most\n        if self.on_disk:",
            ),
        ),
    ),
    Guarantee(
        "counts any number of different words exactly",
        ("tests/text/test_counting.py",),
        (
            Fault(
                "the table grows past its share",
                "wv_cli/text/counting.py",
                "if encoder.words_bytes > room // _TABLE_SHARE:",
                "if False:",
            ),
            Fault(
                "words of later runs seem to be seen first",
                "wv_cli/text/counting.py",
                "np.arange(seen, seen + len(counts))",
                "np.arange(len(counts))",
            ),
        ),
    ),
]
