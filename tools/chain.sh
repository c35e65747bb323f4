# Sourced by tools/demo and tools/world: the radar chain, program by program, on one host and for
# people who look at it, before anything else is built. What measures it starts it from Rust
# (evidence/reproduce, systems/radar/tests: systems/radar/src/port_files.rs). They set `bin`, the
# folder of the programs, and `out`, the folder of their talk; and call stop_all when they end.
pids=()

stop() { # stop PID...: asks them to end, and waits until they have
  local pid left=()
  for pid in "$@"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "$@"; do
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  for pid in "${pids[@]}"; do [[ " $* " = *" $pid "* ]] || left+=("$pid"); done
  pids=("${left[@]}")
}
stop_all() { [ ${#pids[@]} -eq 0 ] || stop "${pids[@]}"; }

start() { # start NAME COMMAND...: in the background, its talk in $out/NAME.log; sets started, its PID
  local name=$1
  shift
  # Read at once by who waits for what it says: a busy machine opens it later than that.
  : >"$out/$name.log"
  "$@" >"$out/$name.json" 2>"$out/$name.log" &
  started=$!
  pids+=("$started")
}
address() { # address FILE NAME: waits until the program NAME has written where it listens
  local _
  for _ in $(seq 1200); do
    [ -s "$1" ] && { cat "$1"; return; }
    sleep 0.05
  done
  say "${0##*/}: $2 did not start:"
  tail -n 5 "$out/$2.log" >&2
  return 1
}
start_server() { # start_server NAME ARGUMENT...: chronoscope serve; sets origin, where its page is
  local name=$1 _
  shift
  start "$name" "$bin/chronoscope" serve --json "$@"
  for _ in $(seq 1200); do
    origin=$(sed -n 's|^the page is at \(.*\)/$|\1|p' "$out/$name.log")
    [ -n "$origin" ] && return
    kill -0 "$started" 2>/dev/null || break
    sleep 0.05
  done
  say "${0##*/}: serve did not start:"
  tail -n 5 "$out/$name.log" >&2
  return 1
}

# start_chain ARGUMENT...: tracker, generator with these arguments, and message server; sets
# generator_pid, and updates, where displays get theirs.
start_chain() {
  local plots tracks
  start tracker "$bin/radar-tracker" --plots-port-file "$out/plots" --port-file "$out/tracks" --json
  plots=$(address "$out/plots" tracker)
  tracks=$(address "$out/tracks" tracker)
  # The generator writes the flight plans first; the message server reads them when they are there.
  start generator "$bin/radar-generator" "$@" --to "$plots" --flight-plans "$out/plans.csv" --json
  generator_pid=$started
  address "$out/plans.csv" generator >/dev/null
  start messages "$bin/radar-messages" --tracker "$tracks" --flight-plans "$out/plans.csv" \
    --port-file "$out/updates" --json
  updates=$(address "$out/updates" messages)
}
start_display() { # start_display N ARGUMENT...
  local n=$1
  shift
  start "display$n" "$bin/radar-display" --messages "$updates" "$@" --json
}

# generator_for live: sets generator, the arguments of the traffic over Germany; without the
# recorded flights, which have to be fetched, of 30 circles of 24.
generator_for() {
  local recording
  generator=(--scenario circles)
  [ "$1" = live ] || return 0
  if recording=$(tools/flights); then
    generator=(--scenario live --recording "$recording")
  else
    say "${0##*/}: without the recorded flights the artificial scenario is run: 30 circles of 24"
    generator+=(--flights 24)
  fi
}
