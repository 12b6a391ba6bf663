"""Tables of a pipeline file as values of Python, and as TOML."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any


@dataclass
class SpecTable:
    """A table of a pipeline file."""

    def to_dict(self) -> dict[str, Any]:
        """The keys that are set, as the pipeline file would have them."""
        pairs = ((field.name.rstrip("_"), getattr(self, field.name)) for field in fields(self))
        return {key: value for key, value in pairs if value is not None}


def to_toml(table: Mapping[str, Any]) -> str:
    """A table as the text of a TOML file: one key a line, tables inside written inline."""
    pairs = _pairs(table, "")
    return "".join(f"{key} = {value}\n" for key, value in pairs)


def inline(value: Any, path: str = "") -> str:  # noqa: ANN401
    """A value as TOML on one line. `path` is its place, for messages."""
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        value = value.tolist()
    if isinstance(value, SpecTable):
        value = value.to_dict()
    if isinstance(value, PurePath):
        value = str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {item}" for key, item in _pairs(value, path)) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        items = (inline(item, f"{path}[{at}]") for at, item in enumerate(value))
        return "[" + ", ".join(items) + "]"
    kind = type(value).__name__
    raise TypeError(f"{path or 'the value'}: a pipeline has no values of type {kind}, such as {value!r}")


def _pairs(table: Mapping[str, Any], path: str) -> list[tuple[str, str]]:
    pairs = []
    for key, value in table.items():
        if not isinstance(key, str):
            raise TypeError(f"{path + ': ' if path else ''}keys are strings, not {key!r}")
        if value is not None:
            pairs.append((_string(key), inline(value, f"{path}.{key}" if path else key)))
    return pairs


def _string(text: str) -> str:
    # JSON's escapes are TOML's; TOML forbids a raw DEL, which JSON allows.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))
