#!/usr/bin/env python3
"""Estimates the time of a step on many machines, from measured figures of one.

    python tools/ranks_model.py [--elements 1e9] [--nodes 1000] [--json]

A compact rank of n elements sends --rows * n^(2/3) rows of --row bytes in every step: `tools/ranks.py` and
`mpirun -n 8` on tools/figures/block.toml measure both. Chunks without ghosts are computed meanwhile. Two all-reduces
follow. The defaults of the network are assumptions, to be replaced by the figures of yours. Contact lists that are rebuilt, bonds that break,
frames, and memory are not in the model.
"""

import argparse
import json


def interior(elements, threads):
    """Part of a rank's chunks that read no ghosts: all but the outer layer of a cube of chunks."""
    chunk = min(max(elements / (8 * threads), 512), 4096)
    side = (elements / chunk) ** (1 / 3)
    return max(0.0, (side - 2) / side) ** 3


def step(options, elements, threads, on_node):
    """Times of a step, s. Each rank has `elements` elements and `threads` threads; a node runs `on_node` ranks."""
    computed = elements / (threads * options.rate)
    row_count = options.rows * (elements * on_node) ** (2 / 3)
    sent = options.row * row_count / options.bandwidth
    hidden = min(sent, computed * interior(elements, threads))
    # Written to messages, then read from others.
    copied = 2 * options.row * options.rows * elements ** (2 / 3) / (threads * options.copy)
    total = computed + copied + sent - hidden + 2 * options.reduce
    return {"computed": computed, "copied": copied, "sent": sent, "step": total, "efficiency": computed / total}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=float, default=1e9)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--cores", type=int, default=64, help="cores of a node (default 64)")
    parser.add_argument("--rate", type=float, default=9e6, help="element-steps a second of a core (default 9e6, with AVX-512)")
    parser.add_argument("--rows", type=float, default=10.2, help="rows a rank sends over n^(2/3) (default 10.2)")
    parser.add_argument("--row", type=int, default=80, help="bytes of a row (default 80)")
    parser.add_argument("--bandwidth", type=float, default=25e9, help="bytes a second of a node's port (default 25e9: 200 Gbit/s)")
    parser.add_argument("--copy", type=float, default=4e9, help="bytes a second that a core copies to or from messages (default 4e9)")
    parser.add_argument("--reduce", type=float, default=3e-5, help="s of an all-reduce of all ranks (default 3e-5)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    on_node = options.elements / options.nodes
    found = {
        "one rank a node": step(options, on_node, options.cores, 1),
        "ranks of one core, 50,000 elements each": step(options, 5e4, 1, options.cores),
    }
    if options.json:
        return print(json.dumps(found))
    print(f"{options.elements:.3g} elements on {options.nodes} nodes of {options.cores} cores; milliseconds a step")
    for name, times in found.items():
        milliseconds = {key: 1e3 * times[key] for key in ["computed", "copied", "sent", "step"]}
        numbers = "  ".join(f"{key} {value:.2f}" for key, value in milliseconds.items())
        print(f"{name:42} {numbers}  efficiency {100 * times['efficiency']:.0f} %")


if __name__ == "__main__":
    main()
