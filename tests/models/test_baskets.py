"""Items without an order: --whole-line."""

import numpy as np

import wv_cli


def test_sessions_are_told_apart_by_what_they_hold(tmp_path):
    """Between any two items of a kind stands one that all sessions have: a window of 1 sees nothing else."""
    random = np.random.default_rng(1)
    lines = []
    for i in range(600):
        items = random.choice(20, 12) + 20 * (i % 3)
        lines.append(" ".join(f"i{item} all{random.integers(3)}" for item in items))
    (tmp_path / "sessions").write_text("\n".join(lines) + "\n")

    def share(**options):
        """Of the three nearest items, those of the same kind."""
        given = {"dim": 16, "window": 1, "min_count": 1, "sample": 0, "epochs": 5, "shrink_window": False, **options}
        wv_cli.train(str(tmp_path / "sessions"), str(tmp_path / "v.vec"), **given)
        found = wv_cli.load(tmp_path / "v.vec")
        items = [word for word in found if word.startswith("i")]
        near = [(item, other) for item in items for other, _ in found.neighbors(item, k=3, among=items)]
        return np.mean([int(a[1:]) // 20 == int(b[1:]) // 20 for a, b in near])

    assert share(whole_line=True) > 0.95
    assert share() < 0.6
