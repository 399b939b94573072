#!/bin/sh
# Installs what `npm run test:all` needs beyond `npm ci`, where it is missing:
#   curl        runs the commands of the documentation
#   strace      kills imports, and has them fail, at single system calls
#   wrk         drives servers beside the load test's own generator
#   openssl     makes certificates, and speaks TLS to the service
#   nginx, haproxy  stand in front of the service
#   nats-server  carries what machines of a cluster say; newer ones of Debian beside it, where those can be had
#   iproute2    gives each machine of a cluster a network of its own, to be cut off
#   gdal-bin    writes areas in the formats that people have them in
#   debootstrap  makes the minimal Debian that packages are installed on
#   postgresql  with PostGIS, to read recipients from; a newer one of Debian beside it, where that can be had
#   prometheus  with promtool, to scrape a service and to check alert rules
#   zsh, shellcheck  complete commands, as bash does, and check scripts
#   gdal-bin    reads areas by its own client of OGC API - Features
#   systemd, nftables  check the files that a system gets
# By apt-get as root; elsewhere it names what is missing and fails.
set -eu
# Where Debian has servers, and only root looks by itself.
PATH="$PATH:/usr/sbin"

hasPostgis() {
  for server in /usr/lib/postgresql/* "$(pg_config --bindir 2>/dev/null || true)/.."; do
    [ -x "$server/bin/initdb" ] || continue
    for share in "/usr/share/postgresql/${server##*/}" "$(pg_config --sharedir 2>/dev/null || true)"; do
      if [ -e "$share/extension/postgis.control" ]; then return 0; fi
    done
  done
  return 1
}

missingPackages() {
  for tool in curl strace wrk openssl nginx haproxy nats-server zsh debootstrap shellcheck; do
    command -v "$tool" >/dev/null || printf ' %s' "$tool"
  done
  hasPostgis || printf ' postgresql postgresql-postgis'
  command -v promtool >/dev/null || printf ' prometheus'
  command -v systemd-analyze >/dev/null || printf ' systemd'
  command -v nft >/dev/null || printf ' nftables'
  command -v tc >/dev/null || printf ' iproute2'
  command -v ogr2ogr >/dev/null || printf ' gdal-bin'
}

# Of later releases of Debian: what is installed is that of this one. Tests say which of them is missing.
fetchNewerNats() {
  fetchNats 2.10.27 1+b2 6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a
  fetchNats 2.15.1 1 31ef4ceaa84e8248d449e508472e3770c17c3695cb5cb0ee96e03912724ea884
}

fetchNats() {
  version=$1
  file=nats-server_$version-$2_amd64.deb
  sha256=$3
  # test/cluster/support/nats-versions.ts and test/cluster/log/synced-servers.ts look there.
  directory=/var/cache/hickory-tests/nats-server-$version
  [ ! -x "$directory/usr/sbin/nats-server" ] || return 0
  if [ "$(id -u)" != 0 ] || [ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ]; then
    echo "Tests of a cluster go without nats-server $version: it is unpacked by root, on Debian for amd64."
    return 0
  fi
  work=$(mktemp -d)
  if curl -fsS --retry 2 --max-time 120 -o "$work/$file" \
    "http://deb.debian.org/debian/pool/main/n/nats-server/$file" &&
    echo "$sha256  $work/$file" | sha256sum --check --status; then
    mkdir -p "${directory%/*}"
    dpkg -x "$work/$file" "$work/unpacked"
    # Another run on this machine may have been faster.
    mv -T "$work/unpacked" "$directory" 2>/dev/null || true
  else
    echo "Tests of a cluster go without nats-server $version: $file cannot be had from deb.debian.org."
  fi
  rm -rf "$work"
}

# Of the testing release of Debian, with its own libraries: they are newer than those of this machine.
fetchNewerPostgres() {
  version=18
  # test/support/data/postgres-binaries.ts looks there.
  directory=/var/cache/hickory-tests/postgresql-$version
  bin=$directory/usr/lib/postgresql/$version/bin
  [ ! -x "$bin/postgres" ] || return 0
  if [ "$(id -u)" != 0 ] || [ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ]; then
    echo "Tests of followed tables go by the installed PostgreSQL alone: $version is unpacked by root, on Debian for amd64."
    return 0
  fi
  work=$(mktemp -d)
  if debootstrap --download-only --variant=minbase --include=postgresql-$version forky "$work/debian" \
    http://deb.debian.org/debian /usr/share/debootstrap/scripts/sid >"$work/log" 2>&1; then
    mkdir -p "${directory%/*}" "$work/unpacked"
    chmod 755 "$work/unpacked"
    for package in "$work"/debian/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$work/unpacked"; done
    for program in initdb postgres pg_basebackup; do
      path=$work/unpacked${bin#"$directory"}/$program
      mv "$path" "$path.real"
      cat >"$path" <<END
#!/bin/sh
exec $directory/usr/lib64/ld-linux-x86-64.so.2 --argv0 "\$0" \\
  --library-path $directory/usr/lib/x86_64-linux-gnu $bin/$program.real "\$@"
END
      chmod 755 "$path"
    done
    mv -T "$work/unpacked" "$directory" 2>/dev/null || true
  else
    echo "Tests of followed tables go by the installed PostgreSQL alone: $version cannot be had from deb.debian.org."
  fi
  rm -rf "$work"
}

missing=$(missingPackages)
if [ -z "$missing" ]; then
  fetchNewerNats
  fetchNewerPostgres
  exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "test:all needs these Debian packages:$missing" >&2
  echo "Install them, or run it as root where there is apt-get." >&2
  exit 1
fi
echo "Installing for test:all:$missing"
# Another run on this machine may be doing the same.
lock='-o=DPkg::Lock::Timeout=300'
apt-get "$lock" update >/dev/null
# The tests start servers of their own. What is installed here is not to take ports of the machine.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  trap 'rm -f "$policy"' EXIT
fi
# Nor are the services of Prometheus and NATS to be started with the machine.
for name in prometheus nats-server; do
  unit=/etc/systemd/system/$name.service
  [ -e "$unit" ] || [ ! -d "${unit%/*}" ] || ln -s /dev/null "$unit"
done
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get "$lock" install -y --no-install-recommends $missing >/dev/null
missing=$(missingPackages)
[ -z "$missing" ] || { echo "test:all needs these, which apt-get did not install:$missing" >&2; exit 1; }
fetchNewerNats
fetchNewerPostgres
