"""Walks through a conversation of a case."""


def given(settings):
    """The settings without those that are null, at any depth: null is what nobody has set."""
    if isinstance(settings, dict):
        kept = {key: given(value) for key, value in settings.items() if value is not None}
        return {key: value for key, value in kept.items() if value != {} or settings[key] == {}}
    return settings


def turns(chat):
    """Each turn as its kind and its content: ("user", text), ("model", {text, calls}), ("results", [...])."""
    for turn in chat["turns"]:
        [(kind, content)] = turn.items()
        if kind == "model":
            content = {"text": content["text"], "calls": content.get("calls", [])}
        yield kind, content


def told(result):
    """The content of a result, for providers that have no mark for one that failed."""
    return "Error: " + result["content"] if result["is_error"] else result["content"]


def as_object(result):
    """The content of a result, for providers that take an object."""
    return {"error": result["content"]} if result["is_error"] else {"result": result["content"]}
