#!/usr/bin/env bash
# install_packages.sh GROUP...: installs those packages of the named groups of packages.txt that are missing, by apt,
# as root or through sudo, asking nothing. Does nothing where all are there, so it then needs no rights.
#
# A group that ends in "?" is optional: where apt does not offer all of it, it is left out with a message.
set -euo pipefail
list="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/packages.txt"

packages_of() { awk -v group="$1" '$1 !~ /^#/ && $2 == group { print $1 }' "$list"; }
installed() { [[ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }
offered() { apt-cache show "$1" >/dev/null 2>&1; }
missing_of() {
  local package
  for package in $(packages_of "$1"); do installed "$package" || echo "$package"; done
}
as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=l \
    apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" </dev/null
}

missing=()
for group in "$@"; do
  mapfile -t -O "${#missing[@]}" missing < <(missing_of "${group%\?}")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "all packages are installed"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "error: no apt-get here, and these Debian packages (or this system's own of the same libraries) are missing:" >&2
  echo "  ${missing[*]}" >&2
  exit 1
fi
if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
  echo "error: packages are missing; install them as root: apt-get install ${missing[*]}" >&2
  exit 1
fi

echo "updating apt's lists"
apt_get update >/dev/null
wanted=()
for group in "$@"; do
  mapfile -t of_group < <(missing_of "${group%\?}")
  if [[ $group == *\? ]]; then
    for package in "${of_group[@]}"; do
      offered "$package" && continue
      echo "left out: apt offers no $package here, so the group '${group%\?}' is not installed"
      of_group=()
      break
    done
  fi
  wanted+=("${of_group[@]}")
done
[[ ${#wanted[@]} -eq 0 ]] && exit 0
echo "installing ${wanted[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! apt_get install --no-install-recommends "${wanted[@]}" >"$log" 2>&1; then
  cat "$log" >&2
  echo "error: apt-get could not install them; its words stand above" >&2
  exit 1
fi
echo "installed $(grep -c '^Setting up' "$log") packages"
