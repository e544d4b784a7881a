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
stop_is_patched() { [ "$(grep -c 'self.is_replica_complete(checkpoint_location)' /usr/lib/python3/dist-packages/patroni/ha.py)" = 2 ]; }
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

# Certificates of a repository and of an instance, of an authority of their own.
make_certificates() {
    local name key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    openssl req -x509 $key -keyout "$1/ca.key" -out "$1/ca.crt" -days 1 -subj /CN=authority || return
    for name in repository server operator backup; do
        mkdir -p "$1/$name" &&
            openssl req $key -keyout "$1/$name/tls.key" -out "$1/request" -subj "/CN=smoke\\/test\\/$name" &&
            openssl x509 -req -in "$1/request" -CA "$1/ca.crt" -CAkey "$1/ca.key" -CAcreateserial -days 1 -out "$1/$name/tls.crt" \
                -extfile <(printf 'subjectAltName=DNS:smoke-repository,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n') &&
            cp "$1/ca.crt" "$1/$name/" || return
    done
}

# The repository's program with the real pgBackRest, an encrypted repository on a volume, and the programs of an instance.
archive_works() {
    local bin=$1/bin base=$work/archive-${1##*/} segment=000000010000000000000001 result=0
    local data=$base/volume/data
    mkdir -p "$base/volume" "$base/repository" "$base/mounted/repository" "$base/mounted/encryption" "$base/other" &&
        make_certificates "$base" && cp -r "$base/repository" "$base/mounted/tls" &&
        "$bin/initdb" -D "$data" --auth=trust || return
    echo '{"server": "smoke/test/server", "operator": "smoke/test/operator", "stanza": "smoke-1"}' > "$base/mounted/repository/clients.json"
    mkdir "$base/store"
    printf '[global]\nrepo1-path=%s\nrepo1-cipher-type=aes-256-cbc\ncompress-type=zst\n' "$base/store" > "$base/mounted/repository/pgbackrest.conf"
    echo 'a pass = phrase' > "$base/mounted/encryption/passphrase"
    MOUNTED=$base/mounted MEMORY=$base/memory WORK=$base/work PORT=28433 serve-repository &
    local server=$!
    export HOSTNAME=smoke-0 INTAKE_ADDRESS=127.0.0.1 INTAKE_PORT=28433 CERTIFICATES=$base/server VOLUME=$base/volume PGDATA=$data STOP_MARK=$base/stopping
    for _ in $(seq 100); do
        if CERTIFICATES=$base/operator ask GET /status > "$base/status" 2>&1 && grep -q '"ok": true' "$base/status"; then break; fi
        sleep 0.1
    done
    grep '200.*"stanza": "smoke-1".*"ok": true' "$base/status" || { cat "$base/status"; result=1; }

    # The first push makes the stanza; the second finds the segment in the archive.
    [ "$(ask PUT "/wal/$segment" "$data/pg_wal/$segment" | cut -c1-3)" = 428 ] || { echo "no 428 without a stanza"; result=1; }
    for try in first second; do pgbackrest-push "$data/pg_wal/$segment" || { echo "the $try push failed"; result=1; }; done
    # Another content under the same name is refused: of a segment, a history and a label.
    cp "$data/pg_wal/$segment" "$base/other/" && printf other | dd of="$base/other/$segment" bs=1 seek=100000 conv=notrunc status=none
    pgbackrest-push "$base/other/$segment"
    [ $? = 2 ] && grep ArchiveConflict "$VOLUME/archive-failure.json" || { echo "a conflict was taken"; result=1; }
    echo history > "$base/00000002.history" && echo other > "$base/other/00000002.history"
    echo label > "$base/$segment.00000028.backup" && echo other > "$base/other/$segment.00000028.backup"
    for note in 00000002.history "$segment.00000028.backup"; do
        pgbackrest-push "$base/$note" && ! pgbackrest-push "$base/other/$note" || { echo "$note was overwritten"; result=1; }
    done
    pgbackrest-push "$base/00000002.history" && [ ! -e "$VOLUME/archive-failure.json" ] || { echo "the failure stays"; result=1; }
    fetch-history 00000002.history "$base/got" && grep -x history "$base/got" || { echo "no history"; result=1; }
    for absent in 00000003.history "$segment"; do fetch-history "$absent" "$base/got" && { echo "$absent is there"; result=1; }; done
    echo 'another' > "$base/mounted/encryption/passphrase"
    pgbackrest-push "$data/pg_wal/$segment" && result=1
    grep WrongPassphrase "$VOLUME/archive-failure.json" || result=1
    kill $server && wait $server
    return $result
}

# As on a full volume: of what is let go, a start removes the segments that neither the recovery nor a slot needs.
room_is_made() {
    local bin=$1/bin base=$work/room-${1##*/}
    local data=$base/data
    mkdir "$base" && "$bin/initdb" -D "$data" --auth=trust && printf "archive_mode = on\narchive_command = 'false'\n" >> "$data/postgresql.conf" || return
    start() { "$bin/pg_ctl" -D "$data" -w -l "$data.log" -o "-k $base -c listen_addresses= -c shared_buffers=16MB" start; }
    sql() { "$bin/psql" -h "$base" -d postgres -v ON_ERROR_STOP=1 -Atq -c "$1"; }
    close_segments() { for _ in 1 2 3; do sql "SELECT pg_logical_emit_message(true, '', '')" && sql "SELECT pg_switch_wal()" || return; done; }
    start && close_segments && sql CHECKPOINT && sql "SELECT pg_create_physical_replication_slot('held', true)" && close_segments && sql CHECKPOINT || return
    echo "$(sql 'SELECT system_identifier FROM pg_control_system()') 000000010000000000000006" > "$base/let-go"
    "$bin/pg_ctl" -D "$data" -w -m immediate stop
    PATH=$bin:$PATH PGDATA=$data LET_GO=$base/let-go LEAST_ROOM=1000000000000000 /usr/local/libexec/sampledb/make-room
    [ "$(cd "$data/pg_wal" && ls -d 0* | head -1)" = 000000010000000000000004 ] || { ls "$data/pg_wal"; return 1; }
    start && "$bin/pg_ctl" -D "$data" -w -m fast stop
}

# A backup of a running server, by serve-data and run-backup; and one that is not there.
backup_works() {
    local bin=$1/bin base=$work/backup-${1##*/} result=0
    local data=$base/volume/data
    mkdir -p "$base/volume" "$base/sockets" "$base/store" "$base/mounted/repository" "$base/run/repository" &&
        make_certificates "$base" && cp -r "$base/repository" "$base/mounted/tls" && cp -r "$base/backup" "$base/run/tls" &&
        "$bin/initdb" -D "$data" --auth=trust --username=postgres --data-checksums || return
    echo '{"server": "smoke/test/server", "operator": "smoke/test/operator", "stanza": "smoke-1"}' > "$base/mounted/repository/clients.json"
    printf '[global]\nrepo1-path=%s\ncompress-type=zst\nrepo1-bundle=y\nrepo1-block=y\nstart-fast=y\n[smoke-1]\n' "$base/store" |
        tee "$base/mounted/repository/pgbackrest.conf" > "$base/run/repository/pgbackrest.conf"
    printf 'pg1-%s\n' host=localhost host-type=tls host-port=28432 host-{ca-file=$base/run/tls/ca.crt,cert-file=$base/run/tls/tls.crt,key-file=$base/run/tls/tls.key} \
        "path=$data" "socket-path=$base/sockets" >> "$base/run/repository/pgbackrest.conf"
    MOUNTED=$base/mounted MEMORY=$base/memory WORK=$base/work PORT=28433 serve-repository &
    local repository=$!
    CERTIFICATES=$base/server PORT=28432 LOCKS=$base/locks serve-data smoke/test/backup &
    local server=$!
    HOSTNAME=smoke-0 INTAKE_ADDRESS=127.0.0.1 INTAKE_PORT=28433 CERTIFICATES=$base/server VOLUME=$base/volume PGDATA=$data STOP_MARK=$base/stopping \
        "$bin/pg_ctl" -D "$data" -w -l "$data.log" start \
        -o "-k $base/sockets -c listen_addresses= -c shared_buffers=16MB -c archive_mode=on -c archive_command='pgbackrest-push %p'" || result=1
    for _ in $(seq 100); do
        if (echo > /dev/tcp/localhost/28432) 2> /dev/null; then break; fi
        sleep 0.1
    done
    printf '{"task": "backup", "type": "full", "uid": "smoke", "stanza": "smoke-1", "operator": "x", "instances": [{"host": "localhost", "primary": true}]}' \
        > "$base/run/repository/run.json"
    run_backup "$base" && grep '"outcome": "succeeded"' "$base/said" || { cat "$base/said"; result=1; }
    echo '{"task": "adopt", "uid": "another", "stanza": "smoke-1", "operator": "x"}' > "$base/run/repository/run.json"
    ! run_backup "$base" && grep BackupLost "$base/said" || { cat "$base/said"; result=1; }
    "$bin/psql" -h "$base/sockets" -U postgres -d postgres -Xqc 'CREATE TABLE later AS SELECT 1' -c 'SELECT pg_switch_wal()' || result=1
    for _ in $(seq 100); do
        if ! ls "$data"/pg_wal/archive_status/*.ready > /dev/null 2>&1; then break; fi
        sleep 0.1
    done
    "$bin/pg_ctl" -D "$data" -w -m immediate stop
    kill $server $repository && wait $server $repository
    restore_works "$bin" "$base" || result=1
    return $result
}

# The backup of backup_works, restored with all that came after it.
restore_works() {
    local bin=$1 base=$2 role data=$2/restored/data result=0
    mkdir -p "$base/restored" && cp "$base/mounted/repository/pgbackrest.conf" "$base/run/repository/" || return
    for role in superuser replication application; do
        mkdir -p "$base/run/passwords/$role" && echo "of $role" > "$base/run/passwords/$role/password"
    done
    printf '{"uid": "smoke", "stanza": "smoke-1", "operator": "x", "label": null, "target": {"type": "Latest"}, "database": "app", "roles": %s}' \
        '{"superuser": "postgres", "replication": "replication", "application": "app"}' > "$base/run/repository/run.json"
    mkdir -p "$base/clean/repository" && cp "$base/run/repository/run.json" "$base/clean/repository/" && cp -r "$base/run/tls" "$base/clean/" &&
        mv "$base/run/passwords" "$base/clean/" || return
    run_restore "$base" run recover && run_restore "$base" clean clean || { cat "$base/said"; return 1; }
    "$bin/pg_ctl" -D "$data" -w -l "$data.log" -o "-k $base/restored -c listen_addresses= -c shared_buffers=16MB" start || return
    [ "$("$bin/psql" -h "$base/restored" -U postgres -d postgres -XAtc 'SELECT count(*) FROM later')" = 1 ] || result=1
    "$bin/pg_ctl" -D "$data" -w -m immediate stop
    return $result
}

run_restore() { # run_restore BASE MOUNTED PART
    MOUNTED=$1/$2 MEMORY=$1/$2-memory WORK=$1/$2-work VOLUME=$1/restored PORT=28434 TERMINATION_LOG=$1/said run-restore "$3" && grep '"outcome": "succeeded"' "$1/said"
}

run_backup() { MOUNTED=$1/run MEMORY=$1/run-memory PORT=28434 TERMINATION_LOG=$1/said run-backup; }

ask() { # ask METHOD PATH [FILE], as an instance
    /usr/bin/python3 -IS -c 'import sys; sys.path.insert(0, "/usr/local/bin"); import intake_client; print(*intake_client.ask(*sys.argv[1:]))' "$@"
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
check "Patroni does not wait for the archiver" stop_is_patched
for major in /usr/lib/postgresql/*; do
    check "PostgreSQL ${major##*/} has its libraries" libraries_are_there "$major"/bin/* "$major"/lib/*.so
    check "PostgreSQL ${major##*/} has pg_upgrade" version_is "${major##*/}." "$major/bin/pg_upgrade" --version
    check "PostgreSQL ${major##*/} starts, with all extensions, and is initialized" server_works "$major"
    check "PostgreSQL ${major##*/} archives to a repository" archive_works "$major"
    check "PostgreSQL ${major##*/} starts on a full volume, once segments are let go" room_is_made "$major"
    check "PostgreSQL ${major##*/} is backed up and restored" backup_works "$major"
done
exit $failed
