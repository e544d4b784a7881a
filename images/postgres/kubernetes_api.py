"""The few requests that the programs of an instance make of the API server, with the account of their Pod.

Clients wait for some of them: nothing is imported that is not needed.
"""
import http.client
import json
import os
import ssl

SECONDS_FOR_AN_ANSWER = 2

account = os.environ.get("SERVICE_ACCOUNT_DIRECTORY", "/var/run/secrets/kubernetes.io/serviceaccount")

#: What may be wrong for a moment, and is worth another try.
ERRORS = (OSError, ValueError, http.client.HTTPException)


def read(file):
    with open(f"{account}/{file}") as opened:
        return opened.read().strip()


def trusting(authority):
    # Not ssl.create_default_context: since Python 3.13 that refuses authorities as some clusters have them.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority)
    return context


class Kubernetes:
    """One connection, for the objects of the Pod's own namespace."""

    def __init__(self):
        self.connection = http.client.HTTPSConnection(
            os.environ["KUBERNETES_SERVICE_HOST"],
            int(os.environ["KUBERNETES_SERVICE_PORT"]),
            timeout=SECONDS_FOR_AN_ANSWER,
            context=trusting(f"{account}/ca.crt"),
        )
        self.namespace = read("namespace")
        self.headers = {
            "Authorization": f"Bearer {read('token')}",
            "Accept": "application/json",
            "Content-Type": "application/merge-patch+json",
        }

    def call(self, method, path, body=None, api="/api/v1"):
        """The answer's object; None when there is no such object."""
        self.connection.request(method, f"{api}/namespaces/{self.namespace}{path}", body and json.dumps(body), self.headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status == 404:
            return None
        if response.status != 200:
            raise OSError(f"{method} {path}: {response.status} {answer.get('message')}")
        return answer

    def annotations(self, config_map):
        """Where Patroni keeps what it knows; none where there is no such ConfigMap."""
        found = self.call("GET", f"/configmaps/{config_map}") or {"metadata": {}}
        return found["metadata"].get("annotations", {})
