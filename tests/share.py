"""Makes the manual pages and the completion scripts of wv_cli/share from the commands, so that they cannot disagree.

    python -m tests.share           writes them anew

tests/commands/test_share.py checks that they are current. They are installed under PREFIX/share (csrc/CMakeLists.txt).
"""

from pathlib import Path

from click.shell_completion import get_completion_class

from wv_cli.commands.shared.program import wv
from wv_cli.commands.shared.roff import man_pages

SHARE = Path(__file__).resolve().parent.parent / "wv_cli" / "share"
SCRIPTS = {
    "bash": "bash-completion/completions/wv",
    "zsh": "zsh/site-functions/_wv",
    "fish": "fish/vendor_completions.d/wv.fish",
}


def files() -> dict[str, str]:
    """Every file by its path in SHARE."""
    made = {f"man/{place}": text for place, text in man_pages().items()}
    for shell, place in SCRIPTS.items():
        kind = get_completion_class(shell)
        assert kind is not None
        made[place] = f"{kind(wv, {}, 'wv', '_WV_COMPLETE').source().strip()}\n"
    return made


if __name__ == "__main__":
    for place, text in files().items():
        (SHARE / place).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / place).write_text(text, encoding="utf-8")
