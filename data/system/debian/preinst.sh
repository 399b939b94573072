#!/bin/sh
# Refuses data that this version cannot read, before anything is changed. Words between two @ are filled in when it is packed.
set -eu

readsSnapshot=@SNAPSHOT_FORMAT@
readsStore=@STORE_FORMAT@
settings=/etc/hickory/hickory.json

# The value that the first line of a file with this member has; fields of ours are one a line.
member() {
  [ ! -r "$2" ] || sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$2" | head -n 1
}

refuse() {
  cat >&2 <<TEXT
hickory: $1, and version @VERSION@ reads formats up to $2.
Nothing was changed. To go back:
$3
or restore a backup into an empty directory, and name that as "data" in $settings.
TEXT
  exit 1
}

checkSnapshot() {
  [ -r "$1/CURRENT" ] || return 0
  id=$(head -n 1 "$1/CURRENT")
  format=$(member formatVersion "$1/snapshots/$id/manifest.json")
  case $format in '' | *[!0-9]*) return 0 ;; esac
  [ "$format" -le "$readsSnapshot" ] || refuse \
    "the current snapshot of $1 ($id) has format $format" "$readsSnapshot" \
    "let the newer version make an older snapshot current (\`hickory inspect --data $1\` lists
the formats, \`hickory rollback ID --data $1\` goes to one),"
}

# LMDB has a key and its value side by side, behind the length of the value in four bytes, two of flags, and the
# length of the key in two. Pages that are free have earlier formats; a store never gets a lower one.
checkStore() {
  [ -r "$1/store/data.mdb" ] || return 0
  key='\x00{5}\x06\x00format\K'
  format=$(LC_ALL=C grep -aoP "\x01${key}[0-9]|\x02${key}[0-9]{2}" "$1/store/data.mdb" | sort -n | tail -n 1)
  [ "${format:-0}" -le "$readsStore" ] || refuse "the store of $1 has format $format" "$readsStore" \
    "install the newer version again,"
}

# dpkg would follow the link, and unpack into a tarball.
checkLink() {
  [ -L /usr/lib/hickory ] || return 0
  cat >&2 <<TEXT
hickory: /usr/lib/hickory is a link to $(readlink /usr/lib/hickory), and this package puts a folder there.
Nothing was changed. Stop the service, remove the link, and what was copied into /etc/systemd/system,
/etc/sysusers.d and /etc/tmpfiles.d with it; then install again. The data stays where it is.
TEXT
  exit 1
}

case $1 in
  install | upgrade)
    checkLink
    given=$(member data "$settings")
    for data in /var/lib/hickory "$given"; do
      [ -n "$data" ] || continue
      checkSnapshot "$data"
      checkStore "$data"
    done
    ;;
esac
