"""wv_cli.Filter decides as `wv filter` does, travels to other processes, and says what it cannot do."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import wv_cli
from tests.cli.test_filter import corpus, read
from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.filtering import rule_set
from wv_cli.filtering.verdicts import NO_TEXT, NOT_UTF8

MODEL = GOLDEN / "ft-labels.ftz"
LANGUAGE = f"{MODEL}:bread,baking=0.01.."
RULES = {"words": "3..9", "heuristic": ["gopher-repetition", "stop-words=..3"], "language": LANGUAGE}
TEXTS = ["bake the bread in the oven", "bake", None, "the bread\nbread the oven", ""]


def flags(rules):
    several = {name: value if isinstance(value, list) else [value] for name, value in rules.items()}
    return [word for name, values in several.items() for value in values for word in (f"--{name}", value)]


def write_tokenizer(path):
    package = pytest.importorskip("sentencepiece")
    lines = (GOLDEN / "lm" / "micro.train.txt").read_text().splitlines()
    with Path(path).open("wb") as out:
        package.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=out, vocab_size=60, hard_vocab_limit=False, minloglevel=2
        )


@pytest.mark.parametrize(
    "rules",
    [
        RULES,
        {"language": LANGUAGE, "unit": "line", "flatten": "strip-space"},
        {"classifier": [f"a={MODEL}:bread>=0.3", f"b={MODEL}:baking=.."], "tokenize": "unicode,lowercase"},
        {"perplexity": f"{GOLDEN / 'lm' / 'micro.o3.arpa'}=..400", "unit": "line"},
        {"perplexity": f"{GOLDEN / 'lm' / 'micro.o3.arpa'}=..400", "tokenizer": "sp.model", "perplexity-of": "lines"},
    ],
    ids=lambda rules: "-".join(rules),
)
def test_the_command_decides_the_same(rules, tmp_path, monkeypatch):
    """On a shard with records that cannot be read, line ends in texts and empty texts."""
    monkeypatch.chdir(tmp_path)
    if "tokenizer" in rules:
        write_tokenizer(rules["tokenizer"])
    shard = corpus(tmp_path / "in")[0]
    with Path(shard).open("a") as out:
        out.write('{"id": -1, "text": "half a \\ud83d character of the bread"}\n{"id": -2, "text": null}\n')
    kept, rejected = tmp_path / "kept", tmp_path / "rejected"
    written = ["-o", str(kept), "--rejected", str(rejected), "--add-scores", "-q"]
    assert run(["filter", shard, *flags(rules), *written]) == 0
    wanted = {each["id"]: each for folder in (kept, rejected) for each in read(folder / "a.jsonl")}
    lines = [line for line in Path(shard).read_bytes().splitlines() if line.startswith(b"{")]
    records = list(map(json.loads, lines))
    found = wv_cli.Filter(rules)([record["text"] for record in records])
    assert found.reason.tolist()[-1] == NO_TEXT and not found.keep[-1]
    assert {*found.reason.tolist()} - {NO_TEXT} == {each.get("filter") for each in wanted.values()}
    for place, record in enumerate(records[:-1]):
        own = wanted[record["id"]]
        assert (found.keep[place], found.reason[place]) == ("filter" not in own, own.get("filter")), record
        for name, scores in found.scores.items():
            assert own[name] == pytest.approx(scores[place], rel=1e-6) or own[name] is None, record


def test_the_rules_of_a_file_a_dict_and_of_options(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(f'words = ["2.."]\nheuristic = "characters=..40"\nflatten = "none"\nlanguage = "{LANGUAGE}"\n')
    options = {"words": "2..", "heuristic": "characters=..40", "flatten": "none", "language": LANGUAGE}
    ways = [wv_cli.Filter(file), wv_cli.Filter(str(file)), wv_cli.Filter(rules=file)]
    ways += [wv_cli.Filter(options), wv_cli.Filter(**options)]
    verdicts = [filter(TEXTS) for filter in ways]
    assert {tuple(verdict.reason) for verdict in verdicts} == {tuple(verdicts[0].reason)}
    assert pickle.dumps(ways[0]) == pickle.dumps(ways[1]) == pickle.dumps(ways[2])
    assert wv_cli.Filter(file, flatten="space")._rules.options.flatten == "space"


def test_a_filter_travels(tmp_path, monkeypatch):
    """To a process that starts in another folder and knows nothing of this one."""
    shutil.copy(MODEL, tmp_path / "m.ftz")
    monkeypatch.chdir(tmp_path)
    own = wv_cli.Filter(words="2..", language="m.ftz:bread,baking=0.01..")
    data = pickle.dumps(own)
    before = own(TEXTS)
    assert pickle.dumps(own) == data, "the same after use"
    code = (
        "import pickle, sys; found = pickle.load(sys.stdin.buffer)"
        f"({TEXTS!r}); print(found.keep.tolist(), found.reason.tolist())"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, input=data, capture_output=True, cwd="/", check=True)
    assert done.stdout.decode().strip() == f"{before.keep.tolist()} {before.reason.tolist()}"


def test_another_model_is_refused_where_it_is_opened(tmp_path):
    model = tmp_path / "m.ftz"
    shutil.copy(MODEL, model)
    data = pickle.dumps(wv_cli.Filter(language=f"{model}:bread>=0.1"))
    model.write_bytes(MODEL.read_bytes() + b"\0")
    travelled = pickle.loads(data)
    with pytest.raises(WvError, match=r"m\.ftz: expected the model that the rules were made with, found another; copy"):
        travelled(TEXTS)
    model.unlink()
    with pytest.raises(WvError, match=r"m\.ftz: cannot read: no such file"):
        pickle.loads(data)(TEXTS)


def test_other_words_of_a_classifier_are_refused(tmp_path):
    """A sidecar that was not copied beside its model would change what the model reads."""
    model, sidecar = tmp_path / "m.ftz", tmp_path / "m.ftz.meta.json"
    shutil.copy(MODEL, model)
    sidecar.write_text('{"tokenize": "unicode,lowercase"}')
    own = wv_cli.Filter(classifier=f"{model}:bread>=0.1", tokenize=True)
    data = pickle.dumps(own)
    pickle.loads(data)(TEXTS)
    sidecar.unlink()
    with pytest.raises(WvError, match="expected the settings unicode,lowercase, found none in its sidecar"):
        pickle.loads(data)(TEXTS)


def test_a_process_opens_models_once(monkeypatch, tmp_path):
    shutil.copy(MODEL, tmp_path / "m.ftz")
    opened = []
    judge = rule_set.Judge
    monkeypatch.setattr(rule_set, "Judge", lambda *given: opened.append(given) or judge(*given))
    own = wv_cli.Filter(language=f"{tmp_path / 'm.ftz'}:bread>=0.1")
    data = pickle.dumps(own)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: pickle.loads(data)(TEXTS).keep.tolist(), range(8)))
    assert found == [own(TEXTS).keep.tolist()] * 8 and len(opened) == 1


def test_threads_share_a_filter():
    own, texts = wv_cli.Filter(RULES), [" ".join(["bread", "oven", "the"] * (n % 5)) for n in range(3000)]
    wanted = own(texts)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(own, [texts] * 8):
            assert (found.keep == wanted.keep).all() and (found.reason == wanted.reason).all()


def test_another_thread_runs_while_a_text_is_scored():
    """Without the GIL: this thread sees the other one inside of one call. A busy machine may let it sleep that long; a
    thread that held the GIL would let it see no call at all."""
    own = wv_cli.Filter(heuristic="gopher-repetition")
    text = " ".join(f"word{n}" for n in range(400_000))
    own(["a first call"])

    def sees_a_call():
        state = []
        worker = threading.Thread(target=lambda: (state.append("begin"), own([text]), state.append("end")))
        worker.start()
        while "begin" not in state:
            time.sleep(0.001)
        seen = [*state]
        worker.join()
        assert state == ["begin", "end"]
        return seen == ["begin"]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # a thread that holds the GIL keeps it
    try:
        assert any(sees_a_call() for _ in range(20))
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("field", ["text", "a.b"])
def test_tables(field):
    texts = pyarrow.array(TEXTS)
    column = texts if field == "text" else pyarrow.StructArray.from_arrays([texts], ["b"])
    table = pyarrow.table({field.partition(".")[0]: column, "id": range(5)}, metadata={"own": "kept"})
    own = wv_cli.Filter(words="2..")
    kept = own.table(table, field=field)
    assert kept["id"].to_pylist() == [0, 3] and kept.schema.equals(table.schema, check_metadata=True)
    (batch,) = table.to_batches()
    kept_batch = own.table(batch, field)
    assert isinstance(kept_batch, pyarrow.RecordBatch) and kept_batch.column("id").to_pylist() == [0, 3]
    empty = wv_cli.Filter(words="99..").table(batch, field)
    assert isinstance(empty, pyarrow.RecordBatch) and empty.num_rows == 0 and empty.schema == batch.schema
    both = own.batches(iter([batch, batch.slice(1)]), field)
    assert [each.column("id").to_pylist() for each in both] == [[0, 3], [3]]
    assert own.table(table.slice(0, 0), field).num_rows == 0


def test_a_table_of_views_keeps_its_types():
    table = pyarrow.table({"text": pyarrow.array(TEXTS, pyarrow.string_view()), "id": range(5)})
    kept = wv_cli.Filter(words="2..").table(table)
    assert kept.schema == table.schema and kept["id"].to_pylist() == [0, 3]


def test_what_a_filter_says_of_itself():
    assert "language: Keep records in these languages" in wv_cli.Filter.__doc__
    assert "near_duplicates" not in wv_cli.Filter.__doc__


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: wv_cli.Filter(), UsageError, "no rule is given; name one, such as words"),
        (lambda: wv_cli.Filter("no.toml"), WvError, "no.toml: cannot read: no such file"),
        (lambda: wv_cli.Filter(word="2.."), UsageError, "no such option word; did you mean words?"),
        (lambda: wv_cli.Filter(output="kept"), UsageError, r"no such option output; help\(wv_cli.Filter\) shows"),
        (lambda: wv_cli.Filter(words=3), TypeError, "words: expected"),
        (lambda: wv_cli.Filter(words="9..3"), UsageError, "words 9..3: the range is empty"),
        (lambda: wv_cli.Filter({"words": "2.."}, words="3.."), TypeError, "words: given twice"),
        (lambda: wv_cli.Filter(3), TypeError, "rules: expected a path, a dict or options, found int 3"),
        (
            lambda: wv_cli.Filter("fineweb"),
            UsageError,
            "near_duplicates compares a text with earlier ones, and a Filter",
        ),
        (lambda: wv_cli.Filter({"exact-duplicates": "document"}), UsageError, "exact_duplicates compares a text with"),
        (lambda: wv_cli.Filter(words="2..", against="x"), UsageError, "against compares a text"),
        (lambda: wv_cli.Filter(words="2..", perplexity_of="raw"), UsageError, "perplexity_of"),
        (lambda: wv_cli.Filter(words="2..", unit="line"), UsageError, "unit needs language or classifier"),
        (lambda: wv_cli.Filter(words="2..", flatten="none"), UsageError, "flatten needs language or classifier"),
        (lambda: wv_cli.Filter(words="2..", flatten="tidy"), UsageError, "flatten must be one of"),
        (lambda: wv_cli.Filter(language="no.ftz:en>=0.5"), WvError, "no.ftz: cannot read: no such file"),
        (lambda: wv_cli.Filter(words="2..")("a text"), TypeError, "texts: expected texts in a list"),
        (lambda: wv_cli.Filter(words="2..")({"text": ["a"]}), TypeError, "texts: expected texts in a list"),
        (lambda: wv_cli.Filter(words="2..")([["a"]]), TypeError, "expected each text as str or bytes, found list"),
        (lambda: wv_cli.Filter(words="2..")([3]), TypeError, "expected each text as str or bytes, found int"),
        (lambda: wv_cli.Filter(words="2..")(pyarrow.array([3])), TypeError, "expected strings, found int64"),
        (lambda: wv_cli.Filter(words="2..")(pyarrow.table({"a": ["x"]})), TypeError, "or use Filter.table"),
        (lambda: wv_cli.Filter(words="2..").table(pyarrow.table({"text": [3]})), TypeError, "column text: expected"),
        (lambda: wv_cli.Filter(words="2..").table(pyarrow.array(["a"])), TypeError, "found StringArray; call"),
        (lambda: wv_cli.Filter(words="2..").table(["a"]), TypeError, "expected a table of Arrow, found list"),
        (
            lambda: wv_cli.Filter(words="2..").table(pyarrow.table({"a": ["x"]})),
            UsageError,
            "expected the column text, found a",
        ),
        (
            lambda: wv_cli.Filter(words="2..").table(pyarrow.table([["x"], ["y"]], names=["text", "text"])),
            BadFile,
            "expected one column text, found 2",
        ),
        (lambda: bool(wv_cli.Filter(words="2..")(["a"])), TypeError, "a verdict is about several texts"),
    ],
)
def test_what_is_refused(call, kind, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=message) as error:
        call()
    assert "--" not in str(error.value)


def test_models_are_judged_when_a_filter_is_made(tmp_path):
    (tmp_path / "m.ftz").write_text("no model")
    with pytest.raises(WvError, match=r"m\.ftz"):
        wv_cli.Filter(language=f"{tmp_path / 'm.ftz'}:en>=0.5")
    with pytest.raises(UsageError, match="has no label 'god'; labels like it: "):
        wv_cli.Filter({"classifier": [f"{MODEL}:god>=0.5"]})
    assert os.listdir(tmp_path) == ["m.ftz"]


def test_texts_that_are_no_utf8():
    found = wv_cli.Filter(words="1..")([b"caf\xe9", b"caf\xc3\xa9", "caf\udce9"])
    assert found.reason.tolist() == [NOT_UTF8, None, None] and found.keep.tolist() == [False, True, True]
