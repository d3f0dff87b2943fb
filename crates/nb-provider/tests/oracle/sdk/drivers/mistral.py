"""Mistral AI."""

import functools

import httpx2
import pydantic
from mistralai.client import Mistral, errors, models

import answers
import checks
import conversation
from drivers import openai as shared


@functools.cache
def client_of(key, address):
    return Mistral(api_key=key, server_url=address)


def ask(question):
    settings = conversation.given(question["settings"])
    client = client_of(question["key"], question["address"])
    asked = {"model": question["model"], "messages": messages(question["chat"])}
    asked |= {key: value for key, value in settings.items() if key != "stream"}
    if question["chat"]["tools"]:
        asked["tools"] = [{"type": "function", "function": tool} for tool in question["chat"]["tools"]]
    failures = (errors.MistralError, pydantic.ValidationError, httpx2.HTTPError)
    read = stream if question["stream"] else whole
    return answers.reading(lambda answer: read(answer, client, asked), failures)


def messages(chat):
    """As for OpenAI, but a result repeats the name of its tool."""
    found = shared.messages(chat)
    names = {}
    for kind, content in conversation.turns(chat):
        if kind == "results":
            names |= {result["id"]: result["name"] for result in content}
    return [
        message | {"name": names[message["tool_call_id"]]} if message["role"] == "tool" else message
        for message in found
    ]


def stream(answer, client, asked):
    for event in client.chat.stream(**asked):
        usage(answer, event.data.usage)
        for choice in event.data.choices:
            answer.stop = choice.finish_reason or answer.stop
            said(answer, choice.delta)


def whole(answer, client, asked):
    completion = client.chat.complete(**asked)
    usage(answer, completion.usage)
    answer.stop = completion.choices[0].finish_reason
    said(answer, completion.choices[0].message)


def said(answer, message):
    if isinstance(message.content, str):
        answer.text += message.content
    for part in message.content if isinstance(message.content, list) else []:
        if isinstance(part, models.TextChunk):
            answer.text += part.text
        elif isinstance(part, models.ThinkChunk):
            answer.thinking += "".join(thought.text for thought in part.thinking)
    for call in message.tool_calls or []:
        told = call.function.arguments
        answer.call(call.function.name, answers.arguments(told) if isinstance(told, str) else told, call.id)


def usage(answer, told):
    if told:
        more = told.model_extra or {}
        cached = (more.get("prompt_tokens_details") or {}).get("cached_tokens")
        answer.tokens(told.prompt_tokens, told.completion_tokens, cached or more.get("num_cached_tokens"))


def check(question):
    model = models.ChatCompletionStreamRequest if question["stream"] else models.ChatCompletionRequest
    return checks.checked(model, question["body"])
