"""A second writer of traces, made from public descriptions of the format alone.

The project's own builder (tests/build/etl_build.c) and its parser were written by the same
hands, so a layout that both misread would never be noticed, and the truth of its
workloads repeats rules of the engine. This package shares nothing with either:

    container.py   the file: log-file header, buffers, clocks, order, losses
    xpress.py      compression of a buffer
    records.py     record headers and the payloads of events
    recorder.py    the tracing sessions: what is logged where, stacks and their cache
    blocks.py      heaps that hand out addresses; a block's life is known as it happens
    pages.py       committed pages, one by one
    machine.py     time, processors, processes, threads, modules
    programs.py    what the threads of the machine do
    system_calls.py  VirtualAlloc, processes and threads that come and go
    losses.py      what can still be known when buffers are lost
    scenario.py    a seed to a machine, a recording and its truth
    pool.py        worlds of kernel pool, and what their log tells

No part of it pairs records. A lifetime is an object of the simulated allocator that
is opened when a block is handed out and closed when it is taken back.
"""
