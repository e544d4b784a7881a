"""Which instances answer on the port of their container `backup`, and pgBackRest's settings without the others."""
import re
import socket
import ssl
import threading
import time
from typing import NamedTuple

SECONDS_TO_ANSWER = 5
PORT = 8432
GREETING = b'{"name":"pgBackRest"'


class Answering(NamedTuple):
    good: set
    faults: dict

    def why(self, host):
        return self.faults.get(host, f"{host} has not answered within {SECONDS_TO_ANSWER} s")


def answering(instances, settings, directory):
    """Asks all of them at once. A name that is not resolved has no deadline of its own, so nobody waits for the threads."""
    found = Answering(set(), {})

    def ask(host, port):
        try:
            greet(host, port, directory)
            found.good.add(host)
        except ssl.SSLCertVerificationError as error:
            found.faults[host] = f"the certificate of {host}:{port} is not trusted: {error.verify_message}"
        except OSError as error:
            found.faults[host] = f"{host}:{port} can't be reached: {error.strerror or error}"

    ports = [int(settings.get(f"pg{index}-host-port", PORT)) for index in range(1, len(instances) + 1)]
    threads = [threading.Thread(target=ask, args=(each["host"], port), daemon=True) for each, port in zip(instances, ports)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + SECONDS_TO_ANSWER
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    return Answering(set(found.good), dict(found.faults))


def greet(host, port, directory):
    """pgBackRest speaks first. Whether it lets this certificate in, it says only when it is asked for something."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(f"{directory}/ca.crt")
    context.load_cert_chain(f"{directory}/tls.crt", f"{directory}/tls.key")
    with socket.create_connection((host, port), SECONDS_TO_ANSWER) as plain, context.wrap_socket(plain, server_hostname=host) as connection:
        if not connection.recv(1024).startswith(GREETING):
            raise OSError("something else than pgBackRest answers there")


def configuration_of(text, left_out):
    """pgBackRest's configuration without the lines of these instances, which are counted from 1."""

    def is_left_out(line):
        of = re.match(r"\s*pg(\d+)-", line)
        return of is not None and int(of[1]) in left_out

    return "".join(line for line in text.splitlines(keepends=True) if not is_left_out(line))
