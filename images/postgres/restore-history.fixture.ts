// Makes the history that restores are tried on, in a container of the image: a hostile database, its backups, its archive. Prints what a test
// has to know of it as the last line, as JSON. The source is gone then; its repositories stay.
export const historyScript = String.raw`
set -eu
export PGHOST=/tmp/source PGUSER=postgres PGDATABASE=app PGBACKREST_CONFIG=/tmp/source.conf PGBACKREST_STANZA=uid-17-1
export PGDATA=/tmp/source/data
mkdir -p /tmp/source /tmp/elsewhere /tmp/store /tmp/encrypted /tmp/control/global
initdb --data-checksums --no-sync --username=postgres --auth=trust > /dev/null
archive="archive_command=pgbackrest --config=/tmp/source.conf --stanza=uid-17-1 archive-push %p"
options="-c listen_addresses= -c unix_socket_directories=/tmp/source -c archive_mode=on -c '$archive' -c fsync=off -c shared_buffers=16MB"
start() { pg_ctl -w -s -l /tmp/source/log -o "$options -c max_prepared_transactions=5 -c track_commit_timestamp=on" start; }
ask() { psql -XAtqv ON_ERROR_STOP=1 "$@"; }
backup() { pgbackrest backup --no-expire-auto --annotation=sampledb-verified=2026-11-18T02:00:00Z --log-level-console=off --log-level-stderr=error "$@"; }
archived() { ask -c "SELECT pg_switch_wal()" > /dev/null; until [ "$(ls "$PGDATA"/pg_wal/archive_status/*.ready 2>/dev/null)" = "" ]; do sleep 0.05; done; }

start
psql -d postgres -XAtqc 'CREATE DATABASE app'
pgbackrest stanza-create --log-level-console=off
ask <<'SQL'
CREATE ROLE app LOGIN PASSWORD 'of the source' VALID UNTIL '2020-01-01';
CREATE TABLE rows (id int);
CREATE TABLE orders (id int);
INSERT INTO orders VALUES (1);
CREATE TABLESPACE "../../../outside" LOCATION '/tmp/elsewhere';
CREATE TABLE spaced TABLESPACE "../../../outside" AS SELECT 1 AS id;
-- What a superuser can leave behind. None of it may reach the server of a restore.
ALTER SYSTEM SET work_mem = '1234kB';
ALTER SYSTEM SET shared_preload_libraries = '/tmp/evil';
ALTER SYSTEM SET archive_command = 'touch /tmp/hacked';
ALTER SYSTEM SET restore_command = 'touch /tmp/hacked; false';
ALTER DATABASE postgres SET session_preload_libraries = '/tmp/evil';
ALTER DATABASE template1 SET session_preload_libraries = '/tmp/evil';
SELECT FROM pg_create_physical_replication_slot('kept', true);
CREATE SUBSCRIPTION taken CONNECTION 'host=/tmp/nowhere' PUBLICATION p WITH (connect = false, slot_name = 'taken');
ALTER SUBSCRIPTION taken ENABLE;
CREATE FUNCTION spy() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
  EXECUTE 'COPY (SELECT current_setting(''data_directory'')) TO PROGRAM ''cat >> /tmp/spied''';
END $$;
CREATE EVENT TRIGGER spy_login ON login EXECUTE FUNCTION spy();
CREATE EVENT TRIGGER spy_ddl ON ddl_command_end EXECUTE FUNCTION spy();
ALTER EVENT TRIGGER spy_login ENABLE ALWAYS;
ALTER EVENT TRIGGER spy_ddl ENABLE ALWAYS;
SQL
echo '{"postgresql": {"parameters": {"work_mem": "1234kB"}}}' > "$PGDATA/patroni.dynamic.json"
printf "default_text_search_config = 'pg_catalog.german'\nshared_preload_libraries = '/tmp/evil'\n" > "$PGDATA/postgresql.base.conf"
mkdir "$PGDATA/conf.d" && echo "work_mem = '1234kB'" > "$PGDATA/conf.d/more.conf"

for repository in 1 2 3; do backup --type=full --repo=$repository; done
first=$(ls /tmp/store/backup/uid-17-1 | grep 'F$')
sleep 2 # a target is later than the whole second in which the backup ended

ask -c 'INSERT INTO rows VALUES (1), (2)' -c 'CREATE TABLE held (id int)'
ask -c "BEGIN; INSERT INTO held VALUES (1); PREPARE TRANSACTION 'prepared'"
transaction=$(ask -c 'INSERT INTO rows VALUES (3) RETURNING pg_current_xact_id()')
ask -c "SELECT pg_create_restore_point('before it''s gone')" > /dev/null
lsn=$(ask -c 'SELECT pg_current_wal_insert_lsn()')
time=$(ask -c "SELECT to_char(clock_timestamp() AT TIME ZONE '+02:00', 'YYYY-MM-DD\"T\"HH24:MI:SS.US') || '-02:00'")
sleep 0.1
ask -c 'INSERT INTO rows VALUES (4)' -c 'DROP TABLE orders'
archived
backup --type=incr --repo=1 --annotation=sampledb-spec="$(echo packed | base64)"
second=$(ls /tmp/store/backup/uid-17-1 | grep 'I$')
sleep 2 # the last commit of each segment is later than the whole second after the backup's end
for row in 5 6 7 8 9; do
  ask -c "INSERT INTO rows VALUES ($row)"
  archived
done
last=$(ask -c "INSERT INTO rows VALUES (10)" -c "SELECT to_char(pg_xact_commit_timestamp(xmin) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM rows WHERE id = 10")
sleep 2.2
archived
system=$(pg_controldata | sed -n 's/^Database system identifier: *//p')
pg_ctl -s -m immediate stop
cp "$PGDATA/global/pg_control" /tmp/control/global/ # without it, pgBackRest gives no segment
rm -rf /tmp/source /tmp/elsewhere /tmp/spied
printf '{"system": "%s", "labels": ["%s", "%s"], "time": "%s", "lsn": "%s", "transaction": "%s", "lastCommit": "%s", "rows": 10}\n' \
    "$system" "$first" "$second" "$time" "$lsn" "$transaction" "$last"
`;
