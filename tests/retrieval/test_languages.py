"""Search in texts of any language: every word is found, and only it; long texts without blanks are cut."""

import json
import os
import unicodedata

import pytest

from wv_cli.retrieval.chunks import cut
from wv_cli.retrieval.config import FusionConfig, TextConfig
from wv_cli.retrieval.query import open_searcher
from wv_cli.vectors.stored_index import LONGEST_CHUNK

WITH_BLANKS = (
    "बच्चे किताब पढ़ते हैं", "শিশুরা বই পড়ে", "ကလေး များ စာအုပ် ဖတ်သည်", "יְלָדִים קוֹרְאִים סֵפֶר", "나 책 을 읽다",
    "ළමයි පොත් කියවති", "བྱིས་པ དཔེ་ཆ", "کودکان می‌خوانند", "C R 3",
)  # fmt: skip
WITHOUT_BLANKS = {
    "我们在北京学习中文和历史": ["北京", "习", "历史", "在北京学习"],
    "他们在上海工作和生活": ["上海", "海"],
    "苹果和梨都是水果": ["水果", "梨"],
    "เด็กอ่านหนังสือในห้องสมุด": ["หนังสือ"],
    "東京タワーは赤い塔です": ["東京", "タワー", "ﾀﾜｰ", "赤い塔"],
    "ຂ້ອຍຮຽນພາສາລາວ": ["ພາສາລາວ"],
    "ខ្ញុំរៀនភាសាខ្មែរ": ["ភាសា"],
}


@pytest.mark.parametrize("text", WITH_BLANKS)
def test_every_word_between_blanks_is_found(text, tmp_path, wv):
    os.chdir(tmp_path)
    words = text.split()
    lines = [f"{word} other{i}" for i, word in enumerate(words)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    assert wv("search", "index", "a.txt", "-o", "a.index", "--chunks", "line", "-q").returncode == 0
    for source in (("a.index",), ("a.txt", "--chunks", "line")):
        found = wv("search", *source, input="".join(f"{word}\n" for word in words))
        expected = [f"{word}\ta.txt:{i}: {line}" for i, (word, line) in enumerate(zip(words, lines, strict=True), 1)]
        assert found.stdout.splitlines() == expected


def test_every_part_of_a_text_without_blanks_is_found(tmp_path, wv):
    os.chdir(tmp_path)
    texts = list(WITHOUT_BLANKS)
    (tmp_path / "corpus.jsonl").write_text("".join(f"{json.dumps({'_id': t, 'text': t})}\n" for t in texts))
    queries = [(query, text) for text, each in WITHOUT_BLANKS.items() for query in each]
    assert wv("search", "index", "corpus.jsonl", "-o", "i", "--field", "text", "-q").returncode == 0
    for source in (("i",), ("corpus.jsonl", "--field", "text")):
        found = wv("search", *source, "-k", "1", input="".join(f"{query}\n" for query, _ in queries)).stdout
        assert found.splitlines() == [f"{q}\tcorpus.jsonl:{texts.index(text) + 1}: {text}" for q, text in queries]
    assert wv("search", "i", "京北").returncode == 1
    (tmp_path / "queries.jsonl").write_text("".join(f"{json.dumps({'_id': q, 'text': q})}\n" for q, _ in queries))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("q\tc\tscore\n" + "".join(f"{q}\t{text}\t1\n" for q, text in queries))
    scored = wv("eval", "search", "--bm25", "lucene", "-d", ".", "--resamples", "0", "--json")
    row = json.loads(scored.stdout)["results"][0]
    assert row["ndcg"] == 1 and row["empty"] == 0


@pytest.mark.parametrize("chunks", ["paragraph", "words"])
def test_a_text_without_blanks_is_cut(chunks):
    text = "我们在北京学习中文和历史，他们在上海工作。" * 60
    found = [chunk.text.decode() for chunk in cut([text.encode()], TextConfig(chunks=chunks, words=50))]
    assert "".join(found) == text
    assert len(found) > 10 and all(piece.endswith("。") or piece.endswith("，") for piece in found)
    for limit in (100, 200):
        assert len(cut_of(text, chunks, limit)) < len(cut_of(text, chunks, limit // 2))


def cut_of(text, chunks, words):
    return list(cut([text.encode()], TextConfig(chunks=chunks, words=words)))


@pytest.mark.parametrize("letter", ["ü", "नि", "ที่", "字", "𝒳", "e\u0301"])
def test_the_longest_chunk_ends_behind_a_letter(letter):
    text = letter * (3 * LONGEST_CHUNK // len(letter.encode()))
    for shift in range(5):
        blocks = ("x" * shift + text).encode()
        for size in (1000, 1 << 20):
            found = list(
                cut((blocks[i : i + size] for i in range(0, len(blocks), size)), TextConfig(chunks="line", words=200))
            )
            assert b"".join(chunk.text for chunk in found) == blocks and len(found) > 2
            assert all(len(chunk.text) <= LONGEST_CHUNK for chunk in found)
            assert all(chunk.text.decode().startswith(letter) for chunk in found[1:])


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("to be or not to be", "all words of the query are stop words; --stop-words keep finds them"),
        ("?!", "the query has no word"),
        ("nobody", "nothing found"),
    ],
)
def test_a_query_without_words_says_why(query, message, tmp_path, wv):
    os.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("To be or not to be, that is the question.\n\nvitamin D\n\nvitamin C\n")
    found = wv("search", "notes.txt", query)
    assert (found.returncode, found.stdout) == (1, "")
    assert message in found.stderr and found.stderr.count("\n") == 1
    assert wv("search", "notes.txt", query, "-q").stderr == ""
    assert wv("search", "index", "notes.txt", "-o", "i", "-q").returncode == 0
    stored = wv("search", "i", query).stderr
    assert stored == found.stderr.replace("--stop-words keep finds them", "make the index with --stop-words keep")
    if "stop" in message:
        assert wv("search", "notes.txt", query, "--stop-words", "keep").stdout.startswith("notes.txt:1:")
    assert wv("search", "notes.txt", "vitamin C", "-k", "1").stdout == "notes.txt:5: vitamin C\n"


@pytest.mark.parametrize(
    ("line", "query", "marked"),
    [
        (unicodedata.normalize("NFD", "a naïve idea"), "naïve", [unicodedata.normalize("NFD", "naïve")]),
        ("हिन्दी में किताब है", "किताब", ["किताब"]),
        ("我在北京大学", "北京大", ["北京大"]),
        ("東京タワーは赤い", "タワー 赤い", ["タワー", "赤い"]),
        ("水は水素", "水", ["水", "水"]),
        ("ＡＢＣ abc l’eau get_user", "abc eau user", ["ＡＢＣ", "abc", "l’eau", "get_user"]),
        ("caf\udce9 STRASSE", "caf straße", ["caf", "STRASSE"]),
    ],
)  # fmt: skip
def test_the_words_of_a_query_are_marked_whole(line, query, marked, tmp_path):
    (tmp_path / "a.txt").write_bytes(line.encode("utf-8", "surrogateescape"))
    searcher = open_searcher(
        str(tmp_path / "a.txt"), None, FusionConfig(), TextConfig(), (), threads=1, log=lambda message: None
    )
    (answer,) = searcher.answers(query, 1)
    assert [answer.match[begin:end] for begin, end in searcher.highlight(answer.match, query)] == marked
