"""What pydantic says of a body."""

import enum
import typing

import pydantic


def strict(type_, body):
    """The problems of a body with a dictionary's type; a key that the type does not have is one, at any depth."""
    # Pydantic takes settings for dictionaries only inside of another type.
    adapter = pydantic.TypeAdapter(list[type_], config=pydantic.ConfigDict(extra="forbid"))
    found = problems(adapter, [body])
    extra = {place[1] for place, problem in found if problem == "extra_forbidden" and len(place) == 2}
    if extra:
        # A key too many must not hide what would be found after it.
        found += problems(adapter, [{key: value for key, value in body.items() if key not in extra}])
    return [told(place[1:], problem) for place, problem in dict.fromkeys(found)]


def checked(model, value, at=""):
    """The problems of a value with a model, or else the keys that the model does not have and the values that it changed."""
    adapter = pydantic.TypeAdapter(model)
    found = problems(adapter, value)
    if found:
        return [told(place, problem, at) for place, problem in found]
    return lost(value, adapter.validate_python(value), at)


def problems(adapter, value):
    """The problems of a value with a type, each with its place."""
    try:
        drain(adapter.validate_python(value))
    except pydantic.ValidationError as error:
        return [(found["loc"], found["type"]) for found in error.errors()]
    return []


def told(place, problem, at=""):
    return {"at": at + "".join(f"/{part}" for part in place), "problem": problem}


def drain(value):
    """Goes through everything: what is declared as iterable is checked only when somebody takes it."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, typing.Iterable) and not isinstance(value, (str, bytes, pydantic.BaseModel)):
        for item in value:
            drain(item)


def lost(value, read, at):
    """What of a value is not in what was read of it."""
    found = []
    if isinstance(value, dict) and isinstance(read, pydantic.BaseModel):
        names = {field.alias or name: name for name, field in type(read).model_fields.items()}
        for key, item in value.items():
            if key in names:
                found += lost(item, getattr(read, names[key]), f"{at}/{key}")
            else:
                found.append({"at": f"{at}/{key}", "problem": "unknown key"})
    elif isinstance(value, dict) and isinstance(read, dict):
        for key, item in value.items():
            found += lost(item, read.get(key), f"{at}/{key}")
    elif isinstance(value, list) and isinstance(read, (list, tuple)) and len(value) == len(read):
        for number, (item, item_read) in enumerate(zip(value, read)):
            found += lost(item, item_read, f"{at}/{number}")
    elif isinstance(read, enum.Enum):
        # They are read in letters of any size.
        if str(value).upper() != str(read.value).upper():
            found.append({"at": at, "problem": f"read as {read.value}"})
    elif value != read:
        found.append({"at": at, "problem": f"read as {read!r}"})
    return found


def of_function(function, without=()):
    """A model of the arguments that a function takes by name."""
    hints = typing.get_type_hints(function, include_extras=True)
    fields = {name: (hint, None) for name, hint in hints.items() if name not in ("return", *without)}
    settings = pydantic.ConfigDict(extra="forbid", protected_namespaces=())
    return pydantic.create_model(function.__name__, __config__=settings, **fields)
