#!/bin/bash
# Checks a container of the PostgreSQL image from inside, as the user it runs as. Every check prints a line, a failed one also its
# output, and the exit code shows whether all passed.
#   kubectl exec -i POD -- bash -s < images/postgres/smoke-test.sh
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # check TITLE COMMAND…
    local title=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok      $title"
    else
        echo "FAILED  $title: $output" >&2
        failed=1
    fi
}

has_name() { [ "$(id -un)" = postgres ] && [ "$(id -u)" != 0 ] && [ "$(id -g)" = 0 ]; }
root_is_read_only() { ! touch /usr/probe /etc/probe /var/lib/probe 2>/dev/null; }
nothing_is_setuid() { [ -z "$(find / -xdev -type f -perm /6000 -print -quit 2>/dev/null)" ]; }
no_keys() { ! grep -rlsE -e '-----BEGIN.*PRIVATE KEY' /etc /usr/share/ca-certificates /var/lib --exclude-dir=postgresql; }
libraries_are_there() { ! ldd "$@" | grep 'not found'; }
version_is() { local want=$1; shift; "$@" | grep -F "$want" || { "$@"; false; }; }
exporter_version() { prometheus-postgres-exporter --version 2>&1; } # it prints to stderr
first_process_is() { [ "$(cat /proc/1/comm)" = "$1" ]; }
handover_is_patched() { grep -q 'self.wait_for_next_leader()' /usr/lib/python3/dist-packages/patroni/ha.py; }
list_is_patched() { grep -A1 'self._condition.notify()' /usr/lib/python3/dist-packages/patroni/dcs/kubernetes.py | grep -q 'self._dcs.event.set()'; }
ends_without_volume() { ! serve-metrics 2>&1; }
asks_without_hostname() { ! env -u HOSTNAME may-promote 2>&1; }
ends_without_pod() { ! env -u HOSTNAME restart-bootstrap none 2>&1; }
ends_without_hostname() { ! env -u HOSTNAME take-writes on_start replica none 2>&1; }

# A server of its own beside one that may run here: without TCP, with its socket and data in a temporary directory.
server_works() {
    local bin=$1/bin data=$work/data-${1##*/}
    "$bin/initdb" -D "$data" --auth=trust --data-checksums --locale-provider=icu --icu-locale=und &&
        "$bin/pg_ctl" -D "$data" -w -l "$data.log" -o "-k $work -c listen_addresses= -c shared_buffers=16MB -c shared_preload_libraries=pg_stat_statements" start || return
    "$bin/psql" -h "$work" -d postgres -v ON_ERROR_STOP=1 -At <<'SQL'
select format('create extension if not exists %I cascade', name) from pg_available_extensions order by name \gexec
select count(*) from pg_stat_statements;
select gen_random_bytes(8), uuid_generate_v4(), now() at time zone 'US/Pacific', 'ä' < 'b' collate "de-x-icu";
set jit_above_cost = 0;
select count(*) from generate_series(1, 1000);
SQL
    local result=$?
    echo 'CREATE TABLE orders (id int);' > "$work/00.sql"
    for expected in "made role app, database app, 1 extension, 1 script" "nothing to do"; do
        PGHOST=$work SUPERUSER_PASSWORD=none DATABASE_NAME=app OWNER_NAME=app OWNER_PASSWORD=none EXTENSIONS=pgcrypto \
            SCRIPTS="00.sql configmap smoke-test/00.sql" SCRIPTS_DIRECTORY=$work TERMINATION_LOG=$work/said initialize-database &&
            grep -Fx "$expected" "$work/said" || result=1
    done
    PGHOST=$work SUPERUSER_PASSWORD=none OWNER_NAME=app OWNER_PASSWORD=other TERMINATION_LOG=$work/said initialize-database password &&
        grep -Fx "set the password of the role app" "$work/said" || result=1
    PGHOST=$work SUPERUSER_PASSWORD=none OWNER_NAME=nobody OWNER_PASSWORD=other TERMINATION_LOG=$work/said initialize-database password
    [ $? = 3 ] && grep -F 'role "nobody" does not exist' "$work/said" || result=1
    "$bin/pg_ctl" -D "$data" -w -m fast stop
    return $result
}

check "runs as postgres in group 0" has_name
check "process 1 hears of a signal from the first moment on" first_process_is tini
check "the root file system is read-only" root_is_read_only
check "in a handover Patroni waits for the next leader, not for two seconds" handover_is_patched
check "what Patroni learns by a list wakes it, as an event does" list_is_patched
check "no setuid file" nothing_is_setuid
check "no private key" no_keys
check "Patroni finds Kubernetes" python3 -c 'import patroni.dcs.kubernetes'
check "Patroni 4.0.7" version_is 4.0.7 patroni --version
check "patronictl 4.0.7" version_is 4.0.7 env -u PATRONICTL_CONFIG_FILE patronictl version
check "pgBackRest 2.55" version_is 2.55 pgbackrest version
check "pgBackRest has its libraries" libraries_are_there "$(command -v pgbackrest)"
check "the exporter 0.17" version_is 0.17 exporter_version
check "take-writes has all that it imports" version_is "'HOSTNAME'" ends_without_hostname
check "may-promote has all that it imports" version_is "'HOSTNAME'" asks_without_hostname
check "restart-bootstrap has all that it imports" version_is "'HOSTNAME'" ends_without_pod
check "serve-metrics has all that it imports" version_is "'volume'" ends_without_volume
for major in /usr/lib/postgresql/*; do
    check "PostgreSQL ${major##*/} has its libraries" libraries_are_there "$major"/bin/* "$major"/lib/*.so
    check "PostgreSQL ${major##*/} has pg_upgrade" version_is "${major##*/}." "$major/bin/pg_upgrade" --version
    check "PostgreSQL ${major##*/} starts, with all extensions, and is initialized" server_works "$major"
done
exit $failed
