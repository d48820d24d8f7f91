"""Suite `deciding`: memory and time of the step that decides which texts of all parts are duplicates.

    python benchmarks/run.py --suite deciding --rows 10000000

Keys are drawn, with shingles of 8 numbers: --rows texts in eight parts. Two texts in five are copies of each other, of
which one goes: they share all keys but one. `sparse` keeps shared keys only, as `wv filter --keys` does. `all keys` has
those of every text that stays, as a run without parts. `kept bytes` are those
of keys and places. `peak bytes` are the greatest memory of the process that is no mapped file. `file bytes` are those
of the keys on disk. All are per text.
"""

import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import record
from record import Run

PARTS, SHINGLES, THRESHOLD, BLOCK = 8, 8, 0.72, 1 << 18


def deciding(options: Any, result: Run, say: Any) -> bool:
    result["data"] = {"texts": options.rows, "numbers": "uniform, NumPy's default_rng(0) to (3), (100) to (107)"}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        texts = write_parts(Path(name), options.rows)
        say(f"{texts:,} texts")
        size = sum(path.stat().st_size for path in Path(name).glob("*.keys"))
        for way in ("sparse", "all keys"):
            for number in range(1, options.rounds + 1):
                used, out = record.used([sys.executable, __file__, name, way])
                run = {
                    "task": "decide",
                    "program": way,
                    "round": number,
                    "texts": texts,
                    "file_bytes": size / texts,
                    **json.loads(out),
                }
                run |= {"cpu_seconds": used["cpu_seconds"]}
                runs.append(run)
                say(f"{way}: {run}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True


def write_parts(folder: Path, rows: int) -> int:
    """The files of the parts. Texts with a copy and those without are spread alike over all parts."""
    from wv_cli.filtering.known_texts import Sets, VerifiedDuplicates
    from wv_cli.filtering.part_keys import KeyWriter, StoredShard, keys_path
    from wv_cli.filtering.parts import Part

    rules = VerifiedDuplicates(THRESHOLD)
    done = 0
    for part in range(PARTS):
        chosen, writer = np.random.default_rng(part % (PARTS // 2)), KeyWriter(folder, [rules])
        own = np.random.default_rng(100 + part)
        for at in range(0, rows // PARTS, BLOCK):
            count = min(BLOCK, rows // PARTS - at)
            keys = chosen.integers(1, 1 << 63, (count, rules.bands.bands), np.uint64)
            sets = chosen.integers(1, 1 << 32, (count, SHINGLES), np.uint32)
            # The first two fifths of a block are those of a part of the other half, but for a key.
            keys[2 * count // 5 :] = own.integers(1, 1 << 63, keys[2 * count // 5 :].shape, np.uint64)
            sets[2 * count // 5 :] = own.integers(1, 1 << 32, sets[2 * count // 5 :].shape, np.uint32)
            keys[:, 0] = own.integers(1, 1 << 63, count, np.uint64)
            starts = np.arange(count + 1) * SHINGLES
            block = Sets(keys, starts, sets.reshape(-1))
            writer.rules[0].first_seen(block, np.arange(count), 0, np.arange(at, at + count) + 1)
        shards = [StoredShard(part, f"{part}.jsonl", f"{part}.jsonl", 0, "", writer.texts, writer.texts)]
        writer.save(keys_path(folder, Part(part + 1, PARTS)), {}, shards, [rules.name])
        done += writer.texts
    return done


def main(folder: str, way: str) -> None:
    """In a process of its own."""
    from wv_cli.filtering.decisions import decide
    from wv_cli.filtering.known_texts import VerifiedDuplicates
    from wv_cli.filtering.part_keys import open_parts

    before, peak = anonymous_bytes(), [0]

    def watch() -> None:
        while True:
            peak[0] = max(peak[0], anonymous_bytes())
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    parts = open_parts(Path(folder))
    rules = VerifiedDuplicates(THRESHOLD, [f"{part}.jsonl" for part in range(PARTS)])
    totals = decide(parts, [rules], Path(folder), sparse=way == "sparse")
    texts = sum(part.texts for part in parts)
    shown = {"rejected_percent": 100 * (1 - totals.kept / texts), "kept_bytes": rules.memory / texts}
    print(json.dumps({**shown, "peak_bytes": (peak[0] - before) / texts}))


def anonymous_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:"))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
