#!/usr/bin/env python3
"""Runs every fuzz target for its share of a number of processor seconds, and tells
what was reached.

    fuzz_hour.py run    --programs DIR --replays DIR --work DIR --total S --jobs N [--resume]
    fuzz_hour.py corpus --programs DIR --work DIR

`run` lets each target grow the corpus in WORK/TARGET, starting from fuzz/corpus, until
the processor time of its share is used: user and system time of the fuzzer, not what
the clock on the wall says. They take turns: an interrupted run has done some of each, it
reports what it did, and goes on later with --resume. Then every input of the grown corpus
is replayed in a build that counts lines. It prints the tables of fuzz/README.md, and its
status is 1 when there was a finding: inputs that crash, hang, leak or take too much memory
lie in WORK/TARGET.findings. A target with a finding rests until the next run.

`corpus` takes into fuzz/corpus what reaches code that nothing else there reaches. Inputs
with a name of their own stay; those that are named by their hash are chosen anew.
"""
import argparse
import collections
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

CORPUS = 'fuzz/corpus'
# Told from inputs that somebody made and named.
HASH_NAME = re.compile(r'^[0-9a-f]{40}$')
ROUNDS = 6
STATE = 'hour.json'
POLL_SECONDS = 0.25
STOP_SECONDS = 120
FUZZER_OPTIONS = ['-print_final_stats=1', '-rss_limit_mb=2560', '-timeout=30', '-entropic=0', '-reload=0']
# Freed memory is kept from reuse by the megabyte, not by the quarter of a gigabyte: an
# execution is short.
SANITIZER_OPTIONS = 'quarantine_size_mb=16:malloc_context_size=6:detect_stack_use_after_return=0'

Target = collections.namedtuple('Target', 'share input_bytes_max kept_bytes_max code')

ANALYSIS = ['parser/etl/trace.c', 'parser/*/buffer_*.c', 'parser/etl/session.c', 'parser/etl/record.c', 'parser/*/decode*.c',
            'engine/run/engine.c', 'engine/read/plan.c', 'engine/*/scan*.c', 'engine/context/context.c', 'engine/read/join.c',
            'engine/read/keyed.c', 'engine/pair/order.c', 'engine/pair/pair.c', 'engine/pair/blocks.c', 'engine/pair/ranges.c',
            'engine/pair/range_map.c', 'engine/*/event_list*.c', 'engine/*/replay*.c', 'engine/context/origins.c',
            'engine/fold/slot_groups.c', 'engine/read/stream.c', 'engine/result/result.c', 'engine/fold/aggregate.c']

# share: parts of the whole. kept_bytes_max: of hash-named inputs in fuzz/corpus.
TARGETS = {
    'trace': Target(15, 16384, 300_000, ANALYSIS),
    'built': Target(16, 8192, 150_000, ANALYSIS + ['engine/*/store_*.c']),
    'workload': Target(16, 2056, 120_000, ANALYSIS + ['engine/*/store_*.c']),
    'ehs': Target(13, 32768, 400_000, ['engine/*/ehs_*.c', 'engine/*/archive*.c', 'engine/*/summary*.c']),
    'pdb': Target(11, 131072, 300_000, ['parser/symbols/msf.c', 'parser/*/pdb*.c']),
    'decode': Target(8, 4096, 60_000, ['parser/*/decode*.c', 'parser/etl/describe.c', 'parser/etl/names.c', 'parser/system/utf16.c']),
    'record': Target(8, 16384, 100_000, ['parser/etl/record.c']),
    'undecorate': Target(5, 4096, 100_000, ['parser/*/undecorate*.c']),
    'xpress': Target(4, 65536, 80_000, ['parser/*/xpress*.c']),
    'export': Target(10, 8192, 60_000, ['formats/export/*.c', 'formats/parts/export_numbers.c']),
    'compare': Target(10, 8192, 40_000, ['engine/compare/*.c', 'formats/*/*_diff.c', 'formats/*/*_trend.c', 'formats/*/*_check.c']),
    'names': Target(8, 65536, 60_000, ['engine/names/symbols*.c', 'engine/names/frames*.c', 'engine/table/table_names.c']),
    'http': Target(6, 4096, 40_000, ['engine/symbol_store/symbol_answer.c', 'engine/symbol_store/symbol_origin.c',
                                     'engine/symbol_store/symbol_transfer.c', 'engine/symbol_store/symbol_jobs.c',
                                     'engine/symbol_store/symbol_partial.c']),
    'pe': Target(3, 32768, 80_000, ['parser/*/pe*.c']),
    'zip': Target(3, 16384, 60_000, ['formats/io/zip_input.c', 'formats/io/unpack.c']),
    'unpack': Target(3, 16384, 60_000, ['formats/io/stream_input.c', 'formats/io/unpack.c']),
    'cab': Target(3, 16384, 60_000, ['engine/symbol_store/symbol_cab.c']),
    'umdh': Target(3, 16384, 80_000, ['formats/*/umdh_*.c']),
    'stacktags': Target(2, 16384, 60_000, ['formats/read/stack_tags.c', 'engine/names/tags.c']),
    'pooltags': Target(1, 8192, 40_000, ['formats/read/pool_tags_read.c', 'engine/names/pool_tags.c']),
    'wpaxml': Target(2, 16384, 60_000, ['tests/support/wpa_xml_read.c']),
    'suppressions': Target(2, 8192, 40_000, ['engine/compare/suppressions.c']),
    'runs': Target(2, 8192, 40_000, ['formats/read/runs_read.c']),
    'view': Target(1, 4096, 60_000, ['cli/view/http_request.c', 'cli/view/replies.c']),
    'source': Target(1, 8192, 40_000, ['formats/parts/source_*.c', 'parser/system/below.c', 'parser/system/digest.c']),
    'words': Target(2, 4096, 60_000, ['cli/options/cull_list.c', 'cli/options/parse_values.c', 'engine/symbol_store/symbol_elements.c',
                                      'engine/symbol_store/symbol_store.c']),
}
DEFAULT = Target(2, 16384, 40_000, [])

# For the second table: what hostile bytes can get at, and what lies behind it.
PARTS = [
    ('parser: trace files', ['parser/etl/trace.c', 'parser/*/buffer_*.c', 'parser/etl/session.c', 'parser/etl/record.c',
                             'parser/etl/event_class.c', 'parser/*/decode*.c', 'parser/system/utf16.c', 'parser/etl/names.c',
                             'parser/etl/file_kind.c', 'parser/*/xpress*.c']),
    ('parser: PDB and PE', ['parser/symbols/msf.c', 'parser/*/pdb*.c', 'parser/*/pe*.c']),
    ('parser: decorated names', ['parser/*/undecorate*.c']),
    ('engine: analysis', ANALYSIS + ['engine/*/inventory*.c', 'engine/context/stacks.c', 'engine/log/store.c', 'engine/context/meminfo.c',
                                     'engine/context/heap_sizes.c', 'engine/context/modules.c', 'engine/read/timebase.c',
                                     'engine/*/table*.c', 'engine/*/peak*.c', 'engine/core/arena.c', 'engine/core/intern.c']),
    ('engine: stores', ['engine/*/ehs_*.c', 'engine/*/archive*.c', 'engine/*/store_*.c', 'engine/*/summary*.c',
                        'engine/*/lifetimes*.c']),
    ('engine: cabinets, suppressions, tags', ['engine/symbol_store/symbol_cab.c', 'engine/compare/suppressions.c', 'engine/names/tags.c']),
    ('formats: what is read', ['formats/io/*_input.c', 'formats/io/unpack.c', 'formats/*/umdh_*.c', 'formats/read/stack_tags.c',
                               'tests/support/wpa_xml_read.c', 'formats/read/runs_read.c']),
]


class Run:
    """What became of one target."""

    KEPT = ['executions', 'edges', 'features', 'cpu_seconds', 'findings']

    def __init__(self, name):
        self.name = name
        self.executions = 0
        self.edges = self.features = 0
        self.cpu_seconds = 0.0
        self.findings = []
        self.files = self.bytes = 0
        self.lines = None
        self.is_resting = False


class Hour:
    """All runs, and whether they are to end."""

    def __init__(self, options, names):
        self.options = options
        self.runs = [Run(name) for name in names]
        self.shares = sum(target_of(name).share for name in names)
        self.is_over = False
        self.lock = threading.Lock()
        self.state = os.path.join(options.work, STATE)
        self.wall_seconds = 0.0
        if options.resume and os.path.exists(self.state):
            with open(self.state, encoding='ascii') as file:
                kept = json.load(file)
            self.wall_seconds = kept['wall_seconds']
            for run in self.runs:
                run.__dict__.update(kept['runs'].get(run.name, {}))
        self.begun = time.monotonic() - self.wall_seconds

    def save(self):
        self.wall_seconds = time.monotonic() - self.begun
        kept = {'wall_seconds': self.wall_seconds,
                'runs': {run.name: {key: getattr(run, key) for key in Run.KEPT} for run in self.runs}}
        with open(self.state + '.new', 'w', encoding='ascii') as file:
            json.dump(kept, file, indent=1)
        os.replace(self.state + '.new', self.state)

    def budget(self, run):
        return self.options.total * target_of(run.name).share / self.shares


def target_of(name):
    return TARGETS.get(name, DEFAULT)


def targets_in(folder, prefix):
    names = [name[len(prefix):] for name in os.listdir(folder)
             if name.startswith(prefix) and os.access(os.path.join(folder, name), os.X_OK) and '.' not in name]
    return sorted(names, key=lambda name: (-target_of(name).share, name))


def files_in(folder):
    if not os.path.isdir(folder):
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if os.path.isfile(os.path.join(folder, name)))


def cpu_of(pid):
    """Processor seconds of a process that still runs."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def fuzz_once(hour, run, arguments, log, seconds):
    """Runs the fuzzer for so many processor seconds; returns its exit status."""
    with open(log, 'w+', encoding='utf-8', errors='replace') as output:
        environment = dict(os.environ, ASAN_OPTIONS=SANITIZER_OPTIONS)
        # In a session of its own: an interruption of ours would look like a finding.
        process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   env=environment, start_new_session=True)
        asked_at = None
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            if asked_at is None and (hour.is_over or cpu_of(process.pid) >= seconds):
                asked_at = time.monotonic()
                os.kill(process.pid, signal.SIGUSR1)
            if asked_at is not None and time.monotonic() - asked_at > STOP_SECONDS:
                os.kill(process.pid, signal.SIGKILL)
            time.sleep(POLL_SECONDS)
        process.returncode = os.waitstatus_to_exitcode(status)
        run.cpu_seconds += usage.ru_utime + usage.ru_stime
        output.seek(0)
        read_log(output.read(), run)
    return process.returncode


def read_log(text, run):
    progress = re.findall(r'^#(\d+)\s.*?cov: (\d+) ft: (\d+)', text, re.M)
    final = re.findall(r'^stat::number_of_executed_units:\s+(\d+)', text, re.M)
    if progress:
        run.edges = max(run.edges, int(progress[-1][1]))
        run.features = max(run.features, int(progress[-1][2]))
    run.executions += int(final[-1]) if final else int(progress[-1][0]) if progress else 0


def fuzz_target(hour, run, until_seconds):
    """One turn of a target: until it has used so many processor seconds in all."""
    options, target = hour.options, target_of(run.name)
    work = os.path.join(options.work, run.name)
    findings = work + '.findings'
    dictionary = f'fuzz/{run.name}.dict'
    os.makedirs(work, exist_ok=True)
    os.makedirs(findings, exist_ok=True)
    known = set(files_in(findings))
    arguments = [os.path.join(options.programs, 'fuzz_' + run.name), *FUZZER_OPTIONS,
                 f'-seed={options.seed + int(run.cpu_seconds)}', f'-max_len={target.input_bytes_max}',
                 f'-artifact_prefix={findings}/']
    if os.path.exists(dictionary):
        arguments.append(f'-dict={dictionary}')
    status = fuzz_once(hour, run, [*arguments, work, f'{CORPUS}/{run.name}'], work + '.log',
                       until_seconds - run.cpu_seconds)
    if status != 0:
        fresh = [file for file in files_in(findings)
                 if file not in known and not os.path.basename(file).startswith('slow-unit')]
        shutil.copy(work + '.log', findings + '/log')
        run.findings += fresh or [findings + '/log']
        run.is_resting = True
        print(f'{run.name}: a finding (status {status}), see {findings}/log', file=sys.stderr)
    print(f'{run.name}: {run.executions} executions in {run.cpu_seconds:.0f} s, {run.edges} edges, '
          f'{len(run.findings)} findings', file=sys.stderr, flush=True)


def take_turns(hour):
    """Work for one thread: the turn of the target that has had the least of its share."""
    busy = hour.busy
    while True:
        with hour.lock:
            waiting = [run for run in hour.runs if run.name not in busy and not run.is_resting
                       and hour.budget(run) - run.cpu_seconds > 0.5]
            if hour.is_over or not waiting:
                return
            run = min(waiting, key=lambda run: (int(ROUNDS * run.cpu_seconds / hour.budget(run) + 0.01),
                                                -target_of(run.name).share, run.name))
            busy.add(run.name)
        turns = int(ROUNDS * run.cpu_seconds / hour.budget(run) + 0.01) + 1
        fuzz_target(hour, run, hour.budget(run) * turns / ROUNDS)
        with hour.lock:
            busy.discard(run.name)
            hour.save()


def fuzz_all(hour):
    hour.busy = set()

    def end(number, frame):
        del number, frame
        hour.is_over = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    threads = [threading.Thread(target=take_turns, args=(hour,)) for _ in range(hour.options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- lines ------------------------------------------------------------------------------

def tool(name):
    for candidate in (name + '-14', name):
        if shutil.which(candidate):
            return candidate
    raise SystemExit(f'fuzz_hour.py needs {name} (package llvm) to count lines')


def replay(options, name, folder):
    """The profile of one target's corpus; None when nothing was written."""
    program = os.path.join(options.replays, 'replay_' + name)
    inputs = files_in(f'{CORPUS}/{name}') + files_in(os.path.join(options.work, name))
    raw = os.path.join(folder, f'{name}-%p.profraw')
    for first in range(0, len(inputs), 400):
        done = subprocess.run([program, '0', *inputs[first:first + 400]], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=dict(os.environ, LLVM_PROFILE_FILE=raw), check=False)
        if done.returncode != 0:  # an input that the code took when it was found, and its lines are lost
            print(f'{name}: an input ends the replay with status {done.returncode}', file=sys.stderr)
    parts = [file for file in files_in(folder) if os.path.basename(file).startswith(name + '-')]
    profile = os.path.join(folder, name + '.profdata')
    if not parts:
        return None
    subprocess.run([tool('llvm-profdata'), 'merge', '-sparse', '-o', profile, *parts], check=True)
    for part in parts:
        os.remove(part)
    return profile


def lines_of(programs, profile):
    """{file: (lines, reached lines)} of the sources of some programs."""
    objects = [word for program in programs[1:] for word in ('-object', program)]
    done = subprocess.run([tool('llvm-cov'), 'export', '-summary-only', programs[0], *objects,
                           '-instr-profile', profile], capture_output=True, text=True, check=True)
    lines = {}
    for file in json.loads(done.stdout)['data'][0]['files']:
        counts = file['summary']['lines']
        lines[os.path.relpath(file['filename'])] = (counts['count'], counts['covered'])
    return lines


def sum_lines(lines, patterns):
    chosen = [counts for file, counts in lines.items() if any(fnmatch.fnmatch(file, p) for p in patterns)]
    return sum(c[0] for c in chosen), sum(c[1] for c in chosen)


def percent(counts):
    return f'{100 * counts[1] / counts[0]:.1f} %' if counts[0] else '-'


def count_lines(options, runs):
    """Fills run.lines; returns the lines that all targets reach together."""
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        profiles, programs = [], []
        for run in runs:
            profile = replay(options, run.name, folder)
            if profile is None:
                continue
            program = os.path.join(options.replays, 'replay_' + run.name)
            run.lines = sum_lines(lines_of([program], profile), target_of(run.name).code)
            profiles.append(profile)
            programs.append(program)
        together = os.path.join(folder, 'all.profdata')
        subprocess.run([tool('llvm-profdata'), 'merge', '-sparse', '-o', together, *profiles], check=True)
        return lines_of(programs, together)


# --- the report -------------------------------------------------------------------------

def print_report(hour, lines):
    runs = hour.runs
    print(f'{time.strftime("%Y-%m-%d")}, {sum(run.cpu_seconds for run in runs):,.0f} processor seconds '
          f'in {hour.wall_seconds:,.0f} s:\n')
    print('| target | CPU seconds | executions | per second | edges | features | '
          'lines of its code reached | corpus | findings |')
    print('|---|--:|--:|--:|--:|--:|--:|--:|--:|')
    for run in sorted(runs, key=lambda run: run.name):
        rate = run.executions / run.cpu_seconds if run.cpu_seconds else 0
        reached = percent(run.lines) if run.lines else '-'
        print(f'| `{run.name}` | {run.cpu_seconds:,.0f} | {run.executions:,} | {rate:,.0f} | {run.edges:,} | '
              f'{run.features:,} | {reached} | {run.files:,} inputs, {run.bytes / 1024:,.0f} KiB | '
              f'{len(run.findings)} |')
    seconds = sum(run.cpu_seconds for run in runs)
    executions = sum(run.executions for run in runs)
    print(f'| all | {seconds:,.0f} | {executions:,} | {executions / max(seconds, 1):,.0f} | | | | '
          f'{sum(run.files for run in runs):,} inputs | {sum(len(run.findings) for run in runs)} |')
    if lines is None:
        return
    print('\n| code | lines | reached by the corpora |')
    print('|---|--:|--:|')
    for title, patterns in PARTS:
        counts = sum_lines(lines, patterns)
        print(f'| {title} | {counts[0]:,} | {percent(counts)} |')
    for folder in ('parser', 'engine'):
        counts = sum_lines(lines, [folder + '/*.c'])
        print(f'| all of `{folder}/` | {counts[0]:,} | {percent(counts)} |')


def run_targets(options):
    os.makedirs(options.work, exist_ok=True)
    hour = Hour(options, targets_in(options.programs, 'fuzz_'))
    fuzz_all(hour)
    hour.save()
    for run in hour.runs:
        files = files_in(os.path.join(options.work, run.name))
        run.files, run.bytes = len(files), sum(os.path.getsize(file) for file in files)
    lines = count_lines(options, hour.runs) if options.replays else None
    print_report(hour, lines)
    found = [finding for run in hour.runs for finding in run.findings]
    for finding in found:
        print(f'finding: {finding}', file=sys.stderr)
    return 1 if found else 0


# --- the committed corpus ---------------------------------------------------------------

def choose_inputs(options, name):
    """Hash-named inputs that reach what the named ones do not, the smallest first."""
    target = target_of(name)
    named = [file for file in files_in(f'{CORPUS}/{name}') if not HASH_NAME.match(os.path.basename(file))]
    others = [file for file in files_in(f'{CORPUS}/{name}') + files_in(os.path.join(options.work, name))
              if HASH_NAME.match(os.path.basename(file)) and os.path.getsize(file) <= target.input_bytes_max]
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        into, source = os.path.join(folder, 'into'), os.path.join(folder, 'from')
        os.mkdir(into)
        os.mkdir(source)
        for file in named:
            shutil.copy(file, into)
        for file in others:
            shutil.copy(file, source)
        # One input per edge, not one per edge and how often it was passed.
        subprocess.run([os.path.join(options.programs, 'fuzz_' + name), '-merge=1', '-use_counters=0',
                        '-rss_limit_mb=2560', f'-max_len={1 << 20}', into, source],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       env=dict(os.environ, ASAN_OPTIONS=SANITIZER_OPTIONS))
        chosen, size = {}, 0
        fresh = [file for file in files_in(into) if HASH_NAME.match(os.path.basename(file))]
        for file in sorted(fresh, key=lambda file: (os.path.getsize(file), file)):
            size += os.path.getsize(file)
            if size > target.kept_bytes_max:
                break
            with open(file, 'rb') as input_file:
                chosen[os.path.basename(file)] = input_file.read()
        return chosen


def choose_corpus(options):
    os.makedirs(options.work, exist_ok=True)
    for name in targets_in(options.programs, 'fuzz_'):
        chosen = choose_inputs(options, name)
        folder = f'{CORPUS}/{name}'
        os.makedirs(folder, exist_ok=True)
        for file in files_in(folder):
            if HASH_NAME.match(os.path.basename(file)):
                os.remove(file)
        for base, data in chosen.items():
            with open(os.path.join(folder, base), 'wb') as file:
                file.write(data)
        print(f'{name}: {len(files_in(folder))} inputs, '
              f'{sum(os.path.getsize(file) for file in files_in(folder)) / 1024:.0f} KiB')
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('what', choices=['run', 'corpus'])
    parser.add_argument('--programs', required=True)
    parser.add_argument('--replays')
    parser.add_argument('--work', required=True)
    parser.add_argument('--total', type=float, default=3600)
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--resume', action='store_true')
    parser.add_argument('--seed', type=int, default=int(time.time()) % 1_000_000_000)
    options = parser.parse_args()
    return run_targets(options) if options.what == 'run' else choose_corpus(options)


if __name__ == '__main__':
    sys.exit(main())
