"""WordList: looking words up, whatever bytes they are made of."""

from hypothesis import given
from hypothesis import strategies as st

from wv_cli.words import WordList, decode

words = st.binary(max_size=20)
plain = st.binary(min_size=1, max_size=20).filter(lambda word: b"\0" not in word)


@given(st.lists(st.one_of(words, st.sampled_from([b"", b"a", b"a\0", b"\0"]))), st.lists(words))
def test_find_is_the_first_place(listed, asked):
    made = WordList.of(listed)
    for word in [*listed, *asked, b"a", b"a\0", b""]:
        expected = listed.index(word) if word in listed else -1
        assert made.find(word) == made.find(decode(word)) == expected
    expected = [listed.index(word) if word in listed else -1 for word in asked]
    assert made.find_all(WordList.of(asked)).tolist() == expected


@given(st.lists(plain, min_size=1), st.lists(words))
def test_lists_of_plain_words_are_asked_for_odd_ones(listed, asked):
    """Such lists have another kind of index, which takes no empty words and no NUL."""
    made, all_asked = WordList.of(listed), [*asked, b"", *listed, b"\0"]
    expected = [listed.index(word) if word in listed else -1 for word in all_asked]
    assert made.find_all(WordList.of(all_asked)).tolist() == expected
    assert [made.find(word) for word in all_asked] == expected


def test_a_part_of_a_list():
    made = WordList.of(["one", "two", "three", "two"])
    assert made[1:].find("two") == 0 and made[1:].find("one") == -1
    assert "two" in made and "four" not in made and 2 not in made
