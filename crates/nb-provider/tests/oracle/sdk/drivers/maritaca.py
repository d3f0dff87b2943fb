"""Maritaca AI. Its package pulls a tokenizer and the programs behind it, so its interface is loaded by itself. With tools,
OpenAI's SDK is the one that its documentation names."""

import importlib.metadata
import importlib.util
import inspect

import answers
import checks
import conversation
from drivers import openai as shared


def interface():
    path = importlib.metadata.distribution("maritalk").locate_file("maritalk/resources/api.py")
    spec = importlib.util.spec_from_file_location("maritalk_api", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


API = interface()


def ask(question):
    settings = conversation.given(question["settings"])
    if question["chat"]["tools"]:
        return shared.request(question, question["address"] + "/api", settings)
    known = inspect.signature(API.MariTalk.generate).parameters
    asked = {key: value for key, value in settings.items() if key in known and key != "stream"}
    client = API.MariTalk(question["key"], api_url=question["address"] + "/api", model=question["model"])

    def read(answer):
        told = client.generate(messages(question["chat"]), stream=question["stream"], **asked)
        if question["stream"]:
            for event in told:
                answer.text += event["text"]
        else:
            answer.text = told["answer"]
            usage = told.get("usage")
            if usage:
                answer.tokens(usage["prompt_tokens"], usage["completion_tokens"])

    # What fails while it reads has no type of its own.
    return answers.reading(read, Exception)


def messages(chat):
    """There are two roles: a directive is said by the person."""
    found = []
    if chat["directive"] is not None:
        found.append({"role": "user", "content": chat["directive"]})
    for kind, content in conversation.turns(chat):
        role = "user" if kind == "user" else "assistant"
        found.append({"role": role, "content": content if kind == "user" else content["text"]})
    return found


def check(question):
    body = question["body"]
    if "tools" in body:
        return shared.check(question)
    model = checks.of_function(API.MariTalk.generate, without=("return_async_generator",))
    return checks.checked(model, {key: value for key, value in body.items() if key != "model"})
