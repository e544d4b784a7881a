"""An HTTPS server that no client can hold: mutual TLS, few connections at a time, a deadline for everything that a client sends."""
import os
import re
import socket
import ssl
import sys
import threading
import time

REQUESTS_AT_A_TIME = 16
CONNECTIONS_AT_A_TIME = 128  # most of them may be of clients that never prove who they are
SECONDS_FOR_A_HANDSHAKE = float(os.environ.get("SECONDS_FOR_A_HANDSHAKE", 5))
SECONDS_FOR_A_HEAD = 5
SECONDS_FOR_A_BODY = 30
SECONDS_WITHOUT_A_BYTE = 5
SECONDS_TO_DRAIN = 5
LONGEST_HEAD = 8192
PART = 256 * 1024  # stays in the processor's cache

WORDS = {
    200: "OK", 204: "No Content", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
    411: "Length Required", 413: "Content Too Large", 428: "Precondition Required", 503: "Service Unavailable",
}  # fmt: skip


class Answer(Exception):
    """Ends a request: also from within, where it is refused."""

    def __init__(self, status, body=b"", kind="text/plain; charset=utf-8"):
        super().__init__(status)
        self.status = status
        self.body = body if isinstance(body, bytes) else f"{body}\n".encode()
        self.kind = kind


class Certificates:
    """The server's side of TLS, as the mounted files say now. A pair that does not fit together is not taken up."""

    def __init__(self, directory):
        self.files = [f"{directory}/{name}" for name in ("tls.crt", "tls.key", "ca.crt")]
        self.loaded = None
        self.current = None

    def context(self):
        try:
            found = [(told.st_ino, told.st_mtime_ns, told.st_size) for told in map(os.stat, self.files)]
            if found != self.loaded:
                self.current, self.loaded = self.load(), found
        except (OSError, ValueError) as error:  # an ssl.SSLError is an OSError
            if self.current is None:
                raise
            print(f"the new certificate is not taken up: {error}", file=sys.stderr, flush=True)
        return self.current

    def load(self):
        certificate, key, authorities = self.files
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_REQUIRED
        context.num_tickets = 0  # a client whose authority was withdrawn must not come back by a ticket
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(authorities)
        return context


class Request:
    """One request of a client. Its body is read only when it is asked for."""

    def __init__(self, connection):
        self.connection = connection
        subject = connection.getpeercert().get("subject", ())
        self.client = next((value for part in subject for name, value in part if name == "commonName"), "")
        head, self.rest = self.read_head()
        line, *headers = head.decode("latin-1").split("\r\n")
        parts = re.fullmatch(r"([A-Z]+) (/[!-~]*) HTTP/1\.[01]", line)
        if not parts:
            raise Answer(400, "this is no HTTP request")
        self.method, self.path = parts.groups()
        self.headers = {name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in headers)}

    def receive(self, most, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the client is too slow")
        self.connection.settimeout(min(left, SECONDS_WITHOUT_A_BYTE))
        return self.connection.recv(most)

    def read_head(self):
        deadline, head = time.monotonic() + SECONDS_FOR_A_HEAD, b""
        while b"\r\n\r\n" not in head:
            part = self.receive(LONGEST_HEAD, deadline)
            if not part or len(head) > LONGEST_HEAD:
                raise Answer(400, "this is no HTTP request")
            head += part
        head, _, rest = head.partition(b"\r\n\r\n")
        return head, rest

    def length(self, fits):
        told = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,12}", told) or "transfer-encoding" in self.headers:
            raise Answer(411, "its length must be told")
        if not fits(int(told)):
            raise Answer(413, "it has not the size of such a file")
        return int(told)

    def save(self, length, file):
        """Writes the body into a file; fails where the client gives up before its end."""
        deadline, left = time.monotonic() + SECONDS_FOR_A_BODY, length
        # TLS gives 16 KB at a time: collected, so that not each of them is a write.
        part = memoryview(bytearray(min(PART, length)))
        filled = min(len(self.rest), length)
        file.write(self.rest[:filled])
        left, filled = left - filled, 0
        self.connection.settimeout(SECONDS_WITHOUT_A_BYTE)
        while left > 0:
            got = self.connection.recv_into(part[filled : min(PART, filled + left)])
            if got == 0:
                raise ConnectionError("the client has given up")
            if time.monotonic() > deadline:
                raise TimeoutError("the client is too slow")
            filled, left = filled + got, left - got
            if filled == len(part) or left == 0:
                file.write(part[:filled])
                filled = 0


def reply(connection, answer):
    connection.settimeout(SECONDS_WITHOUT_A_BYTE)
    size = "" if answer.status == 204 else f"Content-Type: {answer.kind}\r\nContent-Length: {len(answer.body)}\r\n"
    head = f"HTTP/1.1 {answer.status} {WORDS[answer.status]}\r\n{size}Connection: close\r\n\r\n"
    connection.sendall(head.encode() + answer.body)


def drain(connection):
    """Closes so that a client which is still sending reads the answer: with unread bytes the kernel would cut the connection."""
    deadline = time.monotonic() + SECONDS_TO_DRAIN
    socket.socket.shutdown(connection, socket.SHUT_WR)
    while (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        if not connection.recv(PART):
            return


def serve(port, certificates, handle):
    """Answers each request with what `handle` returns or raises. Never returns."""
    both = socket.has_dualstack_ipv6()
    server = socket.create_server(("", port), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both)
    free = threading.Semaphore(CONNECTIONS_AT_A_TIME)
    turns = threading.Semaphore(REQUESTS_AT_A_TIME)

    def answer(connection):
        try:
            outcome = handle(Request(connection))
        except Answer as refused:
            outcome = refused
        reply(connection, outcome)
        drain(connection)

    def work(plain):
        try:
            with plain:
                plain.settimeout(SECONDS_FOR_A_HANDSHAKE)
                with certificates.context().wrap_socket(plain, server_side=True) as connection, turns:
                    answer(connection)
        except OSError:
            pass  # a client without a certificate, too slow, or gone
        except Exception as error:  # a fault of ours must not end the server
            print(f"a request failed: {error!r}", file=sys.stderr, flush=True)
        finally:
            free.release()

    while True:
        free.acquire()
        try:
            plain, _ = server.accept()
            threading.Thread(target=work, args=(plain,), daemon=True).start()
        except (OSError, RuntimeError) as error:  # no file or no thread is left: both come back
            free.release()
            print(f"a connection was not taken: {error!r}", file=sys.stderr, flush=True)
            time.sleep(0.1)
