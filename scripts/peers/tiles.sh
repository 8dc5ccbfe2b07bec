#!/bin/bash
# All shortest distances with the matrix on the device, and in tiles of a matrix in the host's memory:
#
#   scripts/peers/tiles.sh target/release/gpulab 30000 "nvidia 0,1" "whole 16GiB 4GiB 1GiB" > tiles.csv
#
# of a graph with so many nodes, on these devices, with so much memory of each; `whole` keeps the matrix on one device. The
# graph is a ring with 7 more random edges a node. Every answer is proved.
set -eu
gpulab=$1 n=$2 devices=$3 memories=$4
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

awk -v n="$n" 'BEGIN {
    srand(7); print "from,to,weight"
    for (i = 0; i < n; i++) print i "," (i + 1) % n "," 1 + int(1000 * rand())
    for (i = 0; i < 7 * n; i++) print int(n * rand()) "," int(n * rand()) "," 1 + int(1000 * rand())
}' > "$folder/graph.csv"

echo "n,devices,memory,side,tiles,seconds,whole_s,gb_in,gb_out"
for list in $devices; do
    for memory in $memories; do
        case $memory,$list in
        whole,*,*) continue ;;
        whole,*) set -- ;;
        *) set -- --memory "$memory" ;;
        esac
        "$gpulab" minplus -d "$list" --input "$folder/graph.csv" --closure --to 0 -o "$folder/d.csv" "$@" 2> "$folder/told" ||
            { cat "$folder/told" >&2; exit 1; }
        cat "$folder/told" >&2
        sed -nE -e "s/^closure in tiles of ([0-9]+) x [0-9]+, ([0-9]+) a side: ([0-9.]+) s .*, ([0-9.]+) s in all; ([0-9.]+) GB went in, ([0-9.]+) GB.*/$n,\"$list\",$memory,\1,\2,\3,\4,\5,\6/p" \
            -e "s/^closure\/[a-z_]+: ([0-9.]+) s of kernels, ([0-9.]+) s with transfers/$n,\"$list\",$memory,,,\1,\2,,/p" "$folder/told"
    done
done
