"""Asks what the official SDKs of the providers do.

    main.py COMMAND [PROVIDER] <questions >answers

One JSON value a line comes in, one a line goes out, in the same order.

- ask: {address, key, model, settings, chat, stream}: the SDK makes the request to the address and reads what comes back.
- check: {body, stream}: what the SDK's own types say of the body; a list of {at, problem}, empty when it is right.
- verify: {assertion, public_key}: what google-auth reads in a signed assertion.
"""

import faulthandler
import importlib
import json
import sys


def main():
    # A client that waits for ever says nothing.
    faulthandler.dump_traceback_later(60, exit=True)
    command, *provider = sys.argv[1:]
    module = importlib.import_module("drivers." + provider[0]) if provider else importlib.import_module("assertion")
    answer = getattr(module, command)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
