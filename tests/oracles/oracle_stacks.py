#!/usr/bin/env python3
"""The join of stacks to events on a real trace with stack keys.

Counted by another reader in this trace: 252 stack walks with frames and 9,107
references to stack keys; each names an event that is there, and each key is
defined, with frames of the processor mode it was used for.
"""

import os

from oracle_support import Results, run_json, traces_folder

TRACE = "perfview-net452-x64-merged-compressed-stackkeys.etl"


def main():
    folder = traces_folder(TRACE)
    info = run_json("info", os.path.join(folder, TRACE))
    stacks = info["stacks"]
    results = Results()
    results.equal("all stack records are counted", stacks["records"], 252 + 9107)
    results.equal("every stack record found its event", stacks["matched"], stacks["records"])
    results.equal("no stack record is left over", stacks["unmatched"], 0)
    results.equal("key references are counted", stacks["keys_referenced"], 9107)
    results.equal("every key reference found its definition", stacks["keys_resolved"], 9107)
    complaints = [row for row in info["diagnostics"] if row["name"].startswith("stack_")]
    results.equal("nothing about stacks is complained of", complaints, [])
    results.finish()


if __name__ == "__main__":
    main()
