#!/bin/sh
# Makes the installed version the one that runs. A process that runs keeps the files of its own version: it has them
# by links, in a folder that dpkg does not touch. Words between two @ are filled in when it is packed.
set -eu

home=/usr/lib/hickory
release=@RELEASE@
data=/var/lib/hickory

# By systemd's own tools where they are, which work without a systemd that runs.
createUser() {
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers hickory.conf
  elif ! getent passwd hickory >/dev/null; then
    useradd --system --user-group --home-dir "$data" --no-create-home --shell /usr/sbin/nologin hickory
  fi
}

createFolders() {
  if command -v systemd-tmpfiles >/dev/null; then
    systemd-tmpfiles --create hickory.conf
  else
    install -d -m 0700 -o hickory -g hickory "$data"
    install -d -m 0750 -o hickory -g hickory /var/log/hickory
    install -d -m 0750 -o root -g hickory /etc/hickory
  fi
}

# dpkg replaces files by others and never writes into them, so the links of a version stay what they were.
link() {
  cp -alfT "$home/package" "$home/$release" 2>/dev/null ||
    cp -aT --remove-destination "$home/package" "$home/$release"
  mkdir -p "$home/bin"
  ln -sfn "../$release/bin/hickory" "$home/bin/.hickory.new"
  mv -fT "$home/bin/.hickory.new" "$home/bin/hickory"
}

# Nothing is enabled at first, because there is nobody to select before an import.
enableAgain() {
  if deb-systemd-helper debian-installed hickory.service; then
    deb-systemd-helper unmask hickory.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled hickory.service; then
      deb-systemd-helper enable hickory.service >/dev/null || true
    fi
  fi
  deb-systemd-helper update-state hickory.service >/dev/null || true
}

restart() {
  [ -d /run/systemd/system ] || return 0
  systemctl --system daemon-reload >/dev/null || true
  [ -n "$1" ] || return 0
  deb-systemd-invoke try-restart hickory.service >/dev/null ||
    echo "hickory: the service does not start again; \`journalctl -u hickory\` says why" >&2
}

# By the Node.js that it runs, which may have another root than this script.
isUsed() {
  [ -e /proc/self/exe ] || return 0
  [ -n "$(find /proc/[0-9]*/exe -maxdepth 0 -lname "*$1/*" 2>/dev/null)" ]
}

removeUnused() {
  for folder in "$home"/[0-9]*; do
    if [ "$folder" = "$home/$release" ] || [ ! -d "$folder" ]; then continue; fi
    if isUsed "$folder"; then
      echo "hickory: $folder is kept, because a process runs there; the next upgrade removes it"
    else
      rm -rf "$folder"
    fi
  done
}

case $1 in
  configure)
    createUser
    createFolders
    link
    enableAgain
    restart "${2:-}"
    removeUnused
    [ -n "${2:-}" ] || echo "hickory: import recipients, then \`systemctl enable --now hickory\`"
    ;;
  abort-remove)
    link
    if [ -d /run/systemd/system ]; then deb-systemd-invoke start hickory.service >/dev/null || true; fi
    ;;
esac
