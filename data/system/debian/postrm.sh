#!/bin/sh
# Never removes data, nor the user that it belongs to: recipients can be imported again, but suppressed numbers, keys
# and an audit cannot.
set -eu

data=/var/lib/hickory

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
fi
case $1 in
  remove)
    if [ -x /usr/bin/deb-systemd-helper ]; then
      deb-systemd-helper mask hickory.service >/dev/null || true
    fi
    ;;
  purge)
    if [ -x /usr/bin/deb-systemd-helper ]; then
      deb-systemd-helper purge hickory.service >/dev/null || true
      deb-systemd-helper unmask hickory.service >/dev/null || true
    fi
    # Imports that were enabled, by their names of the day.
    find /etc/systemd/system -name 'hickory-import@*' -type l -exec rm -f {} + 2>/dev/null || true
    rmdir /etc/hickory /var/log/hickory "$data" 2>/dev/null || true
    for folder in "$data" /var/log/hickory; do
      [ ! -d "$folder" ] || echo "hickory: $folder is kept; to delete it for ever: rm -r $folder"
    done
    ! getent passwd hickory >/dev/null || echo "hickory: the user hickory is kept; to delete it: userdel hickory"
    ;;
esac
