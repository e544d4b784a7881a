"""The requests of an instance to the intake of its repository, with the server's certificate.

    python3 -IS intake_client.py NAME FILE        fetches a history; see fetch-history

The archiver and recovery start this for each file, so nothing is imported that is not needed. `ssl` and `socket` take 18 ms, and a
promotion waits for it. So this uses the modules in C below them. They are not for everyone, but the image has one Python, and its smoke
test pushes and fetches.
"""
import _socket
import _ssl
import os
import sys

CERTIFICATES = os.environ.get("CERTIFICATES", "/etc/sampledb/tls")
PORT = int(os.environ.get("INTAKE_PORT", 8433))
PART = 256 * 1024  # stays in the processor's cache
LONGEST_ANSWER = 256 * 1024

#: The Pod's name without its ordinal is that of the database. In the Pod's own namespace a Service is known by its short name.
name = os.environ.get("HOSTNAME", "").rpartition("-")[0] + "-repository"
address = os.environ.get("INTAKE_ADDRESS", name)


class Socket(_socket.socket):
    """TLS keeps a weak reference to its socket, which the class in C does not allow."""


def connect():
    failure = OSError("it has no address")
    # As bytes: for a text Python loads the tables of international names, which takes 7 ms.
    for family, kind, protocol, _, place in _socket.getaddrinfo(address.encode(), PORT, type=_socket.SOCK_STREAM):
        plain = Socket(family, kind, protocol)
        try:
            # A request follows the end of the handshake. Without this it would wait for the acknowledgement, which takes 40 ms.
            plain.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
            plain.connect(place)
            return plain
        except OSError as error:
            plain.close()
            failure = error
    raise failure


def context():
    """Requires a certificate of the repository's name, signed by the database's authority: that is what PROTOCOL_TLS_CLIENT means."""
    made = _ssl._SSLContext(_ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = _ssl.PROTO_TLSv1_2
    made.load_verify_locations(f"{CERTIFICATES}/ca.crt")
    made.load_cert_chain(f"{CERTIFICATES}/tls.crt", f"{CERTIFICATES}/tls.key")
    return made


def ask(method, path, file=None):
    """Status and body of the answer. An OSError says that there was none. The caller ends the process where it takes too long."""
    plain = connect()
    try:
        connection = context()._wrap_socket(plain, server_side=False, server_hostname=name)
        connection.do_handshake()
        length = "" if file is None else f"Content-Length: {os.path.getsize(file)}\r\n"
        send(connection, f"{method} {path} HTTP/1.1\r\nHost: {name}\r\n{length}Connection: close\r\n\r\n".encode())
        if file is not None:
            with open(file, "rb", buffering=0) as opened:
                part = memoryview(bytearray(PART))
                while size := opened.readinto(part):
                    send(connection, part[:size])
        return read_answer(connection)
    finally:
        plain.close()


def send(connection, content):
    sent = 0
    while sent < len(content):
        sent += connection.write(content[sent:])


def read_answer(connection):
    answer = b""
    while len(answer) < LONGEST_ANSWER:
        try:
            part = connection.read(65536)
        except _ssl.SSLEOFError:  # the intake ends its side without a word of TLS; the length below says whether all is there
            break
        if not part:
            break
        answer += part
    head, is_whole, body = answer.partition(b"\r\n\r\n")
    words = head.split(None, 2)
    if not is_whole or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise ConnectionError("the intake ended the connection without an answer")
    length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    if length and int(length[0].partition(b":")[2]) != len(body):
        raise ConnectionError("the intake's answer was cut short")
    return int(words[1]), body


def fetch(history, file):
    status, body = ask("GET", f"/wal/{history}")
    if status != 200:
        return 1
    with open(file, "wb") as opened:
        opened.write(body)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(fetch(*sys.argv[1:]))
    except OSError as error:
        print(f"the archive can't be asked for {sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, TimeoutError) else 1)
