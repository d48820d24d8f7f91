"""The entry point `wv`, and the one place where errors become messages and exit codes.

0 done; 1 failed; 2 misuse; 3 a gate was missed; 124 out of --max-time; 129 / 130 / 143 ended by SIGHUP / SIGINT /
SIGTERM. A closed pipe is no error.

Has a say in what Ctrl-C does before it imports what takes time: the program itself, the group of commands, is
wv_cli.cli.program.
"""

import os


def _interrupted_at_once(number: int, frame: object) -> None:
    """While the program is being loaded there is nothing to clear away, and an exception would end in a traceback."""
    os.write(2, b"wv: interrupted\n")
    os._exit(128 + number)


try:
    import atexit
    import gc
    import signal
    import sys

    def _catch_early() -> None:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupted_at_once)

    if __name__ == "__main__" or sys.argv[0].rpartition("/")[2] == "wv":  # not where somebody imports run()
        _catch_early()
except KeyboardInterrupt:
    _interrupted_at_once(2, None)

# New objects between two searches for garbage: a start makes fewer, and searches were a tenth of it.
_COLLECT_EVERY = 200_000
# Options that make a command take less memory when they are lowered.
_LESS_IS_LESS = ("--dim", "--max-vocab", "--buckets", "--cells", "--expansion", "--limit", "--memory", "--threads")
# Of the dynamic linker's message about a library, and of Python's about a module, for which there is no memory.
_NO_ROOM_TO_LOAD = (
    "failed to map segment",
    "cannot allocate memory",
    "cannot map zero-fill pages",
    "<built-in function compile> returned NULL without setting an exception",
)
# The exit code, once it is known.
_ended: list[int] = []
_HOW: dict[int, str] = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def _fail(speaker: str, message: str, code: int, as_json: bool = False) -> int:
    import contextlib

    with contextlib.suppress(OSError):  # the terminal or the pipe may be gone; the code says it all the same
        print(_line(speaker, message, as_json, event="error", exit_code=code), file=sys.stderr)  # noqa: T201
    return code


def _note(speaker: str, message: str, as_json: bool) -> None:
    from wv_cli.cli.bar import above_bar

    with above_bar():
        print(_line(speaker, f"note: {message}", as_json, event="message"), file=sys.stderr)  # noqa: T201


def _line(speaker: str, message: str, as_json: bool, **facts: object) -> str:
    from wv_cli.io.remote import show_names

    message = show_names(message)
    if not as_json:
        return f"{speaker}: {message}"
    from wv_cli.io.json_text import to_json

    return to_json({**facts, "command": speaker, "message": message})


def _speaker(argv: list[str]) -> str:
    """`wv train` once the subcommand is known, so that a message says who speaks."""
    from wv_cli.cli import COMMANDS, COMPAT

    return next((f"wv {word}" for word in argv if word in COMMANDS or word in COMPAT), "wv")


def _out_of_memory(asked: str, flags: set[str]) -> str:
    """How much was asked, where NumPy says it, and the options of the command that make it less."""
    from wv_cli.io.host import is_limited

    lower = " or ".join(flag for flag in _LESS_IS_LESS if flag in flags)
    ways = [f"lower {lower}"] * bool(lower) + [f"raise {flag}" for flag in ("--min-count",) if flag in flags]
    ways += ["raise the limit on memory (ulimit -v)"] * is_limited()
    what = f": {asked[:1].lower()}{asked[1:]}" if asked else ""
    return f"out of memory{what}" + (f"; {', or '.join(ways)}" if ways else "")


def _release_frames(error: MemoryError) -> None:
    """Gives back what the functions that the error came through still hold: the message about it needs memory, too."""
    import contextlib

    step = error.__traceback__
    while step is not None:
        with contextlib.suppress(RuntimeError):  # it runs on
            step.tb_frame.clear()
        step = step.tb_next


def _known_failure(error: OSError) -> str:
    """The message about a name or folder that no reader or writer has worded; "" for another failure."""
    import errno

    from wv_cli.errors import escape_for_terminal, reason

    if error.errno == errno.ENOENT and error.filename is None:
        return "the current folder has been removed; change to another one"
    if error.errno in (errno.EIO, errno.ESTALE) and error.filename is None:
        return f"standard input or an open file cannot be read: {reason(error)}; look for its disk in the system's log"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "too many open files; raise the limit on open files (ulimit -n)"
    if error.errno in (errno.ENAMETOOLONG, errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
        return f"{escape_for_terminal(str(error.filename))}: {reason(error)}" if error.filename is not None else ""
    return ""


def run(argv: list[str]) -> int:
    """Runs one command line and returns its exit code."""
    import errno
    import functools
    import warnings

    import click

    from wv_cli.cli.program import ClosedPipe, Stopped, caught_signals, wv
    from wv_cli.errors import WvError
    from wv_cli.io.mapped import require_unchanged
    from wv_cli.io.pipes import kept_pipes

    speaker = _speaker(argv)
    debug = "--debug" in argv[: argv.index(speaker[3:])] if speaker != "wv" else "--debug" in argv
    as_json = "--json" in argv[: argv.index("--") if "--" in argv else None]
    fail = functools.partial(_fail, as_json=as_json)
    speaking = [speaker]  # the subcommand that click comes to takes its place (help.Command)
    # The library warns of what is odd but does not stop it (errors.FormatWarning).
    warnings.showwarning = lambda message, *_, **__: _note(speaking[0], str(message), as_json)
    try:
        with caught_signals(), kept_pipes():
            try:
                result = wv.main(args=argv, prog_name="wv", standalone_mode=False, obj=speaking)
            except (ArithmeticError, LookupError, TypeError, ValueError):
                require_unchanged()  # what is read twice of a changed file may differ, and this says why
                raise
            require_unchanged()
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (BrokenPipeError, ClosedPipe):
        return 0  # the reader (head, less) has seen enough
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.UsageError as error:
        from wv_cli.cli.mistakes import message

        return fail(error.ctx.command_path if error.ctx else speaking[0], message(error), 2)
    except click.ClickException as error:
        return fail(speaking[0], error.format_message(), 1)
    except click.Abort:
        return fail(speaking[0], "interrupted", 128 + signal.SIGINT)
    except Stopped as stopped:
        return fail(speaking[0], _HOW[stopped.number], 128 + stopped.number)
    except WvError as error:
        if not str(error):
            return error.exit_code
        if debug:
            raise
        return fail(speaking[0], str(error), error.exit_code)
    except (OSError, MemoryError, ValueError, RuntimeError, ImportError, SystemError) as error:
        if debug:
            raise
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:
            what = (error.strerror or "no space left").lower()
            return fail(speaking[0], f"standard output: cannot write: {what}; make room and run it again", 1)
        if isinstance(error, OSError) and error.errno == errno.EBADF and error.filename is None:
            return fail(speaking[0], "standard input or output is closed; open it or name a file", 1)
        if isinstance(error, OSError) and (known := _known_failure(error)):
            return fail(speaking[0], known, 1)
        text = str(error)
        if isinstance(error, RuntimeError):
            from wv_cli.io.threads import NO_THREAD, no_thread_message

            if NO_THREAD not in text:
                raise
            text = no_thread_message()
        if isinstance(error, ImportError) and error.name == "wv_cli":
            from wv_cli.errors import NOT_BUILT

            return fail(speaking[0], NOT_BUILT, 1)
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            error, text = MemoryError(), ""
        if isinstance(error, (ImportError, SystemError)):
            if not any(sign in text for sign in _NO_ROOM_TO_LOAD):
                raise
            error, text = MemoryError(), ""
        if isinstance(error, MemoryError):
            _release_frames(error)
            try:
                text = _out_of_memory(text, wv.flags(speaking[0]))
                return fail(speaking[0], f"{text} (run `wv --debug ...` to see where)", 1)
            except MemoryError:
                os.write(2, b"wv: out of memory\n")
                return 1
        return fail(speaking[0], f"{text} (run `wv --debug ...` to see where)", 1)


def _words(argv: list[str]) -> list[str]:
    """The words after `wv`; called by the name of a program that wv replaces (`wv links`), those that mean the same."""
    from wv_cli.cli import PROGRAMS

    return [*PROGRAMS.get(argv[0].rpartition("/")[2], ()), *argv[1:]]


def _works(argv: list[str]) -> bool:
    """Whether the words ask for more than help or the version."""
    return _speaker(argv) not in ("wv", "wv help") and not {"-h", "--help", "--help-all"}.intersection(argv)


def _has_products(argv: list[str]) -> bool:
    """Whether the command multiplies matrices large enough for threads: those of an encoder are."""
    from wv_cli.cli import WITH_PRODUCTS

    return _speaker(argv).removeprefix("wv ") in WITH_PRODUCTS or any(word.startswith("--encoder") for word in argv)


def _leave() -> None:
    """Ends the process without freeing its objects one by one, which is a tenth of a short run."""
    if _ended:
        os._exit(_ended[0])


atexit.register(_leave)  # what is registered later is called earlier


def main() -> None:
    """Runs the command line of this process and ends it."""
    gc.set_threshold(_COLLECT_EVERY)
    _catch_early()
    from wv_cli.cli import streams
    from wv_cli.io import launcher

    streams.prepare()
    argv = _words(sys.argv)
    if not _has_products(argv):
        launcher.start_no_threads_for_products()
    problem = launcher.prepare_for_little_memory()
    code = _fail(_speaker(argv), problem, 1) if problem and _works(argv) else run(argv)
    # All is done and said: nobody is left who could make a message of it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # What a full disk or a closed pipe or terminal did not take must not fail again, with a traceback, at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    _ended.append(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
