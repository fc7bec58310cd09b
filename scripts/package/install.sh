#!/bin/sh
# Installs Vidro for this user: nothing is needed but sh, tar, gzip and the few programs that every system has.
#   sh install.sh              into ~/.local: ~/.local/bin/vidro, vidro-hand and codegen
#   PREFIX=/usr/local sh install.sh
# The archive lies beside this script. A brain that invites a host gives the same script with its own address in it:
# then the archive comes from there, and the host joins the brain. Running it again replaces the links; an installation
# that is interrupted leaves the one before as it was.
set -eu
umask 022

# Where the archive comes from, and the key of the server there; empty: it lies beside this script.
url='@URL@'
pin='@PIN@'
# The brain that this host joins when all is installed; empty: none.
brain='@BRAIN@'

fail() {
  echo "install: $2" >&2
  exit "$1"
}

# The SHA-256 of a file.
hash_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    hashed=$(sha256sum "$1")
  elif command -v shasum >/dev/null 2>&1; then
    hashed=$(shasum -a 256 "$1")
  elif command -v openssl >/dev/null 2>&1; then
    hashed=$(openssl dgst -sha256 -r "$1")
  else
    fail 1 "none of sha256sum, shasum and openssl is there to check the archive with."
  fi
  printf %s "${hashed%% *}"
}

case $(uname -s)-$(uname -m) in
  Linux-x86_64) platform=linux-x64 ;;
  Linux-aarch64 | Linux-arm64) platform=linux-arm64 ;;
  Darwin-x86_64) platform=darwin-x64 ;;
  Darwin-arm64) platform=darwin-arm64 ;;
  *) platform=$(uname -s)-$(uname -m) ;;
esac
archive=
offered=
# One line for each archive: platform, name, SHA-256.
while read -r for_platform name hash; do
  offered="$offered $for_platform"
  if [ "$for_platform" = "$platform" ]; then
    archive=$name
    sha256=$hash
  fi
done <<ARCHIVES
@ARCHIVES@
ARCHIVES
[ -n "$archive" ] || fail 3 "this machine is $platform, and there is an archive for$offered only."

if [ -n "${PREFIX:-}" ]; then
  prefix=$PREFIX
elif [ -n "$brain" ] && [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
  # The service has a user of its own, who must be able to read it.
  prefix=/usr/local
else
  prefix=${HOME:?HOME is not set; say where to install with PREFIX=<folder>}/.local
fi
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
name=${archive%.tar.gz}
libraries=$prefix/lib/vidro
target=$libraries/$name-$(printf %.12s "$sha256")

# Puts the archive of the brain into a file; what comes is checked by its hash in any case.
fetch() {
  echo "install: fetching $archive from ${url%%\?*}" >&2
  if command -v curl >/dev/null 2>&1; then
    curl -fsSk --retry 3 --pinnedpubkey "sha256//$pin" -o "$1" "$url$platform"
  else
    wget -q --no-check-certificate -O "$1" "$url$platform"
  fi || fail 7 "the archive did not come whole; paste the line again."
}

# Fails unless a file is the archive that is meant.
check() {
  found=$(hash_of "$1")
  [ "$found" = "$sha256" ] || fail 4 "$archive is damaged or another one: its sha256 is $found, not $sha256."
}

if [ -z "$url" ]; then
  [ -f "$here/$archive" ] || fail 1 "$here/$archive is missing; it belongs beside this script."
  check "$here/$archive"
fi
if [ ! -x "$target/bin/vidro" ]; then
  mkdir -p "$libraries" || fail 1 "$libraries cannot be made; say where to install with PREFIX=<folder>."
  unpacked=$(mktemp -d "$libraries/.unpack-XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  source=$here/$archive
  if [ -n "$url" ]; then
    source=$unpacked/$archive
    fetch "$source"
    check "$source"
  fi
  tar -xzf "$source" -C "$unpacked" || fail 1 "$archive cannot be unpacked: is the disk full?"
  "$unpacked/$name/bin/vidro-hand" --version >/dev/null ||
    fail 1 "the program cannot run on this machine; it needs a system with glibc."
  # One rename makes it complete; a second installer at the same time finds it done.
  mv "$unpacked/$name" "$target" 2>/dev/null || [ -x "$target/bin/vidro" ] || fail 1 "$target cannot be made."
fi
# What is installed by hand can invite hosts: it keeps the archive that they get.
if [ -z "$url" ] && [ ! -f "$target/archive/$archive" ]; then
  mkdir -p "$target/archive"
  cp "$here/$archive" "$target/archive/.$archive.$$"
  mv -f "$target/archive/.$archive.$$" "$target/archive/$archive"
fi

# Links a file of the installation to its place below the prefix.
link() {
  mkdir -p "$prefix/${1%/*}"
  ln -sf "$target/$1" "$prefix/${1%/*}/.${1##*/}.$$"
  mv -f "$prefix/${1%/*}/.${1##*/}.$$" "$prefix/$1"
}
for file in bin/vidro bin/vidro-hand bin/codegen share/man/man1/vidro.1 share/bash-completion/completions/vidro \
  share/zsh/site-functions/_vidro share/fish/vendor_completions.d/vidro.fish; do
  link "$file"
done

echo "$("$prefix/bin/vidro" --version) is installed: $prefix/bin/vidro"
if [ -n "$brain" ]; then
  "$prefix/bin/vidro-hand" join "$brain" --detach
  exit
fi
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "Put it on PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
