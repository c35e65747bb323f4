# Sourced by the other tools: where what is fetched once is kept, and how this machine gets packages.
# All environment reads of the tools are here.
CHRONOSCOPE_CACHE="${CHRONOSCOPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/chronoscope}"
export CHRONOSCOPE_CACHE

say() { printf '%s\n' "$*" >&2; }

# lock NAME: waits until no other process holds the lock NAME, and takes it until `unlock` or the end.
# Tests run at the same time: what several of them need is fetched by one, and the others wait.
lock() {
  mkdir -p "$CHRONOSCOPE_CACHE/locks"
  exec 9>"$CHRONOSCOPE_CACHE/locks/$1"
  flock 9
}
# unlock: before a program is started that keeps running, because it would inherit the lock.
unlock() { exec 9>&-; }

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

# go_program NAME VERSION PACKAGE: builds a program in Go once into the cache, and prints where it is.
go_program() {
  program="$CHRONOSCOPE_CACHE/tools/bin/$1-$2"
  if [ ! -x "$program" ]; then
    need go golang-go || { say "$1: without Go it cannot be built"; return 1; }
    lock "$1"
    if [ ! -x "$program" ]; then
      say "setup: building $1 $2 (once, some minutes)"
      mkdir -p "$CHRONOSCOPE_CACHE/tools/bin"
      made=$(mktemp -d)
      GOBIN=$made go install "$3@$2" >&2 || { rm -rf "$made"; say "$1: it cannot be built here"; return 1; }
      mv "$made/$1" "$program"
      rm -rf "$made"
    fi
  fi
  printf '%s\n' "$program"
}
