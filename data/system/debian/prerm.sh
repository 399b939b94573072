#!/bin/sh
# Ends what runs before the program goes. An upgrade ends nothing: see postinst.
set -eu

home=/usr/lib/hickory

if [ "$1" = remove ]; then
  if [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop hickory.service >/dev/null || true
    systemctl stop 'hickory-import@*.timer' 'hickory-import@*.service' >/dev/null || true
  fi
  rm -rf "${home:?}/bin" "${home:?}"/[0-9]*
fi
