"""Google, the Generative Language API. What it shares with Vertex AI is here."""

import functools

import google.genai
from google.genai import errors, types

import answers
import checks
import conversation


@functools.cache
def client_of(key, address):
    return google.genai.Client(api_key=key, http_options=types.HttpOptions(base_url=address, api_version="v1"))


def ask(question):
    return request(question, client_of(question["key"], question["address"]))


def request(question, client):
    settings = conversation.given(question["settings"])
    chat = question["chat"]
    config = {"safety_settings": settings.get("safetySettings"), **settings.get("generationConfig", {})}
    if chat["directive"] is not None:
        config["system_instruction"] = chat["directive"]
    if chat["tools"]:
        config["tools"] = [types.Tool(function_declarations=[declared(tool) for tool in chat["tools"]])]
    asked = {
        "model": question["model"],
        "contents": [content(kind, said) for kind, said in conversation.turns(chat)],
        "config": types.GenerateContentConfig.model_validate(config),
    }

    def read(answer):
        if question["stream"]:
            chunks = client.models.generate_content_stream(**asked)
        else:
            chunks = [client.models.generate_content(**asked)]
        for chunk in chunks:
            take(answer, chunk)

    return answers.reading(read, errors.APIError, lambda error: error.message)


def declared(tool):
    # An object without properties is refused.
    parameters = tool["parameters"] if tool["parameters"]["properties"] else None
    return types.FunctionDeclaration(name=tool["name"], description=tool["description"], parameters=parameters)


def content(kind, said):
    if kind == "user":
        return types.UserContent(said)
    if kind == "results":
        return types.Content(
            role="user",
            parts=[
                types.Part.from_function_response(name=result["name"], response=conversation.as_object(result))
                for result in said
            ],
        )
    parts = [types.Part.from_text(text=said["text"])] if said["text"] else []
    for call in said["calls"]:
        parts.append(types.Part.from_function_call(name=call["name"], args=call["arguments"]))
    return types.Content(role="model", parts=parts)


def take(answer, chunk):
    told = chunk.usage_metadata
    if told is not None:
        read = (told.prompt_token_count or 0) + (told.tool_use_prompt_token_count or 0)
        written = (told.candidates_token_count or 0) + (told.thoughts_token_count or 0)
        answer.tokens(read, written, told.cached_content_token_count)
    for candidate in chunk.candidates or []:
        for part in (candidate.content and candidate.content.parts) or []:
            if part.thought:
                answer.thinking += part.text or ""
            else:
                answer.text += part.text or ""
            if part.function_call:
                answer.call(part.function_call.name, part.function_call.args or {}, part.function_call.id)
        if candidate.finish_reason:
            answer.stop = candidate.finish_reason.value


# The keys of a request, as the reference of the interface lists them; the SDK writes them from one that it shares.
MODELS = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "safetySettings": list[types.SafetySetting],
    "generationConfig": types.GenerationConfig,
}


def check(question):
    found = []
    for key, value in question["body"].items():
        if key in MODELS:
            found += checks.checked(MODELS[key], value, f"/{key}")
        else:
            found.append({"at": f"/{key}", "problem": "unknown key"})
    return found
