#!/bin/sh
# Prepares a container with a read-only root and a uid of the platform's choice, then becomes its command.
set -eu

# OpenShift chooses the uid, and initdb, psql and peer authentication fail for a uid without a name.
# The name service reads this file through a link in /var/lib/extrausers, so `kubectl exec` finds the name too.
names=/tmp/extrausers.passwd
if ! getent passwd "$(id -u)" >/dev/null; then
    echo "postgres:x:$(id -u):10001:PostgreSQL:/var/lib/postgresql:/bin/bash" > "$names.$$"
    mv "$names.$$" "$names"
fi

volume=/var/lib/postgresql
data=$volume/data

# pgBackRest restores only into an existing directory. Made on a new volume only: an upgrade swaps directories, and after an
# interrupted one an empty directory must not take the place of the data.
if [ -w "$volume" ] && [ -z "$(find "$volume" -mindepth 1 -maxdepth 1 ! -name lost+found)" ]; then
    mkdir -m 0700 "$data" 2>/dev/null || [ -d "$data" ] # another container of the Pod may be faster
fi

# With fsGroup the kubelet opens directories to the group, and PostgreSQL refuses to start on such a directory.
if [ -O "$data" ]; then chmod 0700 "$data"; fi

if [ "$1" = patroni ]; then
    # At most one server on a volume. PostgreSQL's own lock file names a process id, which means nothing in another container, and after
    # a forced deletion the next Pod starts while the old server still writes. Patroni holds this lock until it and the container end.
    exec 9>> "$volume/server.lock"
    if ! flock --nonblock 9; then
        echo "another container has its server on this volume: waiting for its end"
        flock 9 || echo "this file system knows no locks: nothing keeps two servers from one volume but the kubelet"
    fi

    # A restore that was cut short has left a data directory that lacks rows, and passwords of another database. It is begun anew, or given up.
    if [ -e "$volume/restoring" ]; then
        echo "this volume is being restored, or its restore was cut short: no server is started on it" >&2
        exit 1
    fi

    # Sockets survive a killed container, and with them a lock file that names a process id. In a new container another process has that
    # id, PostgreSQL takes it for a running server, and the primary is lost until another instance is elected (seen).
    rm -f /run/postgresql/.s.PGSQL.* /run/postgresql/stopping

    # Removes an interrupted copy of the primary: pg_basebackup requires an empty directory. Data on which a server was started is no
    # such copy, whatever the mark says: an image without these guards may have left the mark.
    if [ -e "$volume/copying" ] && [ ! -e "$data/postmaster.opts" ]; then
        echo "copying the primary was cut short: beginning anew"
        rm -rf "$data"
    fi
    rm -f "$volume/copying"
    if [ -e "$volume/initializing" ] || [ ! -e "$data/PG_VERSION" ]; then restart-bootstrap "${PATRONI_NAME%-*}"; fi

    # Patroni reads the files of a directory in order: first the operator's, then the image's.
    config=${2:-/etc/patroni/patroni.yaml}
    mkdir -p /tmp/patroni
    ln -sf "$config" /tmp/patroni/10-operator.yaml
    ln -sf /usr/local/libexec/sampledb/patroni.yaml /tmp/patroni/20-image.yaml
    # In an image with two majors, the one that the operator configured.
    major=$(sed -n 's/.*"bin_dir": "\(.*\)".*/\1/p' "$config")
    export PATH="${major:+$major:}$PATH"

    # Without the lock: it is free as soon as Patroni and the server have ended.
    push-leftovers 9>&- &

    set -- patroni /tmp/patroni
fi

exec "$@"
