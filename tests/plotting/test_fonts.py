"""Fonts of labels: matplotlib's own first, then installed ones for the letters that it lacks."""

from pathlib import Path

import pytest

from wv_cli.plotting.fonts import choose_fonts

ARC, BELOW, NOBODY = "\u2312", "\u0359\u20d2", "\U0010fffe"  # DejaVu Sans Mono has the arc, STIX all but NOBODY


@pytest.fixture
def install(monkeypatch):
    """Fonts that come with matplotlib stand for those of the machine."""
    manager = pytest.importorskip("matplotlib.font_manager")
    folder = Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"
    return lambda *names: monkeypatch.setattr(
        manager, "findSystemFonts", lambda: [str(folder / f"{name}.ttf") for name in names]
    )


def test_no_other_font_is_looked_for_without_need(monkeypatch):
    manager = pytest.importorskip("matplotlib.font_manager")
    monkeypatch.setattr(manager, "findSystemFonts", lambda: pytest.fail("looked for"))
    assert choose_fonts("naïve слово, two words") == (["DejaVu Sans"], "")


def test_few_and_plain_fonts_are_chosen(install):
    install("DejaVuSansMono", "STIXGeneral", "STIXGeneralItalic")
    assert choose_fonts(f"a {ARC}{BELOW}") == (["DejaVu Sans", "STIXGeneral"], "")
    assert choose_fonts(f"a {ARC}") == (["DejaVu Sans", "STIXGeneral"], ""), "a plain font before one of equal widths"
    install("DejaVuSansMono", "STIXGeneralItalic")
    assert choose_fonts(f"a {ARC}{BELOW[1]}") == (["DejaVu Sans", "DejaVu Sans Mono", "STIXGeneral"], "")


def test_letters_that_no_font_has(install):
    install("DejaVuSansMono", "LastResortHE-Regular", "no such font")
    assert choose_fonts(f"a {ARC}{NOBODY}") == (["DejaVu Sans", "DejaVu Sans Mono"], NOBODY)
    install()
    assert choose_fonts(NOBODY) == (["DejaVu Sans"], NOBODY)
