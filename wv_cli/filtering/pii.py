"""Mail and IP addresses of a text, replaced as datatrove 0.10.1 does: by addresses that are nobody's, in turn.

datatrove takes its turns through all texts of a process. Here each text begins with the first address, so that the same
text becomes the same, in whatever order records come.
"""

import ipaddress
import re
from itertools import cycle

MAILS = ("email@example.com", "firstname.lastname@example.org")
ADDRESSES = ("22.214.171.124", "126.96.36.199", "188.8.131.52", "184.108.40.206", "220.127.116.11", "18.104.22.168")

_WORD = "a-zA-Z0-9"  # of ASCII, while \b knows the words of all scripts
_ATOM = rf"[{_WORD}_!#$%&'*+/=?^`{{|}}~-]+"
_LABEL = rf"[{_WORD}](?:[{_WORD}-]*[{_WORD}])?"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_BEFORE = re.compile(rf"\b{_ATOM}(?:\.{_ATOM})*\Z")
_BEHIND = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}|\[(?:{_OCTET}\.){{3}}(?:{_OCTET}|[{_WORD}-]*[{_WORD}]:)\]")
_IP = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
_MAY_BE_IP = re.compile(rb"[0-9]\.[0-9]")
_LOCAL = re.compile(rf"[{_WORD}_!#$%&'*+/=?^`{{|}}~.-]")
_LONGEST = 320  # characters before an @ that may belong to an address: RFC 5321 has 64


def replace_pii(text: bytes) -> bytes:
    """The text with other addresses; the same object where it has none."""
    has_mail, may_have_ip = b"@" in text, _MAY_BE_IP.search(text) is not None
    if not has_mail and not may_have_ip:
        return text
    given = replaced = text.decode("utf-8", "surrogateescape")
    if has_mail:
        replaced = _replace_mails(replaced)
    if may_have_ip:
        turn = cycle(ADDRESSES)
        replaced = _IP.sub(lambda found: next(turn) if _is_public(found[0]) else found[0], replaced)
    return text if replaced == given else replaced.encode("utf-8", "surrogateescape")


def _replace_mails(text: str) -> str:
    """At each @ what stands before and behind it is looked at, so that long texts without blanks cost no more."""
    pieces: list[str] = []
    done, turn = 0, cycle(MAILS)
    at = text.find("@")
    while at >= 0:
        begin = at
        while begin > max(done, at - _LONGEST) and _LOCAL.match(text[begin - 1]):
            begin -= 1
        before = _BEFORE.search(text, begin, at)
        behind = _BEHIND.match(text, at + 1) if before is not None else None
        if before is not None and behind is not None:
            pieces += text[done : before.start()], next(turn)
            done = behind.end()
        at = text.find("@", max(done, at + 1))
    return "".join([*pieces, text[done:]])


def _is_public(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:  # an octet begins with 0
        return False
