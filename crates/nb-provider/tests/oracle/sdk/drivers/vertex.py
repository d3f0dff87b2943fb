"""Google, Vertex AI: the same conversations at another place, with tokens of access."""

import functools
import json

import google.genai
from google.genai import types
from google.oauth2 import service_account

from drivers import google as shared

SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def ask(question):
    return shared.request(question, client_of(question["key"], question["address"]))


@functools.cache
def client_of(key, address):
    key = json.loads(key)
    return google.genai.Client(
        vertexai=True,
        project=key["project_id"],
        location="us-central1",
        credentials=service_account.Credentials.from_service_account_info(key, scopes=SCOPES),
        http_options=types.HttpOptions(base_url=address, api_version="v1"),
    )


check = shared.check
