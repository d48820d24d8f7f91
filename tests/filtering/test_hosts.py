"""--blocked-hosts: which URLs a list of hosts blocks, and what is no list."""

import pyarrow
import pytest

import wv_cli
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.filtering.hosts import blocked_hosts
from wv_cli.filtering.scorer_options import ScorerOptions

HOSTS = "# a list\n\n0.0.0.0 bad.com  # ads\n*.evil.org\nmünchen.de\nTracker.NET.\n127.0.0.1\n"
URLS = {
    "https://www.bad.com:80/x": False,
    "http://bad.com": False,
    "http://notbad.com": True,
    "http://bad.com.example/": True,
    "http://user:word@EVIL.org./": False,
    "https://a.b.evil.org?q=http://good.com": False,
    "https://good.com/bad.com": True,
    "bad.com/path": False,
    "//bad.com/path": False,
    "http://xn--mnchen-3ya.de/": False,
    "http://www.münchen.de/": False,
    "http://tracker.net#x": False,
    "http://127.0.0.1:8080/": False,
    "http://[::1]/": True,
    "http://[bad/": True,
    "": True,
    None: True,
    3: True,
}


def test_hosts_and_what_is_below_them(tmp_path):
    path = tmp_path / "hosts.txt"
    path.write_text(HOSTS)
    found = blocked_hosts(str(path), ScorerOptions()).score({"url": [*URLS]})
    assert dict(zip(URLS, found.astype(bool).tolist(), strict=True)) == URLS


def test_two_lists_have_names_and_a_table_has_the_field(tmp_path):
    for name, host in (("a.txt", "bad.com"), ("b.txt", "worse.com")):
        (tmp_path / name).write_text(host)
    rules = wv_cli.Filter(blocked_hosts=[f"first={tmp_path}/a.txt", f"second={tmp_path}/b.txt"], url_field="meta.url")
    meta = [{"url": f"http://{host}/"} for host in ("bad.com", "good.com", "worse.com")]
    table = pyarrow.table({"text": ["a", "b", "c"], "meta": meta})
    assert rules.table(table)["text"].to_pylist() == ["b"]
    with pytest.raises(UsageError, match="two rules are called blocked-hosts; give one a name"):
        wv_cli.Filter(blocked_hosts=[f"{tmp_path}/a.txt", f"{tmp_path}/b.txt"])
    with pytest.raises(UsageError, match="url_field needs blocked_hosts"):
        wv_cli.Filter(words="1..", url_field="link")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("good.com\nhttp://bad.com/\n", "hosts.txt:2: expected a host such as example.com, found 'http://bad.com/'"),
        ("a b c", "hosts.txt:1: expected a host such as example.com, found 'a b c'"),
        ("# none\n\n", "hosts.txt: expected a host in each line, found none"),
    ],
)
def test_what_is_no_list(tmp_path, text, problem):
    (tmp_path / "hosts.txt").write_text(text)
    with pytest.raises(BadFile) as error:
        blocked_hosts(str(tmp_path / "hosts.txt"), ScorerOptions())
    assert problem in str(error.value)
    with pytest.raises(WvError, match="no such file"):
        blocked_hosts(str(tmp_path / "none.txt"), ScorerOptions())
