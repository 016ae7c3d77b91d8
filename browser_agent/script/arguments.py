"""A task's arguments: read by its signature, stored as JSON, and read back to equal values."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError

from browser_agent.errors import WrongArguments, nearest
from browser_agent.script.tasks import Task


def parse_arguments(of: Task[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Read a task's arguments by its signature, from text (the command line) or values, and add the defaults.

    Raises:
        WrongArguments: some are unknown, missing or of the wrong type; the message lists all of them.
    """
    parsed: dict[str, Any] = {}
    wrong = [
        f"{name}: there is no such argument{nearest(name, of.parameters)}"
        for name in given
        if name not in of.parameters
    ]
    for name, parameter in of.signature.parameters.items():
        if name in given:
            try:
                parsed[name] = _read(of.parameters[name], given[name])
            except ValidationError as error:
                wrong += [f"{_path(name, part['loc'])}: {_why(part)}" for part in error.errors(include_url=False)]
        elif parameter.default is parameter.empty:
            wrong.append(f"{name}: is missing")
        else:
            parsed[name] = parameter.default
    if wrong:
        raise WrongArguments(f"{of} can't take these arguments. {'; '.join(wrong)}.")
    return parsed


def _read(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Validate a value; text that isn't valid as it stands is tried as JSON, as for a list on the command line."""
    try:
        return adapter.validate_python(value)
    except ValidationError:
        if not isinstance(value, str):
            raise
        try:
            return adapter.validate_json(value)
        except ValidationError as error:
            if any(part["type"] == "json_invalid" for part in error.errors(include_url=False)):
                return adapter.validate_python(value)
            raise


_FORMS = {"date_": "YYYY-MM-DD", "datetime_": "YYYY-MM-DDTHH:MM"}


def _why(part: ErrorDetails) -> str:
    """What is wrong with an argument. For a date it is the expected form: pydantic's message describes its parser."""
    form = next((form for kind, form in _FORMS.items() if part["type"].startswith(kind)), None)
    return f"{part['input']!r} is not of the form {form}" if form else part["msg"]


def _path(name: str, inside: tuple[int | str, ...]) -> str:
    return ".".join([name, *(str(part) for part in inside)])


def dump_arguments(
    of: Task[..., Any], arguments: Mapping[str, Any], vault: MutableMapping[str, str] | None = None
) -> str:
    """Write parsed arguments as JSON that `load_arguments` reads back to equal values.

    Args:
        of: the task.
        arguments: name -> value.
        vault: receives the values of secrets, by name; the JSON holds only their names.

    Raises:
        WrongArguments: JSON can't hold one of them, such as pydantic's SecretStr (it would be stored masked) or a
            `Secret` without a vault.
    """
    stored: dict[str, Any] = {}
    for name, value in arguments.items():
        adapter = of.parameters[name]
        try:
            text = adapter.dump_json(value, context={"vault": vault})
            if adapter.validate_json(text, context={"vault": vault or {}}) != value:
                raise ValueError("it reads back as another value (declare a secret as browser_agent.Secret)")
        except (PydanticSerializationError, ValueError) as error:
            raise WrongArguments(f"{of}: the argument {name} can't be stored: {error}.") from error
        stored[name] = json.loads(text)
    return json.dumps(stored, ensure_ascii=False)


def load_arguments(of: Task[..., Any], text: str, vault: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read stored arguments back; `vault` holds the values of their secrets, by name.

    Raises:
        WrongArguments: the signature has changed, and they no longer match it.
    """
    wrong: list[str] = []
    loaded: dict[str, Any] = {}
    for name, value in json.loads(text).items():
        try:
            loaded[name] = of.parameters[name].validate_json(json.dumps(value), context={"vault": vault or {}})
        except KeyError:
            wrong.append(f"{name}: this argument no longer exists")
        except ValidationError as error:
            wrong += [f"{_path(name, part['loc'])}: {part['msg']}" for part in error.errors(include_url=False)]
    if wrong:
        raise WrongArguments(f"{of} no longer takes its stored arguments. {'; '.join(wrong)}.")
    return loaded
