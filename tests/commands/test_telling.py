"""A Python call tells the logger "wv_cli" what it tells `log`, and draws a bar where one is asked for."""

import logging

import wv_cli

LINES = ["the cat sat on the mat", "a dog sat on a log"] * 20
OPTIONS = {"dim": 4, "epochs": 1, "min_count": 1, "meta": False}


def test_the_logger_gets_what_log_gets(tmp_path, caplog, capfd):
    told = []
    with caplog.at_level(logging.INFO, "wv_cli"):
        wv_cli.train(
            sentences=LINES, output=tmp_path / "v.vec", log=lambda text, **facts: told.append((text, facts)), **OPTIONS
        )
    records = [record for record in caplog.records if record.name == "wv_cli"]
    assert told and [(record.getMessage(), record.facts) for record in records] == told
    assert capfd.readouterr() == ("", "")
    assert any(isinstance(each, logging.NullHandler) for each in logging.getLogger("wv_cli").handlers)


def test_a_bar_is_drawn_where_it_is_asked_for(tmp_path, capfd):
    seen = []
    wv_cli.train(sentences=LINES, output=tmp_path / "v.vec", progress=True, on_progress=seen.append, **OPTIONS)
    out, err = capfd.readouterr()
    assert out == "" and "100%" in err and "epoch=1/1" in err and seen[-1].fraction == 1
