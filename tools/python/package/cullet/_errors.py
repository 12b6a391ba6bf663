"""Exceptions, one a way in which the program ends."""

from __future__ import annotations


class Error(Exception):
    """The program `cullet` did not finish. The message is the program's own."""

    exit_code: int = 1
    """Exit code of the program."""


class Failed(Error):
    """A run failed, a file is damaged, or the program ended unexpectedly (exit code 1, or a signal)."""


class BadInput(Error):
    """The pipeline, the store, the mesh or an option is wrong (exit code 2)."""

    exit_code = 2


class Interrupted(Error):
    """The program was interrupted from outside (exit code 130); a simulation can be resumed."""

    exit_code = 130


class ProgramNotFound(Error):
    """There is no program `cullet` to run; the message says where it was looked for."""


def by_exit_code(code: int, message: str) -> Error:
    """The exception for an exit code of the program."""
    kinds: dict[int, type[Error]] = {2: BadInput, 130: Interrupted}
    error = kinds.get(code, Failed)(message)
    error.exit_code = code
    return error
