#!/bin/sh
# scripts/start.sh PROGRAM [ARGUMENT ...]: runs a built program with the Node options of its npm script. The program
# replaces this shell, so that it gets the signals. The image starts its programs with it.
set -eu
cd "$(dirname "$0")/.."
program=$1
shift
options=$(node -p '
  const { scripts } = require("./package.json")
  const end = ` scripts/run.mjs ${process.argv[1]}/main`
  const script = Object.values(scripts).find((one) => one.endsWith(end)) ?? ""
  script.split(" ").filter((word) => word.startsWith("--")).join(" ")
' "$program")
# shellcheck disable=SC2086 # The options are several words.
exec node $options "dist/$program/main.js" "$@"
