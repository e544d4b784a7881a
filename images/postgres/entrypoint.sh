#!/bin/sh
# Prepares what a container with a read-only root and a uid of the platform's choice lacks, then becomes its command.
set -eu

# OpenShift chooses the uid, and initdb, psql and peer authentication fail for one without a name.
# The name service reads this file through a link in /var/lib/extrausers, so `kubectl exec` finds the name too.
names=/tmp/extrausers.passwd
if ! getent passwd "$(id -u)" >/dev/null; then
    echo "postgres:x:$(id -u):10001:PostgreSQL:/var/lib/postgresql:/bin/bash" > "$names.$$"
    mv "$names.$$" "$names"
fi

volume=/var/lib/postgresql
data=$volume/data

# pgBackRest restores only into a directory that exists. Made on a new volume only: an upgrade swaps directories, and
# where it was cut short an empty one must not take the place of the data.
if [ -w "$volume" ] && [ -z "$(find "$volume" -mindepth 1 -maxdepth 1 ! -name lost+found)" ]; then
    mkdir -m 0700 "$data" 2>/dev/null || [ -d "$data" ] # another container of the Pod may be first
fi

# With fsGroup the kubelet opens directories to the group, and PostgreSQL refuses to start on such a one.
if [ -O "$data" ]; then chmod 0700 "$data"; fi

if [ "$1" = patroni ]; then
    # One server on a volume. PostgreSQL's own lock names a process, which means nothing in another container; and a Pod that was
    # deleted by force is followed by the next while its server still writes. Held by Patroni until it ends, and the container with it.
    exec 9>> "$volume/server.lock"
    if ! flock --nonblock 9; then
        echo "another container has its server on this volume: waiting for its end"
        flock 9 || echo "this file system knows no locks: nothing keeps two servers from one volume but the kubelet"
    fi

    # The sockets outlive a container that was killed, and with them a lock that names a process. In a new container that number is
    # another process, PostgreSQL takes it for a server that runs, and the primary is lost until someone else is elected (seen).
    rm -f /run/postgresql/.s.PGSQL.*

    # A copy of the primary that was cut short: pg_basebackup begins with an empty directory only. What a server has been started on is
    # no such copy, whatever the mark says: an image without these guards may have made it.
    if [ -e "$volume/copying" ] && [ ! -e "$data/postmaster.opts" ]; then
        echo "copying the primary was cut short: beginning anew"
        rm -rf "$data"
    fi
    rm -f "$volume/copying"
    if [ -e "$volume/initializing" ]; then restart-bootstrap "${PATRONI_NAME%-*}"; fi

    # Patroni reads a directory's files in order, the operator's and the image's.
    config=${2:-/etc/patroni/patroni.yaml}
    mkdir -p /tmp/patroni
    ln -sf "$config" /tmp/patroni/10-operator.yaml
    ln -sf /usr/local/libexec/sampledb/patroni.yaml /tmp/patroni/20-image.yaml
    # Of two majors in an image, the one that is to run.
    major=$(sed -n 's/.*"bin_dir": "\(.*\)".*/\1/p' "$config")
    export PATH="${major:+$major:}$PATH"

    set -- patroni /tmp/patroni
fi

exec "$@"
