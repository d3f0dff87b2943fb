"""Signed assertions, by google-auth."""

from google.auth import jwt

AUDIENCE = "https://oauth2.googleapis.com/token"


def verify(question):
    try:
        claims = jwt.decode(question["assertion"], certs=question["public_key"], audience=AUDIENCE)
        return {"claims": dict(claims), "header": jwt.decode_header(question["assertion"])}
    except ValueError as error:
        return {"error": str(error)}
