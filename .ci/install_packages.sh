#!/usr/bin/env bash
# install_packages.sh GROUP...: installs those packages of the named groups of packages.txt that are missing, by apt,
# as root or through sudo, asking nothing. Does nothing where all are there, so it then needs no rights and no network.
#
# A group that ends in "?" is optional: where it cannot be had, a message says so and the status stays 0.
set -euo pipefail
list="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/packages.txt"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }
missing_of() {  # GROUP
  local package
  for package in $(awk -v group="$1" '$1 !~ /^#/ && $2 == group { print $1 }' "$list"); do
    installed "$package" || echo "$package"
  done
}
as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l \
    apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" </dev/null
}

updated=false
install() {  # PACKAGE...; says what hinders it. Status: whether all are installed then.
  if ! command -v apt-get >/dev/null; then
    echo "no apt-get here, and these Debian packages (or this system's own of the same libraries) are missing: $*" >&2
    return 1
  fi
  if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
    echo "neither root nor sudo; as root: apt-get install $*" >&2
    return 1
  fi
  if ! $updated; then
    echo "updating apt's lists"
    apt_get update >"$log" 2>&1 || cat "$log" >&2  # old lists may do
    updated=true
  fi
  echo "installing $*"
  if ! apt_get install --no-install-recommends "$@" >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  echo "installed $(grep -c '^Setting up' "$log") packages"
}

complete=true
for group in "$@"; do
  mapfile -t missing < <(missing_of "${group%\?}")
  [[ ${#missing[@]} -eq 0 ]] && continue
  complete=false
  install "${missing[@]}" && continue
  [[ $group == *\? ]] || { echo "error: the packages above are needed" >&2; exit 1; }
  echo "left out: the group '${group%\?}' is optional"
done
! $complete || echo "all packages are installed"
