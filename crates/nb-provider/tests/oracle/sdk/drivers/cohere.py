"""Cohere, version 1 of its chat."""

import functools

import cohere
import httpx
from cohere.base_client import BaseCohere
from cohere.core.api_error import ApiError

import answers
import checks
import conversation

TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


@functools.cache
def client_of(key, address):
    return cohere.Client(api_key=key, base_url=address, max_retries=0)


def ask(question):
    settings = conversation.given(question["settings"])
    client = client_of(question["key"], question["address"])
    asked = {"model": question["model"], **{key: value for key, value in settings.items() if key != "stream"}}
    chat = question["chat"]
    if chat["directive"] is not None:
        asked["preamble"] = chat["directive"]
    if chat["tools"]:
        asked["tools"] = [declared(tool) for tool in chat["tools"]]
    *before, (kind, content) = conversation.turns(chat)
    history, calls = [], []
    for kind_before, content_before in before:
        history.append(turn(kind_before, content_before, calls))
        if kind_before == "model":
            calls = content_before["calls"]
    if history:
        asked["chat_history"] = history
    asked["message"] = content if kind == "user" else ""
    if kind == "results":
        asked["tool_results"] = results(content, calls)
    read = stream if question["stream"] else whole
    return answers.reading(lambda answer: read(answer, client, asked), (ApiError, httpx.HTTPError))


def declared(tool):
    schema = tool["parameters"]
    definitions = {
        name: cohere.ToolParameterDefinitionsValue(
            description=property.get("description", ""),
            type=TYPES[property["type"]],
            required=name in schema.get("required", []),
        )
        for name, property in schema["properties"].items()
    }
    return cohere.Tool(name=tool["name"], description=tool["description"], parameter_definitions=definitions)


def turn(kind, content, calls):
    if kind == "user":
        return cohere.UserMessage(message=content)
    if kind == "results":
        return cohere.ToolMessage(tool_results=results(content, calls))
    if content["calls"]:
        return cohere.ChatbotMessage(message=content["text"], tool_calls=[made(call) for call in content["calls"]])
    return cohere.ChatbotMessage(message=content["text"])


def made(call):
    return cohere.ToolCall(name=call["name"], parameters=call["arguments"])


def results(content, calls):
    calls = {call["id"]: made(call) for call in calls}
    return [
        cohere.ToolResult(call=calls[result["id"]], outputs=[conversation.as_object(result)]) for result in content
    ]


def stream(answer, client, asked):
    for event in client.chat_stream(**asked):
        if event.event_type == "text-generation":
            answer.text += event.text
        elif event.event_type == "tool-calls-chunk":
            answer.text += event.text or ""
        elif event.event_type == "tool-calls-generation":
            answer.text = answer.text or event.text or ""
            for call in event.tool_calls:
                answer.call(call.name, call.parameters)
        elif event.event_type == "stream-end":
            answer.stop = event.finish_reason
            if event.finish_reason == "ERROR":
                # Its types have no place for the message.
                answer.error = (event.model_extra or {}).get("error") or "ERROR"
            usage(answer, event.response)


def whole(answer, client, asked):
    response = client.chat(**asked)
    answer.text = response.text
    answer.stop = response.finish_reason
    for call in response.tool_calls or []:
        answer.call(call.name, call.parameters)
    usage(answer, response)


def usage(answer, response):
    meta = response.meta if response else None
    if meta and meta.tokens:
        answer.tokens(meta.tokens.input_tokens, meta.tokens.output_tokens, meta.cached_tokens)


def check(question):
    body = dict(question["body"])
    stream = body.pop("stream")
    function = BaseCohere.chat_stream if stream else BaseCohere.chat
    # What is no part of the body.
    model = checks.of_function(function, without=("accepts", "request_options"))
    found = checks.checked(model, body)
    return found + ([] if stream == question["stream"] else [{"at": "/stream", "problem": f"is {stream}"}])
