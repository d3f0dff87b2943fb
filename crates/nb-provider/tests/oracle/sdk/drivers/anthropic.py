"""Anthropic."""

import functools

import anthropic
from anthropic.types import message_create_params as params

import answers
import checks
import conversation


@functools.cache
def client_of(key, address):
    return anthropic.Anthropic(api_key=key, base_url=address, max_retries=0)


def ask(question):
    settings = conversation.given(question["settings"])
    client = client_of(question["key"], question["address"])
    asked = {"model": question["model"], "messages": messages(question["chat"])}
    asked |= {key: value for key, value in settings.items() if key != "stream"}
    # It has no default.
    asked.setdefault("max_tokens", 4096)
    if question["chat"]["directive"] is not None:
        asked["system"] = question["chat"]["directive"]
    if question["chat"]["tools"]:
        asked["tools"] = [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
            for tool in question["chat"]["tools"]
        ]
    read = stream if question["stream"] else whole
    return answers.reading(lambda answer: read(answer, client, asked), anthropic.APIStatusError, words)


def words(error):
    return error.body["error"]["message"]


def messages(chat):
    found = []
    for kind, content in conversation.turns(chat):
        if kind == "user":
            found.append({"role": "user", "content": content})
        elif kind == "model":
            found.append({"role": "assistant", "content": blocks(content) if content["calls"] else content["text"]})
        else:
            found.append({"role": "user", "content": [result_block(result) for result in content]})
    return found


def blocks(content):
    found = [{"type": "text", "text": content["text"]}] if content["text"] else []
    for call in content["calls"]:
        found.append({"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]})
    return found


def result_block(result):
    block = {"type": "tool_result", "tool_use_id": result["id"], "content": result["content"]}
    return block | {"is_error": True} if result["is_error"] else block


def stream(answer, client, asked):
    with client.messages.stream(**asked) as events:
        try:
            for event in events:
                if event.type == "text":
                    answer.text += event.text
                elif event.type == "thinking":
                    answer.thinking += event.thinking
        finally:
            usage(answer, events.current_message_snapshot)
        finished(answer, events.get_final_message())


def whole(answer, client, asked):
    message = client.messages.create(**asked)
    for block in message.content:
        answer.text += block.text if block.type == "text" else ""
        answer.thinking += block.thinking if block.type == "thinking" else ""
    finished(answer, message)


def finished(answer, message):
    for block in message.content:
        if block.type == "tool_use":
            answer.call(block.name, block.input, block.id)
    answer.stop = message.stop_reason
    usage(answer, message)
    answer.turn = [block.model_dump(mode="json", exclude_none=True, by_alias=True) for block in message.content]


def usage(answer, message):
    told = message.usage
    read, written = told.cache_read_input_tokens or 0, told.cache_creation_input_tokens or 0
    answer.tokens(told.input_tokens + read + written, told.output_tokens, read)


def check(question):
    streaming, whole = params.MessageCreateParamsStreaming, params.MessageCreateParamsNonStreaming
    return checks.strict(streaming if question["stream"] else whole, question["body"])
