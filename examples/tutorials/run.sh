#!/usr/bin/env bash
# Runs the tutorials one after the other against LOCKSTEP_URL (a broker) or DATABASE_URL (PostgreSQL); both, when both are set.
# Ends with a non-zero status when one of them fails.
set -u
root="$(cd "$(dirname "$0")/../.." && pwd)"
cd "$root" || exit 1
if [ ! -f .build/examples/tutorials/tutorial.js ]; then
  npm run --silent build:all || exit 1
fi
if [ -z "${LOCKSTEP_URL:-}" ] && [ -z "${DATABASE_URL:-}" ]; then
  echo "set LOCKSTEP_URL (a broker, such as http://localhost:6632) or DATABASE_URL (PostgreSQL)" >&2
  exit 2
fi

failed=0
run_all() {
  for tutorial in .build/examples/tutorials/[0-9]*.js; do
    node "$tutorial" || failed=1
  done
}

if [ -n "${LOCKSTEP_URL:-}" ]; then
  echo "through the broker at $LOCKSTEP_URL"
  DATABASE_URL='' run_all
fi
if [ -n "${DATABASE_URL:-}" ]; then
  echo "straight to PostgreSQL"
  LOCKSTEP_URL='' run_all
fi
exit "$failed"
