#!/bin/sh
# Starts a PostGIS server to compare with, in a directory of its own and for this machine alone.
#
#   eval "$(npm run --silent postgis:start)"
#
# Installs Debian's packages if they are missing, which takes root. Prints the variables that
# clients need to standard output and everything else to standard error. The server listens on a
# Unix socket and on no port, in a directory that only its owner and root can enter, so it needs no
# password and meets no other server. `npm run postgis:stop` ends it and deletes its data.
set -eu

version=15
binaries=/usr/lib/postgresql/$version/bin
directory=${HICKORY_POSTGIS_DIR:-${TMPDIR:-/tmp}/hickory-postgis}

as_owner() {
  # The server refuses to run as root.
  if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

if [ ! -e /usr/share/postgresql/$version/extension/postgis.control ]; then
  apt-get update >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    postgresql-$version-postgis-3 >&2
fi

if [ ! -e "$directory/data/PG_VERSION" ]; then
  mkdir -m 700 "$directory"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$directory"; fi
  as_owner "$binaries/initdb" --pgdata="$directory/data" --username=hickory --auth=trust \
    --encoding=UTF8 --locale=C >&2
  # Memory as for a machine with 8 GB or more; what is lost when it crashes is loaded again.
  as_owner tee -a "$directory/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$directory'
shared_buffers = 4GB
effective_cache_size = 8GB
maintenance_work_mem = 1GB
work_mem = 64MB
max_wal_size = 8GB
fsync = off
synchronous_commit = off
random_page_cost = 1.1
dynamic_shared_memory_type = mmap
END
fi

if ! as_owner "$binaries/pg_ctl" status --pgdata="$directory/data" >/dev/null 2>&1; then
  as_owner "$binaries/pg_ctl" start --wait --pgdata="$directory/data" \
    --log="$directory/server.log" >&2
fi

echo "export PGHOST='$directory' PGPORT=5432 PGUSER=hickory PGDATABASE=postgres"
