#!/usr/bin/env bash
# The step of the GitHub action: review, annotate, and leave the result in every form.
# Everything that it is given comes in variables, see action.yml.
set -euo pipefail

out="${RUNNER_TEMP:?}/quorum"
mkdir -p "$out"
# What an earlier step left is not this review's.
rm -f "$out/result.json"

binary="${QUORUM_BINARY:-}"
if [ -z "$binary" ]; then
  cargo build --quiet --release --locked --manifest-path "$QUORUM_SOURCE/Cargo.toml" --target-dir "$out/target" -p quorum
  binary="$out/target/release/quorum"
fi

arguments=()
add() { if [ -n "$2" ]; then arguments+=("$1" "$2"); fi; }
# The first push of a branch has no revision before it.
if [[ ! "${QUORUM_BASE:-}" =~ ^0*$ ]]; then arguments+=(--base "$QUORUM_BASE"); fi
add --fail-on "${QUORUM_ARG_FAIL_ON:-}"
add --agents "${QUORUM_ARG_AGENTS:-}"
add --provider "${QUORUM_ARG_PROVIDER:-}"
add --model "${QUORUM_ARG_MODEL:-}"
add --max-usd "${QUORUM_ARG_MAX_USD:-}"
fail="${QUORUM_FAIL:-true}"
# Quorum reads variables that begin with its name as settings; these were the action's own.
unset QUORUM_BINARY QUORUM_BASE QUORUM_FAIL QUORUM_SOURCE QUORUM_ARG_FAIL_ON QUORUM_ARG_AGENTS QUORUM_ARG_PROVIDER QUORUM_ARG_MODEL QUORUM_ARG_MAX_USD

code=0
"$binary" --quiet review ${arguments[@]+"${arguments[@]}"} --format json -o "$out/result.json" || code=$?
output() { echo "$1=$2" >> "${GITHUB_OUTPUT:?}"; }
output exit-code "$code"

verdict=""
if [ -f "$out/result.json" ]; then
  "$binary" report --format github || true
  for file in sarif:report.sarif html:report.html markdown:report.md; do
    "$binary" report --format "${file%%:*}" -o "$out/${file##*:}" || true
    output "${file%%:*}" "$out/${file##*:}"
  done
  verdict="$(sed -n 's/^  "verdict": "\([A-Z_]*\)",\{0,1\}$/\1/p' "$out/result.json" | head -n 1)"
  output result "$out/result.json"
  output findings "$({ "$binary" report --format rdjsonl || true; } | grep -c . || true)"
fi
output verdict "$verdict"
echo "Quorum: ${verdict:-no verdict} (exit code $code)"
# Without a verdict there is nothing that could pass.
if [ "$fail" != "false" ] || [ -z "$verdict" ]; then exit "$code"; fi
