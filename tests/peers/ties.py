"""How the programs that score rankings take equal scores, and what else is not agreed on."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.conftest import run_wv
from tests.peers import Answers, package, wv

Run = dict[str, float]  # scores of documents, in the order of the file
Scores = Callable[[dict[str, int], Run, str], float]  # nDCG or reciprocal rank ("mrr") of one query
FIVE = dict.fromkeys(("d3", "d10", "d1", "d9", "d2"), 1.0)


def answers(score: Scores) -> Callable[[str], str]:
    def order(run: Run) -> list[str]:
        """By the reciprocal ranks that each document has where it alone is relevant."""
        return sorted(run, key=lambda document: -score({document: 1}, run, "mrr"))

    def answer(question: str) -> str:
        match question:
            case "five equal scores":
                return " ".join(order(FIVE))
            case "1.00000001 of d1 beside 1.0 of d2":
                return " ".join(order({"d2": 1.0, "d1": 1.00000001}))
            case "50 equal scores: the first in the run":
                many = {f"d{number:02}": 1.0 for number in range(50)}
                return f"rank {round(1 / score({'d00': 1}, many, 'mrr'))}"
            case "nDCG with the grade 2 as gain":
                return f"{score({'d1': 2, 'd2': 1}, {'d2': 2.0, 'd1': 1.0}, 'ndcg'):.4f}"
            case "nDCG with a grade of -1 first":
                return f"{score({'d1': 1, 'd2': -1}, {'d2': 2.0, 'd1': 1.0}, 'ndcg'):.4f}"
        raise AssertionError(question)

    return answer


def _trec_eval(truth: dict[str, int], run: Run, measure: str) -> float:
    import pytrec_eval

    name = {"mrr": "recip_rank", "ndcg": "ndcg"}[measure]
    return float(pytrec_eval.RelevanceEvaluator({"q": truth}, {name}).evaluate({"q": run})["q"][name])


def _ranx(truth: dict[str, int], run: Run, measure: str) -> float:
    import ranx

    return float(ranx.evaluate(ranx.Qrels({"q": truth}), ranx.Run({"q": run}), measure))


def _wv(truth: dict[str, int], run: Run, measure: str) -> float:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        names = sorted({*truth, *run})
        (folder / "corpus.jsonl").write_text("".join(f'{{"_id": "{name}", "text": "a"}}\n' for name in names))
        (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a"}\n')
        (folder / "qrels").mkdir()
        judged = "".join(f"q\t{name}\t{grade}\n" for name, grade in truth.items())
        (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
        (folder / "run.trec").write_text("".join(f"q Q0 {name} 1 {score!r} x\n" for name, score in run.items()))
        ended = run_wv("eval", "search", "-d", folder, "--run", folder / "run.trec", "--json", "--at", "100")
    assert ended.returncode == 0, ended.stderr
    return float(json.loads(ended.stdout)["results"][0][measure])


TABLE = Answers(
    "run",
    [
        "five equal scores", "1.00000001 of d1 beside 1.0 of d2", "50 equal scores: the first in the run",
        "nDCG with the grade 2 as gain", "nDCG with a grade of -1 first",
    ],
    [
        package("pytrec_eval-terrier==0.5.11", answers(_trec_eval), "trec_eval in pytrec_eval-terrier"),
        package("ranx==0.3.21", answers(_ranx)),
        wv(answers(_wv)),
    ],
)  # fmt: skip
