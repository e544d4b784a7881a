"""Takes away what a restored database brings along, while it is stopped: subscriptions, and passwords of the operator's own roles.

Settings and slots are files, and gone by now (restore_volume.py). The statements are executed in PostgreSQL's single-user mode: there are no
event triggers, no settings of roles and databases, no background workers. They name no function, so that none of the database's is called.
"""
from repository_store import MOUNTED, one_line
from restore_server import Server
from store_faults import Fault, tellable

#: With LOGIN and a password each; what else the operator relies on.
ROLES = {"superuser": "SUPERUSER", "replication": "REPLICATION", "application": ""}
#: A subscription would take changes from the publisher that the source still takes, and by its slot. Without the name of the slot, dropping
#: the subscription does not drop the slot of the source.
WITHOUT_SUBSCRIPTIONS = "UPDATE pg_catalog.pg_subscription SET subenabled = false, subslotname = NULL"


def clean(asked, major):
    passwords = {role: one_line(f"{MOUNTED}/passwords/{role}/password", f"passwords/{role}/password") for role in ROLES}
    names = {role: identifier(asked["roles"][role]) for role in ROLES}
    server = Server(major)
    server.configure({})
    database = enter(server, ["postgres", "template1", asked["database"]])
    # A role that is there is no failure. Made first, because a failed statement has no effect on the next one.
    server.single([f"CREATE ROLE {name}" for name in names.values()], database)
    refuse([line for line in server.errors() if "already exists" not in line])
    changes = [f"ALTER ROLE {names[role]} WITH LOGIN {right} PASSWORD {literal(passwords[role])} VALID UNTIL 'infinity'" for role, right in ROLES.items()]
    code = server.single([*changes, WITHOUT_SUBSCRIPTIONS, "CHECKPOINT"], database)
    refuse(server.errors() or ([f"PostgreSQL ended with {code}"] if code else []))
    state = server.control()["Database cluster state"]
    if state != "shut down":
        raise Fault("RecoveryFailed", f"the restored database is not stopped, but {state}")


def enter(server, databases):
    """The first of them that is there. Anybody may have dropped the usual ones."""
    for each in databases:
        if server.single([], each) == 0:
            return each
    raise Fault("RecoveryFailed", tellable(" ".join(server.errors()), []))


def refuse(errors):
    if errors:
        raise Fault("RecoveryFailed", tellable(f"the restored database could not be cleaned: {' '.join(errors)}", []))


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def literal(text):
    return "'" + text.replace("'", "''") + "'"
