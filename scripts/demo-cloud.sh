# shellcheck shell=bash
# The servers of `make demo DEMO=cloud`, on free ports of the loopback: PostgreSQL for catalog and state, moto for the
# files. Sourced by scripts/demo; needs scripts/lib.sh.

postgres_folder() {
  local folder
  for folder in "${ONDATRA_POSTGRES_BIN:-}" /usr/lib/postgresql/*/bin; do
    if [ -x "$folder/initdb" ]; then
      printf '%s\n' "$folder"
      return 0
    fi
  done
  dirname "$(command -v initdb)"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# PostgreSQL does not run as root.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; else "$@"; fi
}

# until_up WHAT COMMAND...
until_up() {
  local what=$1
  shift
  for _ in $(seq 100); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.1
  done
  die "the demo's $what did not start" "see $servers_dir"
}

start_postgres() {
  local programs data=$servers_dir/postgres
  programs=$(postgres_folder)
  pg_port=$(free_port)
  mkdir -p "$data"
  if [ "$(id -u)" = 0 ]; then chown postgres "$data"; fi
  as_postgres "$programs/initdb" -A trust -U demo -E UTF8 --no-sync -D "$data" >"$servers_dir/initdb.log"
  as_postgres "$programs/postgres" -D "$data" -p "$pg_port" -k "$data" -h 127.0.0.1 >"$servers_dir/postgres.log" 2>&1 &
  servers+=($!)
  until_up PostgreSQL "$programs/pg_isready" -q -h 127.0.0.1 -p "$pg_port" -U demo
  for database in lake state; do
    "$programs/createdb" -h 127.0.0.1 -p "$pg_port" -U demo "$database"
  done
}

start_object_store() {
  store_port=$(free_port)
  PYTHONPATH=$engine_dir/moto python3 -m moto.server -H 127.0.0.1 -p "$store_port" >"$servers_dir/moto.log" 2>&1 &
  servers+=($!)
  until_up "object store" python3 -c "import urllib.request as u
u.urlopen(u.Request('http://127.0.0.1:$store_port/lake', b'', method='PUT'))"
}

# Copies the example, gives the copy the configuration in cloud/, and enters it.
enter_cloud() {
  local project=$repo_dir/target/demo-cloud
  servers_dir=$(mktemp -d)
  # PostgreSQL's own user has to get to its folder.
  chmod 755 "$servers_dir"
  rm -rf "$project"
  mkdir -p "$project"
  cp -R "$repo_dir"/examples/flights/{api,config,data,lib,models} "$project"
  cp "$repo_dir"/examples/flights/cloud/*.sql "$project/config"
  cd "$project"
  start_postgres
  start_object_store
  (umask 077 && printf '%s\n' "PG_HOST=127.0.0.1" "PG_PORT=$pg_port" "PG_USER=demo" "LAKE_BUCKET=lake" \
    "LAKE_ENDPOINT=127.0.0.1:$store_port" "LAKE_KEY_ID=demo-key" "LAKE_SECRET=demo-secret" >.env)
}
