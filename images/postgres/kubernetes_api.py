"""The few requests of an instance's programs to the API server, with the service account of their Pod.

Clients wait for some of them, so nothing is imported that is not needed.
"""
import http.client
import json
import os
import ssl

SECONDS_FOR_AN_ANSWER = 2

account = os.environ.get("SERVICE_ACCOUNT_DIRECTORY", "/var/run/secrets/kubernetes.io/serviceaccount")

#: Failures that may pass, and are worth another try.
ERRORS = (OSError, ValueError, http.client.HTTPException)


def read(file):
    with open(f"{account}/{file}") as opened:
        return opened.read().strip()


def trusting(authority):
    # Not ssl.create_default_context: since Python 3.13 it refuses the authorities of some clusters.
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
        """The object in the answer; None when it does not exist."""
        self.connection.request(method, f"{api}/namespaces/{self.namespace}{path}", body and json.dumps(body), self.headers)
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        if response.status == 404:
            return None
        if response.status != 200:
            raise OSError(f"{method} {path}: {response.status} {answer.get('message')}")
        return answer

    def annotations(self, config_map):
        """The annotations of one of Patroni's ConfigMaps; empty when it does not exist."""
        found = self.call("GET", f"/configmaps/{config_map}") or {"metadata": {}}
        return found["metadata"].get("annotations", {})
