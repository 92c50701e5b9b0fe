#!/usr/bin/env bash
# Runs the workflow step in the named languages, or in all of them, one after the other, against the broker at LOCKSTEP_URL.
#
#   examples/languages/run.sh [--prepare] [cpp|go|javascript|php|python|rust …]
#
# What a language needs is fetched and built once, below .lockstep/languages; --prepare does only that. Ends with 0 when every one
# passed, 1 when one failed, 3 when none failed but one could not be run here: its tools are missing or its packages out of reach.
set -u
script="${BASH_SOURCE[0]}"
[[ "$script" == */* ]] || script="./$script"
here="$(cd "${script%/*}" && pwd)"
work="${here%/examples/languages}/.lockstep/languages"

absent() {
  echo "not run: $1: $2 is missing" >&2
  return 3
}

has() { command -v "$1" >/dev/null 2>&1; }

# Prints only when it fails.
quietly() {
  local output
  output="$("$@" 2>&1)" && return 0
  echo "$output" >&2
  return 1
}

prepare_cpp() {
  has g++ || { absent cpp g++; return; }
  mkdir -p "$work"
  for header in curl/curl.h nlohmann/json.hpp; do
    echo "#include <$header>" | g++ -x c++ -E - >/dev/null 2>&1 || { absent cpp "$header"; return; }
  done
  [ "$work/cpp" -nt "$here/cpp/workflow.cpp" ] && [ "$work/cpp" -nt "$here/cpp/broker.hpp" ] && return 0
  quietly g++ -std=c++17 -Wall -Wextra -Werror -O0 "$here/cpp/workflow.cpp" -o "$work/cpp" -lcurl -pthread
}
run_cpp() { "$work/cpp"; }

prepare_go() {
  has go || { absent go go; return; }
  mkdir -p "$work"
  (cd "$here/go" && quietly go build -o "$work/go" .)
}
run_go() { "$work/go"; }

prepare_javascript() {
  has node || { absent javascript node; return; }
}
run_javascript() { node "$here/javascript/workflow.mjs"; }

prepare_php() {
  has php || { absent php php; return; }
  php -r 'exit(extension_loaded("curl") ? 0 : 1);' || { absent php 'the curl extension'; return; }
}
run_php() { php "$here/php/workflow.php"; }

prepare_python() {
  has python3 || { absent python python3; return; }
  mkdir -p "$work"
  local venv="$work/python" wanted="$here/python/requirements.txt"
  # The copy is made last: it says that the environment is whole.
  cmp -s "$wanted" "$venv/requirements.txt" && "$venv/bin/python" -c '' 2>/dev/null && return 0
  rm -rf "$venv"
  quietly python3 -m venv "$venv" || { absent python 'the module venv'; return; }
  quietly "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$wanted" ||
    { absent python 'a package of requirements.txt'; return; }
  cp "$wanted" "$venv/requirements.txt"
}
run_python() { "$work/python/bin/python" "$here/python/workflow.py"; }

prepare_rust() {
  has cargo || { absent rust cargo; return; }
  mkdir -p "$work"
  local manifest="$here/rust/Cargo.toml"
  quietly cargo fetch --locked --manifest-path "$manifest" ||
    { absent rust 'a package of Cargo.lock'; return; }
  CARGO_TARGET_DIR="$work/rust" quietly cargo build --quiet --locked --offline --manifest-path "$manifest"
}
run_rust() { "$work/rust/debug/lockstep-workflow-step"; }

prepare_only=no
languages=()
for word in "$@"; do
  case "$word" in
    --prepare) prepare_only=yes ;;
    cpp | go | javascript | php | python | rust) languages+=("$word") ;;
    *)
      echo "unknown language: $word; there are cpp go javascript php python rust" >&2
      exit 2
      ;;
  esac
done
[ "${#languages[@]}" -eq 0 ] && languages=(cpp go javascript php python rust)

failed=no
missing=no
for language in "${languages[@]}"; do
  "prepare_$language"
  case $? in
    0) ;;
    3) missing=yes && continue ;;
    *) echo "FAIL: $language cannot be built" >&2 && failed=yes && continue ;;
  esac
  [ "$prepare_only" = yes ] && continue
  echo "$language"
  "run_$language" || failed=yes
done
[ "$failed" = yes ] && exit 1
[ "$missing" = yes ] && exit 3
exit 0
