#!/bin/sh
# supervise.sh PROGRAM [ARGUMENT…]: runs a program and ends with it. Signals are forwarded. A program that died without
# being asked to is restarted with growing pauses, once it has signaled by SIGUSR1 that it is ready: a failure of the
# first start needs a person, not a loop. `--parents` has the processes whose end is to be that of the program: this
# one, and npm where that runs it. Sockets of systemd are those of the program (LISTEN_PID, sd_listen_fds(3)).
#
# A shell, because it stays for as long as the platform runs (docs/decisions/startup-and-idle.md#the-supervisor).
child=
pause=
stopping=
was_ready=
failures=0
parents=$$
[ -z "$npm_lifecycle_event" ] || parents="$$,$PPID"

stop() {
  stopping=$1
  [ -z "$child" ] || kill -"$1" "$child" 2>/dev/null
  [ -z "$pause" ] || kill "$pause" 2>/dev/null
}
trap 'stop TERM' TERM
trap 'stop INT' INT
trap 'stop HUP' HUP
trap 'was_ready=yes' USR1
trap '[ -z "$child" ] || kill -USR2 "$child"' USR2

cause() {
  case $1 in
    137) echo 'killed by SIGKILL (by a person, or by the system for its memory)' ;;
    134) echo 'killed by SIGABRT (Node gave up: see the lines above, often no memory left)' ;;
    *)
      if [ "$1" -gt 128 ]; then
        echo "killed by SIG$(kill -l "$1")"
      else
        echo "it ended with exit code $1 (see the lines above)"
      fi
      ;;
  esac
}

while :; do
  started=$(date +%s)
  if [ "$LISTEN_PID" = $$ ]; then
    sh -c 'LISTEN_PID=$$ exec "$@"' sh "$@" "--parents=$parents" &
  else
    "$@" "--parents=$parents" &
  fi
  child=$!
  # A signal that came before there was a program to pass it on to.
  [ -z "$stopping" ] || kill -"$stopping" "$child"
  wait "$child"
  status=$?
  # A signal for us ends the waiting, not the program.
  while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    status=$?
  done
  child=
  [ -z "$stopping" ] && [ -n "$was_ready" ] && [ "$status" -ne 0 ] || exit "$status"
  # npm is gone, which the program has seen.
  [ -z "$npm_lifecycle_event" ] || kill -0 "$PPID" 2>/dev/null || exit "$status"

  failures=$((failures + 1))
  # One that ran for a minute is started at once.
  [ $(($(date +%s) - started)) -le 60 ] || failures=0
  case $failures in
    0) seconds=1 ;;
    1) seconds=2 ;;
    2) seconds=5 ;;
    3) seconds=10 ;;
    *) seconds=30 ;;
  esac
  echo "marquee: the platform died: $(cause "$status"); starting it again in $seconds s" >&2
  sleep "$seconds" &
  pause=$!
  wait "$pause"
  pause=
  case $stopping in
    HUP) exit 129 ;;
    INT) exit 130 ;;
    TERM) exit 143 ;;
  esac
done
