"""Which words a text is cut into."""

from tests.peers import Answers, package, wv

TEXTS = [
    "can't", "don\u2019t", "3.14", "a.b", "U.S.", "e-mail", "snake_case", "a:b", "user@example.com",
    "ไทยภาษา", "東京タワー", "カー・ナビ",
]  # fmt: skip


def _shown(words: list[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def _icu(text: str) -> str:
    import icu

    found, last = icu.BreakIterator.createWordInstance(icu.Locale.getRoot()), 0
    found.setText(text)
    words = []
    for end in found:
        words.append(text[last:end])
        last = end
    return _shown(words)


def _uniseg(text: str) -> str:
    from uniseg.wordbreak import words

    return _shown([*words(text)])


def _wv(text: str) -> str:
    from wv_cli.text.reading_config import TokenizeConfig
    from wv_cli.text.tokenizing import Tokenizer

    return _shown(Tokenizer(TokenizeConfig()).words_of(text.encode()).decode().split())


TABLE = Answers(
    "text",
    TEXTS,
    [
        package("pyicu-wheels==2.15.2", _icu, "ICU in pyicu-wheels"),
        package("uniseg==0.10.1", _uniseg, "uniseg"),
        wv(_wv),
    ],
)
