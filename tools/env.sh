# Sourced by the other tools: where what is fetched once is kept, and how this machine gets packages.
# All environment reads of the tools are here.
CHRONOSCOPE_CACHE="${CHRONOSCOPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chronoscope}"
export CHRONOSCOPE_CACHE

say() { printf '%s\n' "$*" >&2; }

# alone NAME: goes on when no other process is between `alone NAME` and `others`. What takes part in
# it is made once, however many tests ask for it at the same time.
alone() {
  mkdir -p "$CHRONOSCOPE_CACHE/locks"
  exec 9>"$CHRONOSCOPE_CACHE/locks/$1"
  flock 9
}
# Before anything is started that goes on for long: it would have the lock too.
others() { exec 9>&-; }

# need COMMAND PACKAGE: true when COMMAND is there, or could be installed from Debian's PACKAGE.
need() {
  command -v "$1" >/dev/null 2>&1 && return 0
  install_package "$2" && command -v "$1" >/dev/null 2>&1
}

# install_package PACKAGE: installs it where this user may; says what it did or could not do.
install_package() {
  if [ "$(id -u)" != 0 ]; then
    say "setup: cannot install $1 as an ordinary user; ask for: sudo apt-get install $1"
    return 1
  fi
  if [ ! -e "${TMPDIR:-/tmp}/.chronoscope-apt-updated" ]; then
    apt-get update -qq >/dev/null 2>&1 && : >"${TMPDIR:-/tmp}/.chronoscope-apt-updated"
  fi
  # Another program may be installing: its lock is waited for.
  if DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq \
    --no-install-recommends "$1" >/dev/null 2>&1; then
    say "setup: installed Debian package $1"
  else
    say "setup: could not install Debian package $1 (apt-get install $1)"
    return 1
  fi
}
