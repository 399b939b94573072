#!/bin/sh
# Stops the server that postgis-start.sh started, and deletes its directory.
set -eu

binaries=/usr/lib/postgresql/15/bin
directory=${HICKORY_POSTGIS_DIR:-${TMPDIR:-/tmp}/hickory-postgis}

if [ ! -e "$directory/data/PG_VERSION" ]; then
  echo "there is no server in $directory" >&2
  exit 0
fi

as_owner() {
  if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

if as_owner "$binaries/pg_ctl" status --pgdata="$directory/data" >/dev/null 2>&1; then
  as_owner "$binaries/pg_ctl" stop --wait --mode=fast --pgdata="$directory/data" >&2
fi
rm -rf "$directory"
