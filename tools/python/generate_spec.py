"""Writes package/cullet/spec.py from the JSON Schema of pipeline files.

python generate_spec.py SCHEMA.json          # `cullet schema` prints it
python generate_spec.py SCHEMA.json --check  # fails if the file would change
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent / "package" / "cullet" / "spec.py"

HEAD = '''"""Pipelines as typed dataclasses: one a table of the pipeline file.

`tools/python/generate_spec.py` writes this file from `cullet schema`. Do not edit it. `None` leaves a key out, so that
its default holds. Quantities are numbers in SI units, or strings with a unit such as "2 GPa".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Union

from ._table import SpecTable

Quantity = Union[float, str]
"""A number in SI units, or a string with a unit such as "2 GPa"."""
'''


def camel(name: str) -> str:
    """`half_space` as `HalfSpace`."""
    return "".join(part.capitalize() for part in re.split(r"[_-]", name))


def is_quantity(schema: dict[str, Any]) -> bool:
    """Whether values are numbers or strings with a unit."""
    return schema.get("type") == ["number", "string"]


def python_name(key: str) -> str:
    """A key as a name of Python."""
    return f"{key}_" if keyword.iskeyword(key) else key


class Generator:
    """Texts of the classes of a schema."""

    def __init__(self, schema: dict[str, Any]) -> None:
        """Takes the schema that `cullet schema` prints."""
        self.schema = schema
        self.defs: dict[str, dict[str, Any]] = schema["$defs"]
        self.names: list[str] = ["Quantity"]

    def annotation(self, schema: dict[str, Any]) -> str:
        """Type of the values of a schema."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return "Quantity" if is_quantity(self.defs[name]) else name
        kind = schema.get("type")
        if is_quantity(schema):
            return "Quantity"
        if kind == "array":
            return f"Sequence[{self.annotation(schema['items'])}]"
        if kind == "object":
            return "Mapping[str, Any]"
        plain = {"boolean": "bool", "integer": "int", "number": "float", "string": "str"}
        assert isinstance(kind, str) and kind in plain, schema
        return plain[kind]

    @staticmethod
    def docstring(text: str, indent: str) -> str:
        """A docstring of lines of at most 120 columns."""
        paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
        wrapped = [textwrap.fill(part, 113, break_long_words=False, break_on_hyphens=False) for part in paragraphs]
        body = textwrap.indent("\n\n".join(wrapped), indent).strip()
        body = body.replace("\\", "\\\\")
        if "\n" in body or len(body) > 108 or body.endswith('"'):
            return f'{indent}"""{body}\n{indent}"""'
        return f'{indent}"""{body}"""'

    def table(self, name: str, schema: dict[str, Any]) -> str:
        """A dataclass."""
        self.names.append(name)
        lines = ["@dataclass", f"class {name}(SpecTable):", self.docstring(schema["description"], "    "), ""]
        properties: dict[str, dict[str, Any]] = schema.get("properties", {})
        required = set(schema.get("required", []))
        keys = sorted(properties, key=lambda key: ("const" in properties[key], key not in required))
        for key in keys:
            value = properties[key]
            if "const" in value:
                word = json.dumps(value["const"])
                lines.append(f"    {python_name(key)}: Literal[{word}] = field(default={word}, init=False)")
                continue
            annotation = self.annotation(value)
            typed = annotation if key in required else f"{annotation} | None = None"
            lines.append(f"    {python_name(key)}: {typed}")
            description = value.get("description", "")
            default = value.get("default")
            if isinstance(default, (bool, int, float, str)):
                description += f" Default: {json.dumps(default)}."
            lines += [self.docstring(description, "    "), ""]
        return "\n".join(lines).rstrip()

    def choice(self, name: str, schema: dict[str, Any]) -> str:
        """A type of several words, or of several tables that `type` tells apart."""
        options = schema["oneOf"]
        if all("const" in option for option in options):
            self.names.append(name)
            words = ", ".join(json.dumps(option["const"]) for option in options)
            said = [f"- `{option['const']}`: {' '.join(option.get('description', '').split())}" for option in options]
            said = [line.removesuffix(": ") for line in said]
            wrapped = [textwrap.fill(line, 116, subsequent_indent="  ") for line in said]
            text = " ".join(schema["description"].split()) + "\n\n" + "\n".join(wrapped)
            return f'{name} = Literal[{words}]\n"""{text}\n"""'
        texts = []
        members = []
        for option in options:
            member = camel(option["properties"]["type"]["const"]) + name
            members.append(member)
            texts.append(self.table(member, option))
        self.names.append(name)
        union = f"{name} = Union[{', '.join(members)}]\n" + self.docstring(schema["description"], "")
        return "\n\n\n".join([*texts, union])

    def text(self) -> str:
        """The whole file."""
        parts = []
        for name, schema in self.defs.items():
            if "oneOf" in schema:
                parts.append(self.choice(name, schema))
            elif "properties" in schema:
                parts.append(self.table(name, schema))
            else:
                assert is_quantity(schema), name
        parts.append(self.table("Pipeline", self.schema))
        names = "".join(f"    {json.dumps(name)},\n" for name in sorted(self.names))
        parts.append(f"__all__ = [\n{names}]")
        return HEAD + "\n\n" + "\n\n\n".join(parts) + "\n"


def formatted(text: str) -> str:
    """The text as `ruff format` leaves it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Writes or checks the file."""
    schema = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    text = formatted(Generator(schema).text())
    if sys.argv[2:] != ["--check"]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET} is not what the schema says; run generate_spec.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
