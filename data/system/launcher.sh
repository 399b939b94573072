#!/bin/sh
# Starts Hickory with the Node.js that was packed with it. @WORDS@ are filled in when it is packed.
set -u

fail() {
  echo "hickory: $1" >&2
  exit "$2"
}

# The folder that this file belongs to, also when it was called by a link such as /usr/bin/hickory.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self") || fail "cannot follow the link $self" 1
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
case $self in
  */*) folder=${self%/*} ;;
  *) folder=. ;;
esac
root=$(CDPATH='' cd -- "$folder/.." && pwd -P) || fail "cannot open the folder above $folder" 1

# VERSION is written last, so whatever stopped the unpacking left it out.
for part in node/bin/node app/dist/bundle/cli.js app/package.json VERSION; do
  [ -s "$root/$part" ] || fail "$root is incomplete: $part is missing or empty.
Check the package that you downloaded (sha256sum -c SHA256SUMS), and unpack or install it again." 1
done
[ -x "$root/node/bin/node" ] || fail "$root/node/bin/node may not be executed.
Unpack the package on a disk that is not mounted with noexec, with its permissions (tar -xzf)." 1

machine=$(uname -m 2>/dev/null || echo unknown)
case $machine in
  @MACHINES@ | unknown) ;;
  x86_64 | amd64) fail "this package is for @ARCH@, and this machine is x64. Install hickory-@VERSION@-linux-x64." 7 ;;
  aarch64 | arm64) fail "this package is for @ARCH@, and this machine is arm64. Install hickory-@VERSION@-linux-arm64." 7 ;;
  *) fail "this package is for @ARCH@, and this machine is $machine. There are packages for x64 and arm64." 7 ;;
esac

# Without these checks, the loader would name a symbol, and the shell a file that is there.
libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || libc=
if [ -z "$libc" ]; then
  case $(ldd --version 2>&1) in
    *musl*) fail "this system has musl, and Hickory needs glibc @GLIBC@ or later (Debian 12, Ubuntu 22.04, RHEL 9 or later)." 7 ;;
  esac
fi
libc=${libc#glibc }
major=${libc%%.*}
minor=${libc#*.}
minor=${minor%%[!0-9]*}
case $major$minor in
  '' | *[!0-9]*) ;;
  *)
    # Compared as one number, such as 2034 for 2.34.
    needed=@GLIBC_NUMBER@
    if [ "$((major * 1000 + minor))" -lt "$needed" ]; then
      fail "this system has glibc $libc, and Hickory needs @GLIBC@ or later (Debian 12, Ubuntu 22.04, RHEL 9 or later)." 7
    fi
    ;;
esac

exec "$root/node/bin/node" "$root/app/dist/bundle/cli.js" "$@"
