#!/usr/bin/env python3
"""
Counts the records of a trace with dissect.etl, an independent reader in Python.

    python_reader.py TRACE

It steps over record headers only: payloads are not decoded, nothing is paired.
"""

import sys

from dissect.etl import ETL

with open(sys.argv[1], "rb") as trace:
    print(sum(1 for _ in ETL(trace)))
