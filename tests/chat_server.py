"""A small OpenAI-compatible server for tests: answers from a script, over real HTTP."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Script:
    """`answer(messages)` gives the reply; `failures` are HTTP codes sent before the first good answer.

    `context` is the model's length that the list of models tells, None for a server that does not tell it.
    """

    def __init__(self, answer, failures=(), usage=True, context=None):
        self.answer, self.failures, self.usage, self.context = answer, list(failures), usage, context
        self.requests = []

    def respond(self, body):
        self.requests.append(body)
        text = self.answer(body["messages"])
        words = text.split(" ")
        finish = "stop" if len(words) <= body["max_tokens"] else "length"
        data = {
            "choices": [{"message": {"content": " ".join(words[: body["max_tokens"]])}, "finish_reason": finish}],
        }
        if self.usage:
            prompt = sum(len(m["content"].split(" ")) for m in body["messages"])
            data["usage"] = {"prompt_tokens": prompt, "completion_tokens": min(len(words), body["max_tokens"])}
        return data


@contextmanager
def chat_server(script):
    """The address of a running server."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def send(self, code, data):
            body = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            told = {} if script.context is None else {"max_model_len": script.context}
            self.send(200, {"data": [{"id": "small-model", **told}]})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if script.failures:
                self.send(script.failures.pop(0), {"error": "busy"})
            else:
                answer = script.respond(body)
                self.send(200, answer)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
