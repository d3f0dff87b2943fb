"""OpenAI."""

import functools
import json

import openai
from openai.types.chat import completion_create_params as params

import answers
import checks
import conversation


@functools.cache
def client_of(key, base_url):
    return openai.OpenAI(api_key=key, base_url=base_url, max_retries=0)


def ask(question):
    settings = conversation.given(question["settings"])
    if question["stream"]:
        # The SDK asks for tokens only when it is told to.
        settings.setdefault("stream_options", {"include_usage": True})
    return request(question, question["address"] + "/v1", settings)


def request(question, base_url, settings):
    """By every provider of this shape. What the SDK has no name for goes beside."""
    client = client_of(question["key"], base_url)
    known = params.CompletionCreateParamsBase.__annotations__
    beside = {key: value for key, value in settings.items() if key not in known and key != "stream"}
    named = {key: value for key, value in settings.items() if key in known}
    asked = {"model": question["model"], "messages": messages(question["chat"]), **named}
    if question["chat"]["tools"]:
        asked["tools"] = [{"type": "function", "function": tool} for tool in question["chat"]["tools"]]
    if beside:
        asked["extra_body"] = beside
    if question["stream"]:
        return answers.reading(lambda answer: stream(answer, client, asked), openai.APIError, words)
    return answers.reading(lambda answer: whole(answer, client, asked), openai.APIError, words)


def words(error):
    return error.message


def messages(chat):
    found = []
    if chat["directive"] is not None:
        found.append({"role": "system", "content": chat["directive"]})
    for kind, content in conversation.turns(chat):
        if kind == "user":
            found.append({"role": "user", "content": content})
        elif kind == "model":
            found.append(model(content))
        else:
            for result in content:
                text = conversation.told(result)
                found.append({"role": "tool", "tool_call_id": result["id"], "content": text})
    return found


def model(content):
    message = {"role": "assistant", "content": content["text"] or None}
    if content["calls"]:
        message["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": text(call)}}
            for call in content["calls"]
        ]
    return message


def text(call):
    return json.dumps(call["arguments"], ensure_ascii=False, separators=(",", ":"))


def stream(answer, client, asked):
    pieces = {}
    for chunk in client.chat.completions.create(stream=True, **asked):
        usage(answer, chunk.usage)
        for choice in chunk.choices:
            answer.stop = choice.finish_reason or answer.stop
            said(answer, choice.delta)
            for piece in choice.delta.tool_calls or []:
                call = pieces.setdefault(piece.index, {"id": None, "name": "", "arguments": ""})
                call["id"] = piece.id or call["id"]
                call["name"] += piece.function.name or ""
                call["arguments"] += piece.function.arguments or ""
    for call in pieces.values():
        answer.call(call["name"], answers.arguments(call["arguments"]), call["id"])


def whole(answer, client, asked):
    completion = client.chat.completions.create(**asked)
    usage(answer, completion.usage)
    choice = completion.choices[0]
    answer.stop = choice.finish_reason
    said(answer, choice.message)
    for call in choice.message.tool_calls or []:
        answer.call(call.function.name, answers.arguments(call.function.arguments), call.id)


def said(answer, message):
    answer.text += (message.content or "") + (message.refusal or "")
    # Servers that imitate OpenAI tell thoughts so.
    answer.thinking += (message.model_extra or {}).get("reasoning_content") or ""


def usage(answer, told):
    if told is not None:
        details = told.prompt_tokens_details
        answer.tokens(told.prompt_tokens, told.completion_tokens, details.cached_tokens if details else 0)


def check(question):
    streaming, whole = params.CompletionCreateParamsStreaming, params.CompletionCreateParamsNonStreaming
    return checks.strict(streaming if question["stream"] else whole, question["body"])
