"""GloVe's `glove`: trains on shuffled records and writes GloVe's own files."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wv_cli.cli.compat import Exit
from wv_cli.cli.compat.flags import Flags
from wv_cli.cli.compat.glove_tools import flags_of, require_opened, show_help, tell

_RECORD_BYTES = 16
_VECTORS = {0: "all", 1: "word"}  # by -model; any other: their sum


def main(words: Sequence[str]) -> int:
    if not words:
        return show_help("glove")
    _Asked(flags_of(words)).run()
    return 0


class _Asked:
    """The flags of one command line."""

    def __init__(self, flags: Flags) -> None:
        self.verbose = flags.whole("-verbose", 2)
        self.header = flags.whole("-write-header", 0)
        self.size = flags.whole("-vector-size", 50)
        self.threads = flags.whole("-threads", 8)
        self.iter = flags.whole("-iter", 25)
        self.eta = flags.number("-eta", 0.05)
        self.alpha = flags.number("-alpha", 0.75)
        self.x_max = flags.number("-x-max", 100.0)
        self.clip = flags.number("-grad-clip", 100.0)
        self.binary = flags.whole("-binary", 0)
        self.model = flags.whole("-model", 2)
        self.input = flags.text("-input-file", "cooccurrence.shuf.bin")
        self.vocab = flags.text("-vocab-file", "vocab.txt")
        self.save = flags.text("-save-file", "vectors")
        self.gradsq = flags.value_after("-gradsq-file")
        if self.gradsq is None and flags.whole("-save-gradsq", 0) > 0:
            self.gradsq = "gradsq"
        self.checkpoint_every = flags.whole("-checkpoint-every", 0)
        self.save_start = flags.whole("-save-init-param", 0) > 0
        self.parameters = self.squares = None
        if flags.whole("-load-init-param", 0):
            self.parameters = flags.text("-init-param-file", "vectors.000.bin")
        if flags.whole("-load-init-gradsq", 0):
            self.squares = flags.text("-init-gradsq-file", "gradsq.000.bin")
        self.seed = flags.whole("-seed", 0)

    def run(self) -> None:
        require_opened(self.vocab, "vocab file")
        from wv_cli.commands.glove_files import GloveFiles, GloveFilesJob, GloveInput
        from wv_cli.commands.part import Invocation
        from wv_cli.io.host import processors
        from wv_cli.models.glove.config import GloveConfig
        from wv_cli.text.vocab import read_ranked_vocab

        self.words = len(read_ranked_vocab(self.vocab))
        if not self.words:
            tell(f"Unable to find any vocab entries in vocab file {self.vocab}.\n")
            raise Exit(1)
        self.tell_start()
        config = GloveConfig(
            dim=self.size,
            x_max=self.x_max,
            alpha=self.alpha,
            eta=self.eta,
            grad_clip=self.clip,
            iterations=max(self.iter, 1),
            vectors=_VECTORS.get(self.model, "sum"),  # type: ignore[arg-type]
            unk=True,
            seed=self.seed % (1 << 32),
            threads=max(1, min(self.threads, processors())),
        )
        files = GloveFiles(
            save_file=self.save,
            gradsq_file=self.gradsq,
            text=self.binary != 1,
            binary=self.binary > 0,
            header=self.header != 0,
            save_start=self.save_start,
            checkpoint_iterations=self.checkpoint_every,
            iterations=max(self.iter, 0),
        )
        source = GloveInput(counts=self.input, vocab=self.vocab, init=self.parameters, init_gradsq=self.squares)
        job = GloveFilesJob(invocation=Invocation(meta=False), config=config, source=source, files=files)
        outcome, _ = job.run(self.on_event)
        if outcome is not None and not outcome.is_finished:
            saves = self.save_start or self.checkpoint_every > 0
            raise outcome.ended_early(f"nothing was saved{' but what was told of' if saves else ''}")

    def tell_start(self) -> None:
        tell("TRAINING MODEL\n")
        require_opened(self.input, "cooccurrence file")
        tell(f"Read {Path(self.input).stat().st_size // _RECORD_BYTES} lines.\n")
        self.seed = self.seed or int(time.time())
        detailed = self.verbose > 1
        tell(f"{'Initializing parameters...' if detailed else ''}Using random seed {self.seed}\n")
        expected = 2 * self.words * (self.size + 1) * 8
        for path, what in ((self.parameters, "parameters"), (self.squares, "squared gradients")):
            if path is None:
                continue
            if detailed:
                tell(f"\nLoading initial {what} from {path} \n")
            require_opened(path, "init file")
            if Path(path).stat().st_size < expected:
                tell(f"EOF reached before data fully loaded in {path}.\n")
                raise Exit(1)
        if detailed:
            tell("done.\n")

    def on_event(self, message: str, **facts: Any) -> None:
        if "prepared" in facts:
            if self.save_start and self.verbose > 1:
                tell("Saving initial parameters... done.\n")
            if self.verbose > 0:
                tell(f"vector size: {self.size}\nvocab size: {self.words}\n")
                tell(f"x_max: {self.x_max:f}\nalpha: {self.alpha:f}\n")
        elif "iteration" in facts:
            now = time.strftime("%m/%d/%y - %I:%M.%S%p")
            tell(f"{now}, iter: {facts['iteration']:03d}, cost: {facts['cost']:f}\n")
        elif "saving" in facts:
            tell(f"    saving intermediate parameters for iter {facts['saving']:03d}...")
        elif "saved" in facts:
            tell("done.\n")
