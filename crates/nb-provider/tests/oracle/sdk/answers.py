"""What an SDK made of an answer, in the words that all of them share."""

import json


class Answer:
    """Text, thoughts and calls as they came; a failure keeps what came before it."""

    def __init__(self):
        self.text = ""
        self.thinking = ""
        self.calls = []
        self.stop = None
        self.usage = None
        self.error = None

    def call(self, name, arguments, id=None):
        self.calls.append({"id": id, "name": name, "arguments": arguments})

    def tokens(self, input, output, cached=0):
        self.usage = {"input": int(input), "output": int(output), "cached": int(cached or 0)}


def reading(read, failures, words=str):
    """What `read` puts into an answer, and the words of the failure that ends it."""
    answer = Answer()
    try:
        read(answer)
    except failures as error:
        answer.error = words(error)
    return vars(answer)


def arguments(text):
    """The arguments of a call that are a JSON text; one that cannot be read stays a text."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text
