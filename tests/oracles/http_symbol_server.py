"""An HTTP symbol server that misbehaves on request, for the tests of downloads.

    http_symbol_server.py ROOT LOG [CERTIFICATE]

Serves the files below ROOT on a free port of 127.0.0.1, prints the port and runs until its
standard input ends; over TLS with a certificate (PEM, key included). The variable BIND names other
addresses of this computer, to listen at. The first component of a path says how to answer for the rest of it:

    ok            as it should be, parts of a file included
    slow          the same after a pause
    login page    200 with an HTML page, sent as such or as if it were a file
    deny401 deny403
    down          503 always;  busy: 503 to the first request of each path
    moody         503 for what it does not have
    cut           breaks off in the middle, unless a part is asked for
    cutwhole      breaks off in the middle of the first answer; knows no parts
    stall         stops in the middle, unless a part is asked for
    odd           answers with another part than the one asked for
    dated         as cut, with the time of the last change in place of an ETag
    weak, bare    as cut, with a weak ETag, or with nothing that identifies the file
    swap          as cut; then it has NAME.other in place of the file, and knows that
    liar          the same, but sends the rest of that to whoever asks for a part
    quiet         the same, without an ETag
    closed        breaks off in the middle without having said how long the file is;
                  closedwhole: after all of it
    longline      a header line of 2 MB
    chunked       without saying how long the file is
    huge          says that it is 64 GiB long
    redirect      to ok;  loop: to itself;  tofile: to a file of the client
    http https    to the same path on the port that comes next
    basic         asks for a password;  token: for ?sig=abc
    wants         asks for the authorization that comes next, in hexadecimal, and answers as ok;
                  asks: and answers as the component after that says
    to            to the host and port that come next

LOG gets a line per request: number of requests under way, path, range, authorization, agent,
condition of the range. As a proxy, the server refuses everybody.
"""
import http.server
import os
import ssl
import sys
import threading
import time
import urllib.parse

ROOT, LOG = sys.argv[1:3]
CERTIFICATE = sys.argv[3] if len(sys.argv) > 3 else None
PAGE = b"<!DOCTYPE html><html><body>Please log in.</body></html>"
PAUSE_S = 0.25
lock = threading.Lock()
state = {"running": 0, "seen": set()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        with lock:
            state["running"] += 1
            with open(LOG, "a", encoding="utf-8") as log:
                fields = [str(state["running"]), self.path]
                for name in ("Range", "Authorization", "User-Agent", "If-Range"):
                    fields.append(self.headers.get(name, "-").replace(" ", "_"))
                log.write(" ".join(fields) + "\n")
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with lock:
                state["running"] -= 1

    def do_CONNECT(self):
        """As a proxy that wants a login."""
        self.send(407, b"no")

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        mode, _, rest = url.path.lstrip("/").partition("/")
        with lock:
            is_first = self.path not in state["seen"]
            state["seen"].add(self.path)
        if mode in ("wants", "asks"):
            wanted, _, rest = rest.partition("/")
            if self.headers.get("Authorization", "") != bytes.fromhex(wanted).decode():
                return self.send(401, b"no")
            if mode == "asks":
                mode, _, rest = rest.partition("/")
        if mode == "slow":
            time.sleep(PAUSE_S)
        if mode in ("login", "page"):
            kind = "text/html; charset=utf-8" if mode == "login" else "application/octet-stream"
            return self.send(200, PAGE, kind)
        if mode in ("deny401", "deny403"):
            return self.send(int(mode[4:]), b"no")
        if mode == "down" or (mode == "busy" and is_first):
            return self.send(503, b"<html>try later</html>" * 1000)
        if mode in ("redirect", "loop", "tofile", "http", "https", "to"):
            port, _, path = rest.partition("/")
            target = {"redirect": "/ok/" + rest, "to": f"http://{port}/ok/{path}", "loop": self.path, "tofile": "file:///etc/passwd",
                      "http": f"http://127.0.0.1:{port}/ok/{path}",
                      "https": f"https://127.0.0.1:{port}/ok/{path}"}
            self.send_response(302)
            self.send_header("Location", target[mode])
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if mode == "longline":
            self.close_connection = True
            return self.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + b"a" * (2 << 20) + b"\r\n\r\n")
        if mode == "basic" and self.headers.get("Authorization") != "Basic dXNlcjpzZWNyZXQ=":
            return self.send(401, b"no")
        if mode == "token" and url.query != "sig=abc":
            return self.send(403, b"no")
        try:
            is_swapped = mode in ("swap", "liar", "quiet") and not is_first
            with open(os.path.join(ROOT, urllib.parse.unquote(rest) + ".other" * is_swapped), "rb") as file:
                content = file.read()
        except OSError:
            if mode == "moody":
                return self.send(503, b"<html>try later</html>")
            return self.send(404, b"<html>not here</html>", "text/html")
        return self.send_file(mode, content, is_first)

    def send(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, mode, content, is_first):
        start = 0
        asked = self.headers.get("Range", "")
        etag = f'"{sum(content):x}-{len(content):x}"'
        date = "Wed, 29 Jul 2020 00:07:00 GMT"
        condition = self.headers.get("If-Range", "-")
        is_same = condition in (etag, date) or mode in ("liar", "quiet")
        if asked.startswith("bytes=") and mode != "cutwhole" and is_same:
            start = int(asked[6:].split("-")[0])
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            said = start + 1 if mode == "odd" else start
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {said}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        body = content[start:]
        if mode == "odd" and start:
            body = body[1:] + b"x"
        self.send_header("Content-Type", "application/octet-stream")
        if mode == "dated":
            self.send_header("Last-Modified", date)
        elif mode == "weak":
            self.send_header("ETag", "W/" + etag)
        elif mode != "bare" and not (mode == "quiet" and start):
            self.send_header("ETag", etag)
        if mode.startswith("closed"):
            self.end_headers()
            self.close_connection = True
            return self.wfile.write(body[:len(body) // 2] if mode == "closed" else body)
        if mode == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for at in range(0, len(body), 1000):
                part = body[at:at + 1000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            return self.wfile.write(b"0\r\n\r\n")
        self.send_header("Content-Length", str(1 << 36 if mode == "huge" else len(body)))
        self.end_headers()
        breaks = start == 0 and (mode in ("cut", "stall") or
                                 (is_first and mode in ("cutwhole", "dated", "weak", "bare", "swap", "liar", "quiet")))
        if not breaks and mode != "huge":
            return self.wfile.write(body)
        self.wfile.write(body[:len(body) // 2])
        self.wfile.flush()
        if mode == "stall":
            time.sleep(20)
        self.close_connection = True
        return None


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Clients that hang up are what the tests are about."""


server = Server((os.environ.get("BIND", "127.0.0.1"), 0), Handler)
if CERTIFICATE:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
