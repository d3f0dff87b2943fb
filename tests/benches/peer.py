"""What a user would write instead of the daemon: a webhook receiver of the standard library.

It checks the same HMAC, appends the delivery to a file, syncs it, and answers 202. Prints its port when it is ready.
"""

import hashlib
import hmac
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = sys.argv[1].encode()
LOG = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, self.headers.get("X-Webhook-Signature", "")):
            self.send_error(401)
            return
        os.write(LOG, body + b"\n")
        os.fdatasync(LOG)
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
