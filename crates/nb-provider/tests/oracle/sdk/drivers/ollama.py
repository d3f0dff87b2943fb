"""Ollama."""

import functools

import ollama
from ollama import _types as types

import answers
import checks
import conversation


@functools.cache
def client_of(address):
    return ollama.Client(host=address)


def ask(question):
    settings = conversation.given(question["settings"])
    client = client_of(question["address"])
    known = types.ChatRequest.model_fields
    asked = {"model": question["model"], "messages": messages(question["chat"])}
    asked |= {key: value for key, value in settings.items() if key in known and key != "stream"}
    if question["chat"]["tools"]:
        asked["tools"] = [{"type": "function", "function": tool} for tool in question["chat"]["tools"]]

    def read(answer):
        if question["stream"]:
            chunks = client.chat(stream=True, **asked)
        else:
            chunks = [client.chat(**asked)]
        for chunk in chunks:
            take(answer, chunk)

    return answers.reading(read, ollama.ResponseError, lambda error: error.error)


def messages(chat):
    found = []
    if chat["directive"] is not None:
        found.append({"role": "system", "content": chat["directive"]})
    for kind, content in conversation.turns(chat):
        if kind == "user":
            found.append({"role": "user", "content": content})
        elif kind == "model":
            message = {"role": "assistant", "content": content["text"]}
            if content["calls"]:
                message["tool_calls"] = [
                    {"function": {"name": call["name"], "arguments": call["arguments"]}} for call in content["calls"]
                ]
            found.append(message)
        else:
            for result in content:
                found.append({"role": "tool", "tool_name": result["name"], "content": conversation.told(result)})
    return found


def take(answer, chunk):
    answer.thinking += chunk.message.thinking or ""
    answer.text += chunk.message.content or ""
    for call in chunk.message.tool_calls or []:
        answer.call(call.function.name, dict(call.function.arguments))
    if chunk.done:
        answer.stop = chunk.done_reason
        answer.tokens(chunk.prompt_eval_count or 0, chunk.eval_count or 0)


def check(question):
    body = question["body"]
    found = checks.checked(types.ChatRequest, body)
    # It takes messages and options of any form.
    found += checks.checked(list[types.Message], body["messages"], "/messages")
    return found + checks.checked(types.Options, body.get("options", {}), "/options")
