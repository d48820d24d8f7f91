"""spaCy's exceptions for English as csrc/core/exceptionlist.h has them.

    PYTHON benchmarks/spacy_exceptions.py > csrc/core/exceptionlist.h

PYTHON has `pip install spacy==3.8.18`. Those that stay one token by every rule are in the list, too.
"""

import textwrap
from collections.abc import Iterable

HEAD = """/* Exceptions of the English tokenizer of spaCy 3.8.18 (https://github.com/explosion/spaCy, MIT licence):
 * words that it cuts otherwise than by its rules. ` stands where a word is cut. Made by
 * benchmarks/spacy_exceptions.py. */

"""


def variants(word: str) -> list[str]:
    """The word, with a capital, and with another apostrophe."""
    both = dict.fromkeys([word, word[0].upper() + word[1:]])
    return [*dict.fromkeys([*both, *(each.replace("'", "\u2019") for each in both)])]


def literal(name: str, words: Iterable[str]) -> str:
    lines = textwrap.wrap(" ".join(words), 100, break_long_words=False, break_on_hyphens=False)
    texts = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    quoted = "\n".join(f'    "{text} "' for text in texts)
    return f"static const char {name}[] =\n{quoted};\n"


def main() -> None:
    import spacy
    from spacy.symbols import ORTH

    def exceptions(language: str) -> set[str]:
        rules = spacy.blank(language).tokenizer.rules
        return {"`".join(part[ORTH] for part in parts) for text, parts in rules.items() if text.split() == [text]}

    common = exceptions("xx") - {"<space>"}
    left = exceptions("en") - common - {"<space>"}
    plain = [word for word in sorted(left) if word[0].islower() and word.isascii()]
    both = [word for word in plain if left.issuperset(variants(word))]
    left.difference_update(*map(variants, both))
    print(
        HEAD,
        "/* Also with a capital, and with \u2019. */\n",
        literal("english_with_variants", both),
        "\n",
        sep="",
        end="",
    )
    print(literal("english_as_they_are", sorted(left)))
    print("/* Also of all other languages. */\n", literal("of_all_languages", sorted(common)), sep="", end="")


if __name__ == "__main__":
    main()
