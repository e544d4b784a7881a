"""The requests of an instance to the intake of its repository, with the server's certificate.

    python3 -IS intake_client.py NAME FILE        fetches a history; see fetch-history

The archiver and recovery start this for each file, so nothing is imported that is not needed: http.client alone takes 11 ms.
"""
import os
import socket
import ssl
import sys

CERTIFICATES = os.environ.get("CERTIFICATES", "/etc/sampledb/tls")
PORT = int(os.environ.get("INTAKE_PORT", 8433))
PART = 1024 * 1024
LONGEST_ANSWER = 256 * 1024

#: The Pod's name without its ordinal is that of the database. In the Pod's own namespace a Service is known by its short name.
name = os.environ.get("HOSTNAME", "").rpartition("-")[0] + "-repository"
address = os.environ.get("INTAKE_ADDRESS", name)


def context():
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.load_verify_locations(f"{CERTIFICATES}/ca.crt")
    made.load_cert_chain(f"{CERTIFICATES}/tls.crt", f"{CERTIFICATES}/tls.key")
    return made


def ask(method, path, file=None):
    """Status and body of the answer. An OSError says that there was none. The caller ends the process where it takes too long."""
    with socket.create_connection((address, PORT)) as plain, context().wrap_socket(plain, server_hostname=name) as connection:
        length = "" if file is None else f"Content-Length: {os.path.getsize(file)}\r\n"
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: {name}\r\n{length}Connection: close\r\n\r\n".encode())
        if file is not None:
            with open(file, "rb") as opened:
                while part := opened.read(PART):
                    connection.sendall(part)
        return read_answer(connection)


def read_answer(connection):
    answer = b""
    while len(answer) < LONGEST_ANSWER:
        part = connection.recv(65536)
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
