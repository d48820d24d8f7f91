"""Suite `languages`: decisions of `--heuristic fineweb2:LANG` beside datatrove's with FineWeb-2's own files.

    python benchmarks/run.py fineweb2-configs.jsonl --suite languages --data deu_Latn.jsonl --data tha_Thai.jsonl \\
        --peers PYTHON

The corpus has a line for each file configs/*.yml of FineWeb-2, with its keys and its `language`. A file of --data is
named for the language of its documents. PYTHON has datatrove 0.10.1 with spacy, jieba and pythainlp. `wv` cuts Chinese
and Thai by the same packages.

`agree` are documents that both keep, or both drop. `reasons` are those of them that both keep, or where the bound that
we name is one that datatrove's filters name.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

from wv_cli.filtering.heuristics import HEURISTICS
from wv_cli.filtering.languages import SEGMENTERS


def languages(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(*map(Path, options.data))
    configs = {each["language"]: each for each in records(Path(options.corpus))}
    runs: list[Run] = []
    for documents in map(Path, options.data):
        language = documents.stem
        with tempfile.TemporaryDirectory(dir=options.scratch) as name:
            folder = Path(name)
            cutter = SEGMENTERS.get(language.rpartition("_")[2])
            cut = ["--tokenize", cutter] if cutter else []
            rules = ["--heuristic", f"fineweb2:{language}", "--rejected", folder / "gone", *cut]
            ours = record.used([*WV, "filter", documents, "-o", folder, *rules, "-q", "--threads", "1"])[0]
            config = folder / "config.json"
            config.write_text(json.dumps(configs[language]), encoding="utf-8")
            found = folder / "found.jsonl"
            theirs = record.used([options.peers, HERE / "peer_languages.py", config, documents, found])[0]
            dropped = {each["id"]: each["filter"] for each in records(folder / "gone" / documents.name)}
            reasons = {each["id"]: each["reasons"] for each in records(found)}
        agree = [bool(dropped.get(number)) == bool(missed) for number, missed in reasons.items()]
        same = [
            not missed if number not in dropped else datatrove_reasons(dropped[number]) & {*missed} != set()
            for number, missed in reasons.items()
        ]
        run: Run = {"language": language, "round": 1, "documents": len(reasons)}
        run |= {"kept_wv": len(reasons) - len(dropped), "kept_datatrove": sum(not each for each in reasons.values())}
        run |= {"agree_percent": 100 * sum(agree) / len(agree), "reasons_percent": 100 * sum(same) / len(same)}
        run |= {"wv_cpu_seconds": ours["cpu_seconds"], "datatrove_cpu_seconds": theirs["cpu_seconds"]}
        runs.append(run)
        say(str(run))
    result["runs"] = result["summary"] = runs
    return True


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def datatrove_reasons(statistic: str) -> set[str]:
    """What datatrove calls a bound of this statistic."""
    row = HEURISTICS[statistic]
    return {row.below, row.above} - {""}
