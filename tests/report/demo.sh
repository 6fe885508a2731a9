#!/usr/bin/env bash
# demo.sh ROPEWAY FOLDER: what `make demo` leaves: a page that shows streams which overlap.
set -u
ropeway=${1:?usage: demo.sh ROPEWAY FOLDER}
page=${2:?usage: demo.sh ROPEWAY FOLDER}/demo.html
mkdir -p "$2"
rm -f "$page"
said=$(ROPEWAY_LANES=2 "$ropeway" demo --page "$page" 2>&1) || { echo "FAILED: $said"; exit 1; }
last=$(tail -n 1 <<<"$said")
part=$(sed -n 's/.* side by side for \([0-9]*\) % .*/\1/p' <<<"$said")
[ "$last" = "page: $page" ] || { echo "FAILED: the demo does not end with its page: $last"; exit 1; }
[ -s "$page" ] || { echo "FAILED: there is no $page"; exit 1; }
[ "${part:-0}" -gt 0 ] || { echo "FAILED: the streams did not overlap: $said"; exit 1; }
echo "$last"
