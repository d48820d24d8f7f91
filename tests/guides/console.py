"""Runs the command lines of README.md and of the guides, and compares what they print with what the text shows.

A block ```console holds commands, each after `$ `, with the lines that a terminal shows after it. All blocks of a
document run in order, in one new folder, each command in a shell of its own. A command that ends with `\\` goes on in
the next line, one with `<<'EOF'` up to the line EOF. It must end with exit code 0. Of what is shown

* a line `...` stands for any number of lines,
* numbers may differ by a tenth or by 0.05, whichever is more; seconds and MB/s are those of a machine, and may be any,
* everything else must be the same, but for the number of blanks.

A block ```console words only asks that half of the words shown occur: for what differs from machine to machine.
A block ```sh is not run; its command lines must be understood. A block ```python with prompts is a doctest.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tests import forked
from wv_cli.cli.program import wv as group

_FENCE = re.compile(r"^```(\w*)[ \t]*(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])([-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?)", re.ASCII)
_TIMED = re.compile(r"\d[\d,.]*(?= s\b| MB/s)")
_RELATIVE, _ABSOLUTE = 0.1, 0.05
_SECONDS = 900


@dataclass(frozen=True)
class Step:
    """A command of a ```console block, as typed, and the lines shown after it; `words`: only words are compared."""

    typed: list[str]
    shown: list[str]
    words: bool

    @property
    def command(self) -> str:
        """What the shell is given."""
        return "\n".join([self.typed[0].removeprefix("$ "), *self.typed[1:]])


@dataclass(frozen=True)
class Result:
    code: int
    lines: list[str]


def blocks(text: str, language: str) -> list[str]:
    """What stands in the fenced blocks of one language."""
    return [body for name, _, body in _FENCE.findall(text) if name == language]


def steps(text: str) -> list[Step]:
    """The commands of a document, in order."""
    return [step for name, mode, body in _FENCE.findall(text) if name == "console" for step in _steps(body, mode)]


def _steps(body: str, mode: str) -> Iterator[Step]:
    lines = body.splitlines()
    assert mode in ("", "words"), f"```console {mode}: the only word is `words`"
    assert lines and lines[0].startswith("$ "), f"a console block begins with `$ COMMAND`, not {lines[:1]}"
    while lines:
        typed = [lines.pop(0)]
        while typed[-1].endswith("\\"):
            typed.append(lines.pop(0))
        document = re.search(r"<<'?(\w+)'?", typed[-1])
        while document and typed[-1] != document[1]:
            typed.append(lines.pop(0))
        count = next((index for index, line in enumerate(lines) if line.startswith("$ ")), len(lines))
        shown, lines = lines[:count], lines[count:]
        yield Step(typed, shown, mode == "words")


def make_path(folder: Path) -> str:
    """A PATH whose `wv` is the program under test, in a folder that is made."""
    folder.mkdir()
    forked.write_program(folder / "wv")
    return f"{folder}:{os.environ['PATH']}"


def run(step: Step, folder: Path, path: str) -> Result:
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        env={**os.environ, "PATH": path, "WV_HISTORY": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    return Result(done.returncode, done.stdout.splitlines())


def problem(step: Step, result: Result) -> str:
    """What is wrong with a run, "" when it is what the text shows."""
    compare = half_the_words if step.words else same_lines
    if not result.code and compare(step.shown, result.lines):
        return ""
    found = f"exit code {result.code}" if result.code else "the output is not what is shown"
    shown, lines = ("\n".join(f"    {line}" for line in each) for each in (step.shown, result.lines))
    return f"{step.typed[0]}\n  {found}; shown:\n{shown}\n  found:\n{lines}"


def check(text: str, folder: Path, path: str) -> list[str]:
    """Runs a document in an empty folder; what is wrong with each command. Ends at the first that fails."""
    found = []
    for step in steps(text):
        result = run(step, folder, path)
        found += [wrong] if (wrong := problem(step, result)) else []
        if result.code:
            break
    return found


def check_python(text: str, folder: Path) -> str:
    """Runs the blocks ```python with prompts `>>>` as doctests, after the commands; what is wrong, "" for nothing."""
    found = "\n".join(body for body in blocks(text, "python") if ">>> " in body)
    if not found:
        return ""
    (folder / "blocks.txt").write_text(found, encoding="utf-8")
    command = [sys.executable, "-P", "-m", "doctest", "blocks.txt"]
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=False).stdout


def same_lines(shown: Sequence[str], found: Sequence[str]) -> bool:
    """Whether lines are those shown, where `...` stands for any number of them."""
    if not shown:
        return not found
    if shown[0].strip() == "...":
        return any(same_lines(shown[1:], found[start:]) for start in range(len(found) + 1))
    return bool(found) and same_line(shown[0], found[0]) and same_lines(shown[1:], found[1:])


def same_line(shown: str, found: str) -> bool:
    """Whether the words are the same, and the numbers nearly."""
    left, right = (_NUMBER.split(_TIMED.sub("0", line)) for line in (shown, found))
    if len(left) != len(right) or any(a.split() != b.split() for a, b in zip(left[::2], right[::2], strict=True)):
        return False
    return all(a == b or _near(a, b) for a, b in zip(left[1::2], right[1::2], strict=True))


def _near(shown: str, found: str) -> bool:
    a, b = (float(number.replace(",", "")) for number in (shown, found))
    return abs(a - b) <= max(_RELATIVE * abs(a), _ABSOLUTE)


def half_the_words(shown: Sequence[str], found: Sequence[str]) -> bool:
    wanted, there = ({*re.findall(r"[^\W\d_]+", " ".join(lines))} for lines in (shown, found))
    return 2 * len(wanted & there) >= len(wanted)


def wv_lines(text: str, *languages: str) -> list[list[str]]:
    """The arguments of every `wv ...` in blocks of these languages, and after `$ ` in console blocks; pipelines are
    taken apart and comments left out. A command with `||` may be wrong on purpose."""
    code = [line for language in languages for body in blocks(text, language) for line in _joined(body)]
    typed = [line for step in steps(text) if "||" not in step.command for line in _joined(step.command)]
    return [found for line in [*code, *typed] for found in commands_of(line)]


def _joined(code: str) -> list[str]:
    return re.sub(r"\\\n\s*", " ", code).splitlines()


def commands_of(line: str) -> Iterator[list[str]]:
    """The arguments of every `wv ...` of one line of shell or of a Makefile."""
    line = line.partition(" #")[0].replace("$@", "out.vec").replace("$<", "in.txt")
    lexer = shlex.shlex(re.sub(r"(?<=\s)\d>(&\d)?", ">", line), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = [*lexer]
    except ValueError:  # a quote that goes on in the next line
        assert "wv " not in line, f"a quote is open at the end of the line: {line}"
        return
    command: list[str] = []
    redirected = False
    for word in [*words, ";"]:
        if set(word) <= set("<>") or word == ">&":
            redirected = True
        elif set(word) <= set("();|&<>"):
            start = next((index for index, each in enumerate(command) if Path(each).name == "wv"), None)
            if start is not None:
                yield command[start + 1 :]
            command = []
        elif redirected:
            redirected = False
        else:
            command.append(word)


def understand(arguments: list[str]) -> None:
    """Names of commands and options exist and values have the right type; nothing is run. Raises click.UsageError."""
    context = click.Context(group, info_name="wv", **group.context_settings)
    command: click.Command = group
    name = "wv"
    if not arguments:  # the list of commands
        return
    try:
        while isinstance(command, click.Group) and arguments and not arguments[0].startswith("-"):
            name, found, arguments = command.resolve_command(context, arguments)
            assert found is not None
            command = found
        command.make_context(name, list(arguments), parent=context)
    except click.exceptions.Exit:  # of --help
        return


def rewrite(text: str, results: list[Result]) -> str:
    """The document with the output of a run in its blocks. A block that has a line `...` stays."""
    rest = iter(results)

    def block(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        lines = []
        for step in _steps(match[3], match[2]):
            result = next(rest, None)
            shown = step.shown if result is None or "..." in [line.strip() for line in step.shown] else result.lines
            lines += [*step.typed, *shown]
        return match[0][: match.start(3) - match.start()] + "".join(f"{line}\n" for line in lines) + "```"

    return _FENCE.sub(block, text)
