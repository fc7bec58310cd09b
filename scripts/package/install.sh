#!/bin/sh
# Installs Vidro for this user, from the archive beside this script: nothing is needed but sh, tar and gzip.
#   sh install.sh              into ~/.local: ~/.local/bin/vidro, vidro-hand and codegen
#   PREFIX=/usr/local sh install.sh
# Running it again replaces the links; an installation that is interrupted leaves the one before as it was.
set -eu

archive=@ARCHIVE@
sha256=@SHA256@
prefix=${PREFIX:-${HOME:?HOME is not set; say where to install with PREFIX=<folder>}/.local}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

fail() {
  echo "install: $1" >&2
  exit 1
}

[ -f "$here/$archive" ] || fail "$here/$archive is missing; it belongs beside this script."
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum "$here/$archive")
elif command -v shasum >/dev/null 2>&1; then
  found=$(shasum -a 256 "$here/$archive")
else
  fail "neither sha256sum nor shasum is there to check the archive with."
fi
[ "${found%% *}" = "$sha256" ] || fail "$archive is damaged or another one: its sha256 is ${found%% *}, not $sha256."

libraries=$prefix/lib/vidro
target=$libraries/${archive%.tar.gz}-$(printf %.12s "$sha256")
if [ ! -x "$target/bin/vidro" ]; then
  mkdir -p "$libraries"
  unpacked=$(mktemp -d "$libraries/.unpack-XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  tar -xzf "$here/$archive" -C "$unpacked"
  # One rename makes it complete; a second installer at the same time finds it done.
  mv "$unpacked/${archive%.tar.gz}" "$target" 2>/dev/null || [ -x "$target/bin/vidro" ] || fail "$target cannot be made."
fi

mkdir -p "$prefix/bin"
for command in vidro vidro-hand codegen; do
  ln -sf "$target/bin/$command" "$prefix/bin/.$command.$$"
  mv -f "$prefix/bin/.$command.$$" "$prefix/bin/$command"
done

echo "$("$prefix/bin/vidro" --version) is installed: $prefix/bin/vidro"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "Put it on PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
