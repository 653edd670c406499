"""Read Windows event traces (ETL) with the etlheap library, without a compiler.

    import etlheap

    with etlheap.open("app.etl", symbols="out") as recording:
        report = recording.report(etlheap.Query(kinds="heap", group_by="process,site"), top=10)
    for row in report.rows:
        print(row["outstanding_size"], row["process"], report.name(row))

A recording is read once and then answers any number of questions. An answer is what `etlheap
COMMAND --format json` writes (docs/json.md), parsed: rows are dictionaries with the keys of the
JSON document, and what is not known is None, never 0. `to_arrow` and `to_pandas` turn rows into a
table if pyarrow or pandas is installed. Errors are exceptions with the library's sentence.

How it works: ctypes calls the functions of the library that are marked [stable] in its headers.
Structures are declared here as they are in the headers of version 1 of the binary interface, and
a test of etlheap compares each offset with the compiler's. Structures that begin with their size
may be shorter than the library's own; a library with another version is refused.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import json
import os
import sys
import tempfile
import threading
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["Allocations", "Answer", "Diff", "Error", "Limit", "Query", "Recording", "Report", "Verdict", "Windows", "diff", "open"]

Row = Mapping[str, Any]
Path = Union[str, "os.PathLike[str]"]
Words = Union[str, Sequence[str]]  # "heap,pool" or ["heap", "pool"]

ABI_VERSION = 1


class Error(Exception):
    """What the library says is wrong.

    `message` is its sentence, `path` the file it is about or None, `status` in short, such as
    "not an ETL file", and `code` the number in the headers: below 10 the file is not at fault.
    """

    def __init__(self, message: str, status: str = "invalid argument", code: int = 3, path: Optional[str] = None) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.message, self.status, self.code, self.path = message, status, code, path


# --- the structures of the headers -----------------------------------------------------------

KIND_CAPACITY = 16
GROUP_BY_MAX = 32
ASK_WINDOWS, ASK_EVENTS = 1, 4
QUANTITIES = ("outstanding", "peak", "allocated", "temporary", "alloc_rate")


class _Bytes(ctypes.Structure):
    _fields_ = [("at", c_char_p), ("size", c_size_t)]


class _Text(ctypes.Structure):
    _fields_ = [("bytes", c_void_p), ("size", c_size_t), ("capacity", c_size_t), ("failed", c_bool)]


class _Pattern(ctypes.Structure):
    _fields_ = [("module", c_char_p), ("symbol", c_char_p), ("unnamed_only", c_bool)]


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("jobs", c_uint32), ("memory_bytes_max", c_uint64), ("slice_bytes", c_uint64),
        ("inventory_only", c_bool), ("questions", c_void_p), ("question_count", c_uint32), ("temporary_folder", c_char_p),
        ("progress", c_void_p), ("progress_user", c_void_p), ("store", c_void_p), ("name", c_char_p),
        ("custom_allocators", c_void_p), ("custom_allocator_count", c_uint32), ("mark_events", c_void_p),
        ("mark_event_count", c_uint32), ("named_kinds", c_bool), ("cancel", c_void_p), ("keeps_sums", c_bool),
    ]


class _Query(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("from_ns", c_int64), ("to_ns", c_int64), ("at_exit_freed", c_bool), ("kinds", c_uint32),
        ("types", c_uint32), ("processes", c_void_p), ("process_count", c_uint32), ("heaps", c_void_p), ("heap_count", c_uint32),
        ("threads", c_void_p), ("thread_count", c_uint32), ("lifetime_min_ns", c_int64), ("lifetime_max_ns", c_int64),
        ("size_min_bytes", c_uint64), ("size_max_bytes", c_uint64), ("require_frames", c_void_p),
        ("require_frame_count", c_uint32), ("cull_frames", c_void_p), ("cull_frame_count", c_uint32),
        ("group_by", c_int * GROUP_BY_MAX), ("group_by_count", c_uint32), ("sort", c_int), ("sort_ascending", c_bool),
        ("jobs", c_uint32), ("symbols", c_void_p), ("tags", c_void_p), ("lifetime_ranks", c_bool), ("growth", c_bool),
        ("sums_only", c_bool), ("at_end", c_bool), ("kind_to_ticks", c_void_p), ("whole_rows_max", c_uint32),
        ("processes_by_name", c_bool), ("thread_names", c_void_p), ("thread_name_count", c_uint32), ("left_behind", c_bool),
        ("freed_by_other", c_bool), ("unmatched", c_bool), ("rates", c_bool), ("churn", c_bool), ("keep_lifetimes", c_bool),
        ("cancel", c_void_p), ("memory_bytes_max", c_uint64), ("exclude_frames", c_void_p), ("exclude_frame_count", c_uint32),
        ("only_excluded", c_bool), ("fold_modules", c_void_p), ("fold_module_count", c_uint32), ("alloc_times", c_bool),
        ("heap_pages", c_bool), ("pool_tags", c_void_p), ("rows_max", c_uint32),
    ]


class _Question(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("kind", c_int), ("query", c_void_p), ("windows", c_void_p), ("by", c_int), ("lifetimes", c_void_p),
        ("map", c_void_p), ("frees", c_bool), ("optional", c_bool),
    ]


class _TimeRange(ctypes.Structure):
    _fields_ = [("from_ns", c_int64), ("to_ns", c_int64)]


class _WindowsOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("every_ns", c_int64), ("cuts", c_void_p), ("cut_count", c_uint32), ("ranges", c_void_p),
        ("range_count", c_uint32), ("measured_first", c_uint32), ("measured_count", c_uint32), ("with_whole", c_bool),
        ("join_rest", c_bool),
    ]


class _Windows(ctypes.Structure):
    """Its first members, which is all that is read."""

    _fields_ = [("every_ns", c_int64), ("windows", c_void_p), ("window_count", c_uint32), ("table", c_void_p)]


class _WindowsAnswer(ctypes.Structure):
    _fields_ = [
        ("windows", c_void_p), ("growth_wanted", c_bool), ("growth", c_void_p), ("other_count", c_uint32), ("stacks", c_void_p),
        ("explains", c_void_p), ("unexplained", c_uint32), ("spikes", c_void_p), ("marks", c_void_p), ("reserved", c_void_p * 8),
    ]


class _LifetimesOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("sort", c_int), ("sort_descending", c_bool), ("top", c_uint64), ("memory_bytes_max", c_uint64),
        ("progress", c_void_p), ("progress_user", c_void_p), ("by_address", c_bool), ("address_first", c_uint64),
        ("address_last", c_uint64), ("frees", c_bool), ("skip", c_uint64),
    ]


class _DiffOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("measure", c_int), ("ascending", c_bool), ("by_direction", c_bool), ("keep_unchanged", c_bool),
        ("per_second", c_bool), ("base_result", c_void_p), ("new_result", c_void_p), ("jobs", c_uint32),
    ]


class _DiffSide(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("result", c_void_p), ("log", c_void_p), ("table", c_void_p), ("reserved", c_void_p * 8)]


class _DiffAnswer(ctypes.Structure):
    _fields_ = [("diff", c_void_p), ("base", _DiffSide), ("now", _DiffSide), ("reserved", c_void_p * 8)]


class _Budget(ctypes.Structure):
    _fields_ = [
        ("is_growth", c_bool), ("is_count", c_bool), ("scope", c_int), ("kinds", c_uint32), ("limit", c_uint64),
        ("baseline_millionths", c_uint64), ("quantity", c_int), ("name", c_char_p), ("reserved", c_void_p * 4),
    ]


class _GateSide(ctypes.Structure):
    _fields_ = [("result", c_void_p), ("query", c_void_p)]


class _GateOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("budgets", c_void_p), ("budget_count", c_uint32), ("suppressions", c_void_p),
        ("baseline", c_void_p), ("stacks_max", c_uint32), ("passes_max", c_uint32), ("allow_empty", c_bool),
        ("requires_baseline", c_bool), ("required_processes", c_void_p), ("required_process_count", c_uint32),
    ]


class _Typed(ctypes.Structure):
    _fields_ = [("at", c_void_p), ("count", c_uint32)]


class _SourceRoots(ctypes.Structure):
    _fields_ = [("at", c_void_p), ("count", c_uint32)]


class _Check(ctypes.Structure):
    _fields_ = [
        ("gate", c_void_p), ("baseline_name", c_char_p), ("inputs", _Typed), ("selection", _Typed), ("may_compare", c_bool),
        ("ratchet", c_int), ("results_max", c_uint32), ("category", c_char_p), ("roots", _SourceRoots), ("lacks_login", c_bool),
        ("reserved", c_void_p * 8),
    ]


class _SymbolOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("path", c_char_p), ("default_store", c_char_p), ("temporary_folder", c_char_p), ("offline", c_bool),
        ("loose", c_bool), ("jobs", c_uint32), ("progress", c_void_p), ("progress_user", c_void_p), ("login", c_void_p),
        ("login_user", c_void_p), ("download_bytes_max", c_uint64), ("download_ms_max", c_uint64), ("private_redirects", c_bool),
    ]


class _Member(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("path", c_char_p)]


class _UnpackOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("folder", c_char_p), ("member_bytes_max", c_uint64), ("progress", c_void_p),
        ("progress_user", c_void_p), ("beside", c_bool), ("unpacked_bytes_max", c_uint64),
    ]


class _Wanted(ctypes.Structure):
    _fields_ = [("is_wanted", c_void_p), ("user", c_void_p)]


class _Format(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("suffix", c_char_p), ("summary", c_char_p), ("has_titles", c_bool), ("is_choice", c_bool),
        ("shows_equal", c_bool), ("adds_up", c_bool), ("rows_max", c_uint32), ("for_people", c_bool),
        ("write_report", c_void_p), ("write_histogram", c_void_p), ("write_map", c_void_p), ("write_spikes", c_void_p),
        ("write_windows", c_void_p), ("write_check", c_void_p), ("write_diff", c_void_p), ("write_trend", c_void_p),
        ("write_suspects", c_void_p), ("write_allocations", c_void_p),
    ]


class _Answer(ctypes.Structure):
    """Longer than the library's, which fills only its own members: a later one may have more."""

    _fields_ = [("table", c_void_p), ("windows", c_void_p), ("room", c_void_p * 510)]


# C name: structure. A test of etlheap compares members, offsets and sizes with the headers.
STRUCTURES = {
    "etl_bytes": _Bytes, "etlheap_text": _Text, "etlheap_pattern": _Pattern, "etlheap_options": _Options,
    "etlheap_query": _Query, "etlheap_question": _Question, "etlheap_time_range": _TimeRange,
    "etlheap_windows_options": _WindowsOptions, "etlheap_windows": _Windows, "etlheap_windows_answer": _WindowsAnswer,
    "etlheap_lifetimes_options": _LifetimesOptions, "etlheap_diff_options": _DiffOptions, "etlheap_diff_side": _DiffSide,
    "etlheap_diff_answer": _DiffAnswer, "etlheap_budget": _Budget, "etlheap_gate_side": _GateSide,
    "etlheap_gate_options": _GateOptions, "etlheap_typed": _Typed, "etlheap_source_roots": _SourceRoots,
    "etlheap_check": _Check, "etlheap_symbol_options": _SymbolOptions, "etlheap_unpacked_member": _Member,
    "etlheap_unpack_options": _UnpackOptions, "etlheap_symbols_wanted": _Wanted, "etlheap_format": _Format,
    "etlheap_answer": _Answer,
}
# Only the beginning of these is declared.
BEGINNINGS = {"etlheap_windows", "etlheap_format", "etlheap_answer"}
CONSTANTS = {
    "ETLHEAP_KIND_CAPACITY": KIND_CAPACITY, "ETLHEAP_GROUP_BY_MAX": GROUP_BY_MAX, "ETLHEAP_ASK_WINDOWS": ASK_WINDOWS,
    "ETLHEAP_ASK_EVENTS": ASK_EVENTS, "ETLHEAP_ABI_VERSION": ABI_VERSION,
    **{f"ETLHEAP_QUANTITY_{word.upper()}": number for number, word in enumerate(QUANTITIES)},
}

# --- the library -----------------------------------------------------------------------------

# Function: what it returns, and its parameters. "status" functions take an error last, which
# _call adds.
_OUT = POINTER(c_void_p)
_FUNCTIONS: dict[str, Tuple[Any, List[Any]]] = {
    "etl_error_size": (c_size_t, []),
    "etl_error_message": (c_char_p, [c_void_p]),
    "etl_status_name": (c_char_p, [c_int]),
    "etlheap_abi_version": (c_uint32, []),
    "etl_open": ("status", [c_char_p, c_void_p, _OUT]),
    "etl_close": (None, [c_void_p]),
    "etlheap_recording_check": ("status", [POINTER(c_void_p), c_uint32, c_bool, POINTER(c_uint32 * 2)]),
    "etlheap_analyze": ("status", [POINTER(c_void_p), POINTER(c_char_p), c_uint32, POINTER(_Options), _OUT]),
    "etlheap_is_store": (c_bool, [_Bytes]),
    "etlheap_open_store": ("status", [c_char_p, POINTER(_Options), _OUT]),
    "etlheap_result_free": (None, [c_void_p]),
    "etlheap_method_count": (c_uint32, [c_void_p]),
    "etlheap_is_packed": (c_bool, [c_char_p]),
    "etlheap_unpack": ("status", [c_char_p, POINTER(_UnpackOptions), _OUT]),
    "etlheap_unpacked_count": (c_uint32, [c_void_p]),
    "etlheap_unpacked_member_of": (_Member, [c_void_p, c_uint32]),
    "etlheap_unpacked_close": (None, [c_void_p]),
    "etlheap_unpack_symbols": ("status", [c_char_p, POINTER(_UnpackOptions), POINTER(_Wanted), _OUT]),
    "etlheap_unpacked_symbols_folder": (c_char_p, [c_void_p]),
    "etlheap_unpacked_symbols_close": (None, [c_void_p]),
    "etlheap_symbols_open": ("status", [c_void_p, POINTER(_SymbolOptions), _OUT]),
    "etlheap_symbols_close": (None, [c_void_p]),
    "etlheap_query_new": (c_void_p, []),
    "etlheap_query_free": (None, [c_void_p]),
    "etlheap_query_set": ("status", [c_void_p, c_char_p, c_char_p]),
    "etlheap_aggregate": ("status", [c_void_p, c_void_p, _OUT]),
    "etlheap_table_free": (None, [c_void_p]),
    "etlheap_table_keep_top": ("status", [c_void_p, c_uint32]),
    "etlheap_table_name": ("status", [c_void_p, c_void_p, c_void_p]),
    "etlheap_ask": ("status", [c_void_p, POINTER(_Question), c_uint32, POINTER(_Answer)]),
    "etlheap_answers_free": (None, [POINTER(_Answer), c_uint32]),
    "etlheap_lifetimes_open": ("status", [c_void_p, c_void_p, POINTER(_LifetimesOptions), _OUT]),
    "etlheap_lifetimes_status": ("status", [c_void_p]),
    "etlheap_lifetimes_close": (None, [c_void_p]),
    "etlheap_lifetime_column_word": (c_char_p, [c_int]),
    "etlheap_measure_word": (c_char_p, [c_int]),
    "etlheap_kind_name": (c_char_p, [c_int]),
    "etlheap_scope_word": (c_char_p, [c_int]),
    "etlheap_diff_options_init": (None, [POINTER(_DiffOptions), c_size_t]),
    "etlheap_diff_tables": ("status", [c_void_p, c_void_p, POINTER(_DiffOptions), _OUT]),
    "etlheap_diff_keep_top": (None, [c_void_p, c_uint32]),
    "etlheap_diff_free": (None, [c_void_p]),
    "etlheap_suppressions_open": ("status", [_OUT]),
    "etlheap_suppressions_add": ("status", [c_void_p, c_char_p, _Bytes]),
    "etlheap_suppressions_read": ("status", [c_void_p, c_char_p]),
    "etlheap_suppressions_close": (None, [c_void_p]),
    "etlheap_gate_judge": ("status", [POINTER(_GateSide), POINTER(_GateOptions), _OUT]),
    "etlheap_gate_free": (None, [c_void_p]),
    "etlheap_format_named": (POINTER(_Format), [c_char_p]),
    "etlheap_sink_open_text": ("status", [POINTER(_Text), _OUT]),
    "etlheap_sink_close": ("status", [c_void_p]),
    "etlheap_sink_discard": (None, [c_void_p]),
    "etlheap_text_free": (None, [POINTER(_Text)]),
}

_IS_WINDOWS = sys.platform == "win32"
_LIBRARY_NAME = "etlheap.dll" if _IS_WINDOWS else f"libetlheap.so.{ABI_VERSION}"
_loaded: Optional[ctypes.CDLL] = None
_loading = threading.Lock()


def _places() -> Iterator[str]:
    """Where the library is looked for: named, beside this file as in the wheel, as `make install`
    has it, and last where the system's loader looks."""
    named = os.environ.get("ETLHEAP_LIBRARY")
    if named:
        yield named
        return
    here = os.path.dirname(os.path.abspath(__file__))
    parts = here.replace("\\", "/").rsplit("/share/etlheap/python", 1)
    folders = [here] + ([os.path.join(parts[0], "lib")] if len(parts) == 2 else [])
    for folder in folders:
        path = os.path.join(folder, _LIBRARY_NAME)
        if os.path.exists(path):
            yield path
    yield _LIBRARY_NAME


def _load() -> ctypes.CDLL:
    place = next(_places())
    try:
        library = ctypes.CDLL(place)
    except OSError as why:
        raise Error(f"the library cannot be loaded ({why}): install libetlheap{ABI_VERSION}, or name it in ETLHEAP_LIBRARY", "io", 1) from why
    if not hasattr(library, "etlheap_abi_version") or library.etlheap_abi_version() != ABI_VERSION:
        found = library.etlheap_abi_version() if hasattr(library, "etlheap_abi_version") else "none"
        raise Error(f"{place} has version {found} of the binary interface, and this module needs version {ABI_VERSION}", "unsupported", 11)
    for name, (returned, parameters) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = c_int if returned == "status" else returned
        function.argtypes = [*parameters, c_void_p] if returned == "status" else parameters
    return library


def _library() -> ctypes.CDLL:
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def _encode(text: Path) -> bytes:
    """A path or word as the library takes it: UTF-8 on Windows, as the file system has it elsewhere."""
    return os.fspath(text).encode("utf-8") if _IS_WINDOWS else os.fsencode(text)


def _decode(text: Optional[bytes]) -> str:
    return (text or b"").decode("utf-8", "replace")


def _raise(status: int, error: Any, path: Optional[str]) -> None:
    library = _library()
    name = _decode(library.etl_status_name(status))
    raise Error(_decode(library.etl_error_message(error)) or name, name, status, path)


def _call(name: str, *arguments: Any, path: Optional[str] = None) -> None:
    """Calls a function that returns a status, and raises what it says."""
    library = _library()
    error = ctypes.create_string_buffer(library.etl_error_size())
    status = getattr(library, name)(*arguments, error)
    if status != 0:
        _raise(status, error, path)


def _strings(words: Sequence[bytes]) -> Any:
    return (c_char_p * max(len(words), 1))(*words)


def _words(words: Words) -> List[str]:
    return [words] if isinstance(words, str) else list(words)


def _joined(words: Words) -> bytes:
    return (words if isinstance(words, str) else ",".join(words)).encode("utf-8")


def _number_of(word_of: Callable[[int], bytes], word: str, what: str) -> int:
    """The number of a word in a list of the library, which ends with an empty one."""
    known: List[str] = []
    while True:
        name = _decode(word_of(len(known)))
        if name == word:
            return len(known)
        if not name:
            raise Error(f"{what}: unknown word '{word}'; known: {', '.join(known)}")
        known.append(name)


def _kind_bits(kinds: Words) -> int:
    words = kinds.split(",") if isinstance(kinds, str) else list(kinds)
    bits = 0
    for word in words:
        bits |= 1 << _number_of(_library().etlheap_kind_name, word, "kinds") if word else 0
    return bits


def _written(writer: str, answer: Any, *before: Any) -> dict[str, Any]:
    """What the JSON writer of a kind of answer writes, parsed."""
    library = _library()
    address = getattr(library.etlheap_format_named(b"json").contents, writer)
    count = len(before) + 1
    function = ctypes.CFUNCTYPE(c_int, *[c_void_p] * count, c_void_p, c_void_p)(address)
    text, sink = _Text(), c_void_p()
    _call("etlheap_sink_open_text", ctypes.byref(text), ctypes.byref(sink))
    try:
        status = function(*before, answer, None, sink)
        if status != 0:
            library.etlheap_sink_discard(sink)
            raise Error(f"the answer could not be written ({_decode(library.etl_status_name(status))})", _decode(library.etl_status_name(status)), status)
        _call("etlheap_sink_close", sink)
        document: dict[str, Any] = json.loads(ctypes.string_at(text.bytes, text.size))
        return document
    finally:
        library.etlheap_text_free(ctypes.byref(text))


# --- questions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """Which memory a question is about, and how it is grouped.

    Words are those of the command line's options. Lists may be given as one text with commas or as
    a sequence; `processes`, `threads` and frames as a text or a sequence. None leaves the default:
    `group_by` and `sort` those of the command, `at_exit` "freed" in windows and "leaked" elsewhere,
    times the whole trace. `cull` leaves out the frames of allocators. Frames are `[module!][symbol]` with wildcards.
    """

    kinds: Words = ""
    group_by: Optional[Words] = None
    sort: Optional[str] = None
    types: Words = ""
    processes: Words = ()
    heaps: Sequence[int] = ()
    threads: Sequence[int] = ()
    from_ns: Optional[int] = None
    to_ns: Optional[int] = None
    at_exit: Optional[str] = None
    size_min_bytes: int = 0
    size_max_bytes: Optional[int] = None
    lifetime_min_ns: int = 0
    lifetime_max_ns: Optional[int] = None
    cull: bool = True
    cull_frames: Words = ()
    require_frames: Words = ()
    exclude_frames: Words = ()
    rates: bool = False
    churn: bool = False
    growth: bool = False
    lifetimes: bool = False
    sums_only: bool = False
    at_end: bool = False


@dataclass(frozen=True)
class Limit:
    """A limit of a check: `limit` bytes, or blocks with `count`.

    `scope` says what each is held against it: "total", "process", "heap", "stack", "mark",
    "module", "function" or "pool_tag"; `name` only those of this name. `quantity` is one of
    "outstanding", "peak", "allocated", "temporary" and "alloc_rate" (allocations per second).
    `growth` limits what is above the baseline, with `baseline_percent` of the baseline added.
    """

    limit: int
    scope: str = "process"
    name: Optional[str] = None
    kinds: Words = ""
    count: bool = False
    quantity: str = "outstanding"
    growth: bool = False
    baseline_percent: float = 0.0


def _patterns(frames: Words, keep: List[Any]) -> Tuple[Any, int]:
    """Frames as patterns of the library: "app.exe!Store::*", "app.exe!" or "Store::*"."""
    words = _words(frames)
    array = (_Pattern * max(len(words), 1))()
    for at, word in zip(array, words):
        module, mark, symbol = word.partition("!")
        if not mark:
            module, symbol = "", word
        at.module = module.encode("utf-8") or None
        at.symbol = symbol.encode("utf-8") or None
    keep.append(array)
    return array, len(words)


class _Asked:
    """A query of the library, with what it points to."""

    def __init__(self, query: Query, symbols: Any, group_by: Optional[str], at_exit: str, sort: str) -> None:
        self.keep: List[Any] = []
        self.handle = c_void_p(_library().etlheap_query_new())
        if not self.handle:
            raise MemoryError
        try:
            self._fill(query, symbols, group_by, at_exit, sort)
            self._cull(query)
        except BaseException:
            self.close()
            raise

    def _fill(self, query: Query, symbols: Any, group_by: Optional[str], at_exit: str, sort: str) -> None:
        exit_word = query.at_exit or at_exit
        if exit_word not in ("leaked", "freed"):
            raise Error(f"at_exit: unknown word '{exit_word}'; known: leaked, freed")
        for field in ("kinds", "types"):
            self.set(field, _joined(getattr(query, field)))
        by = query.group_by if query.group_by is not None else group_by
        if by is not None:
            self.set("group_by", _joined(by))
        self.set("sort", (query.sort or sort).encode("utf-8"))
        for field in ("from_ns", "to_ns", "lifetime_max_ns"):
            if getattr(query, field) is not None:
                self.set(field, b"%d" % getattr(query, field))
        self.set("lifetime_min_ns", b"%d" % query.lifetime_min_ns)
        self.fields = fields = ctypes.cast(self.handle, POINTER(_Query)).contents
        if fields.size < ctypes.sizeof(_Query):
            raise Error("the library is older than this module", "unsupported", 11)
        fields.at_exit_freed = exit_word == "freed"
        fields.size_min_bytes = query.size_min_bytes
        if query.size_max_bytes is not None:
            fields.size_max_bytes = query.size_max_bytes
        for field in ("rates", "churn", "growth", "sums_only", "at_end"):
            setattr(fields, field, getattr(query, field))
        fields.lifetime_ranks = query.lifetimes
        fields.symbols = symbols
        self._point("processes", "process_count", _strings([_encode(word) for word in _words(query.processes)]), len(_words(query.processes)))
        self._point("heaps", "heap_count", (c_uint64 * max(len(query.heaps), 1))(*query.heaps), len(query.heaps))
        self._point("threads", "thread_count", (c_uint32 * max(len(query.threads), 1))(*query.threads), len(query.threads))
        for field in ("require_frames", "exclude_frames"):
            self._point(field, field[:-1] + "_count", *_patterns(getattr(query, field), self.keep))

    def _cull(self, query: Query) -> None:
        """The patterns of the query, and after them the library's own list of allocators."""
        own, count = _patterns(query.cull_frames, self.keep)
        if query.cull:
            self.set("cull_frames", b"allocators")
            built_in = self.fields.cull_frame_count
            listed = ctypes.cast(self.fields.cull_frames, POINTER(_Pattern))
            own, count = (_Pattern * (count + built_in))(*own[:count], *listed[:built_in]), count + built_in
        self._point("cull_frames", "cull_frame_count", own, count)

    def _point(self, field: str, counter: str, array: Any, count: int) -> None:
        self.keep.append(array)
        setattr(self.fields, field, ctypes.cast(array, c_void_p) if count else None)
        setattr(self.fields, counter, count)

    def set(self, field: str, value: bytes) -> None:
        _call("etlheap_query_set", self.handle, field.encode(), value)

    def close(self) -> None:
        _library().etlheap_query_free(self.handle)
        self.handle = c_void_p()

    def __enter__(self) -> "_Asked":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# --- answers ---------------------------------------------------------------------------------

_STACK_KEYS = ("stack", "impacting_stack", "free_stack")
_FRAME_KEYS = ("site", "frame", "function", "free_site")


def frame_name(frame: Optional[Row]) -> Optional[str]:
    """A frame in WPA's notation: "app.exe!Store::grow", "app.exe+0x1a2b", or an address."""
    if frame is None:
        return None
    if frame.get("module") is None:
        return frame.get("address")
    if frame.get("symbol") is not None:
        return f"{frame['module']}!{frame['symbol']}"
    return f"{frame['module']}+{frame['offset']}" if frame.get("offset") is not None else str(frame["module"])


class Answer:
    """A parsed JSON document of etlheap: `document` is all of it, `rows` its rows."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @property
    def rows(self) -> List[dict[str, Any]]:
        rows: List[dict[str, Any]] = self.document["rows"]
        return rows

    def frame(self, row: Row, key: str = "site") -> Optional[dict[str, Any]]:
        """The frame that a row's key refers to; None if it has none."""
        index = row[key]
        return None if index is None else self.document["frames"][index]

    def stack(self, row: Row, key: str = "stack") -> Optional[List[dict[str, Any]]]:
        """The frames of a row's stack, innermost first; None if no stack was recorded."""
        index = row[key]
        return None if index is None else [self.document["frames"][frame] for frame in self.document["stacks"][index]]

    def name(self, row: Row, key: str = "site") -> Optional[str]:
        """The name of the frame that a row's key refers to."""
        return frame_name(self.frame(row, key))

    def columns(self) -> dict[str, List[Any]]:
        """Rows as columns; frames are names, and stacks are lists of names."""
        rows = self._flat()
        names: dict[str, None] = {}
        for row in rows:
            names.update(dict.fromkeys(row))
        return {name: [self._cell(row, name) for row in rows] for name in names}

    def to_arrow(self) -> Any:
        """The rows as a pyarrow.Table."""
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pyarrow.table(self.columns())

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame. What is not known is <NA>: integers stay integers."""
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pandas.DataFrame({name: pandas.Series(cells, dtype=_pandas_type(cells)) for name, cells in self.columns().items()})

    def _flat(self) -> Sequence[Row]:
        return self.rows

    def _cell(self, row: Row, name: str) -> Any:
        if name in _STACK_KEYS and name in row:
            stack = self.stack(row, name)
            return None if stack is None else [frame_name(frame) for frame in stack]
        if name in _FRAME_KEYS and isinstance(row.get(name), int):
            return self.name(row, name)
        return row.get(name)


def _pandas_type(cells: Sequence[Any]) -> str:
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, bool) for cell in known):
        return "boolean"
    return "Int64" if known and all(isinstance(cell, int) for cell in known) else "object"


class Report(Answer):
    """As `etlheap report` writes it."""

    @property
    def totals(self) -> List[dict[str, Any]]:
        totals: List[dict[str, Any]] = self.document["totals"]
        return totals


class Windows(Answer):
    """As `etlheap windows` writes it: `windows` has the rows of each; `rows` has those of all, with
    the window's `from_ns` and `to_ns` in front."""

    @property
    def windows(self) -> List[dict[str, Any]]:
        windows: List[dict[str, Any]] = self.document["windows"]
        return windows

    @property
    def rows(self) -> List[dict[str, Any]]:
        return [{"from_ns": window["from_ns"], "to_ns": window["to_ns"], **row} for window in self.windows for row in window["rows"]]


class Diff(Answer):
    """As `etlheap diff` writes it: rows have base_, new_ and delta_ of each measure."""


class Allocations(Answer):
    """As `etlheap allocations` writes it: one row a lifetime."""


class Verdict(Answer):
    """As `etlheap check` writes it. `rows` are the subjects of all limits."""

    @property
    def verdict(self) -> str:
        """ "pass", "fail" or "inconclusive"."""
        return str(self.document["verdict"])

    @property
    def summary(self) -> str:
        """The verdict as a sentence."""
        return str(self.document["summary"])

    @property
    def rows(self) -> List[dict[str, Any]]:
        return [subject for budget in self.document["budgets"] for subject in budget["subjects"]]

    def __bool__(self) -> bool:
        """True only if the check passed: an inconclusive one proves nothing."""
        return self.verdict == "pass"


# --- recordings ------------------------------------------------------------------------------


class Recording:
    """An opened recording or store. Close it, or use it in a `with` statement. Several threads may
    ask it; questions are answered one after the other."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self._stack = contextlib.ExitStack()
        self._lock = threading.RLock()
        self._result: Optional[c_void_p] = None
        self._symbols = c_void_p()
        self._trace: Optional[dict[str, Any]] = None

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Frees the recording. It may be called again; questions asked afterwards are refused."""
        with self._lock:
            self._result = None
            self._stack.close()

    @property
    def trace(self) -> dict[str, Any]:
        """What the recording is: files, session, computer, times, counts, losses (`trace` of docs/json.md)."""
        with self._lock:
            if self._trace is None:
                self._trace = self.report(Query(group_by="kind", sums_only=True)).document["trace"]
            return self._trace

    def report(self, query: Query = Query(), top: Optional[int] = None) -> Report:
        """What memory is outstanding, and what was allocated: `etlheap report`."""
        with self._lock, self._asked(query) as asked, self._table(asked) as table:
            if top is not None:
                _call("etlheap_table_keep_top", table, top)
            self._name(table)
            return Report(_written("write_report", table, self._result))

    def windows(
        self,
        query: Query = Query(),
        every_ns: int = 0,
        cuts_ns: Sequence[int] = (),
        ranges_ns: Sequence[Tuple[int, int]] = (),
        top: Optional[int] = None,
    ) -> Windows:
        """Memory over time: `etlheap windows`. Windows of equal length, between moments, or any."""
        cuts = (c_int64 * max(len(cuts_ns), 1))(*cuts_ns)
        ranges = (_TimeRange * max(len(ranges_ns), 1))(*[_TimeRange(*each) for each in ranges_ns])
        options = _WindowsOptions(
            size=ctypes.sizeof(_WindowsOptions), every_ns=every_ns, cuts=ctypes.cast(cuts, c_void_p), cut_count=len(cuts_ns),
            ranges=ctypes.cast(ranges, c_void_p), range_count=len(ranges_ns),
        )
        with self._lock, self._asked(query, "kind,process", "freed", "peak_size") as asked:
            question = _Question(
                size=ctypes.sizeof(_Question), kind=ASK_WINDOWS, query=asked.handle, windows=ctypes.addressof(options),
            )
            answer = _Answer()
            _call("etlheap_ask", self._result, ctypes.byref(question), 1, ctypes.byref(answer), path=self.paths[0])
            try:
                table = ctypes.cast(answer.windows, POINTER(_Windows)).contents.table
                if top is not None:
                    _call("etlheap_table_keep_top", table, top)
                self._name(table)
                shown = _WindowsAnswer(windows=answer.windows)
                return Windows(_written("write_windows", ctypes.addressof(shown), self._result))
            finally:
                _library().etlheap_answers_free(ctypes.byref(answer), 1)

    def allocations(self, query: Query = Query(), top: int = 0, sort: str = "alloc_time") -> Allocations:
        """Single blocks and ranges: `etlheap allocations`. `sort` is a column: times begin with the
        earliest, others with the largest, and a dash in front reverses that. `top` 0: all rows."""
        library = _library()
        column = _number_of(library.etlheap_lifetime_column_word, sort.lstrip("-"), "sort")
        begins_small = sort.lstrip("-") in ("alloc_time", "free_time")
        options = _LifetimesOptions(
            size=ctypes.sizeof(_LifetimesOptions), sort=column, sort_descending=begins_small == sort.startswith("-"), top=top, frees=True,
        )
        with self._lock, self._asked(query) as asked:
            walk = c_void_p()
            _call("etlheap_lifetimes_open", self._result, asked.handle, ctypes.byref(options), ctypes.byref(walk), path=self.paths[0])
            try:
                document = _written("write_allocations", walk)
                _call("etlheap_lifetimes_status", walk, path=self.paths[0])
                return Allocations(document)
            finally:
                library.etlheap_lifetimes_close(walk)

    def check(
        self,
        limits: Union[Limit, Sequence[Limit]],
        query: Query = Query(),
        baseline: Optional["Recording"] = None,
        suppressions: Sequence[Path] = (),
        allow_empty: bool = False,
        required_processes: Words = (),
        stacks: int = 5,
    ) -> Verdict:
        """Holds memory against limits: `etlheap check`. `suppressions` are files of known leaks."""
        wanted = [limits] if isinstance(limits, Limit) else list(limits)
        budgets = (_Budget * max(len(wanted), 1))(*[_budget(limit) for limit in wanted])
        required = _strings([_encode(word) for word in _words(required_processes)])
        with contextlib.ExitStack() as stack:
            for recording in sorted({self, baseline or self}, key=id):
                stack.enter_context(recording._lock)
            asked = stack.enter_context(self._asked(query))
            side = _GateSide(self._result, asked.handle)
            options = _GateOptions(
                size=ctypes.sizeof(_GateOptions), budgets=ctypes.cast(budgets, c_void_p), budget_count=len(wanted),
                suppressions=_suppressions(suppressions, stack), stacks_max=stacks, passes_max=25, allow_empty=allow_empty,
                required_processes=ctypes.cast(required, c_void_p), required_process_count=len(_words(required_processes)),
            )
            if baseline is not None:
                other = _GateSide(baseline._open_result(), stack.enter_context(baseline._asked(query)).handle)
                options.baseline = ctypes.addressof(other)
            gate = c_void_p()
            _call("etlheap_gate_judge", ctypes.byref(side), ctypes.byref(options), ctypes.byref(gate), path=self.paths[0])
            stack.callback(_library().etlheap_gate_free, gate)
            names = _strings([_encode(path) for path in self.paths])
            check = _Check(gate=gate, inputs=_Typed(ctypes.cast(names, c_void_p), len(self.paths)))
            check.baseline_name = _encode(baseline.paths[0]) if baseline else None
            return Verdict(_written("write_check", ctypes.addressof(check), self._result))

    def _open_result(self) -> c_void_p:
        if self._result is None:
            raise Error("the recording is closed", path=self.paths[0])
        return self._result

    def _asked(self, query: Query, group_by: Optional[str] = None, at_exit: str = "leaked", sort: str = "outstanding_size") -> _Asked:
        self._open_result()
        return _Asked(query, self._symbols, group_by, at_exit, sort)

    @contextlib.contextmanager
    def _table(self, asked: _Asked) -> Iterator[c_void_p]:
        table = c_void_p()
        _call("etlheap_aggregate", self._result, asked.handle, ctypes.byref(table), path=self.paths[0])
        try:
            yield table
        finally:
            _library().etlheap_table_free(table)

    def _name(self, table: Any) -> None:
        if self._symbols:
            _call("etlheap_table_name", table, self._symbols, None, path=self.paths[0])

    def _analyse(self, options: _Options, together: bool, folder: bytes) -> None:
        """Opens files, unpacked ones too, and makes the result of all of them."""
        library, files, names = _library(), [], []
        for path in self.paths:
            for file in self._files_of(path, folder):
                files.append(file)
                names.append(_encode(path))
        if len(files) == 1 and _is_store(files[0]):
            options.name = names[0]
            self._keep("etlheap_result_free", "etlheap_open_store", files[0], ctypes.byref(options), path=self.paths[0])
        else:
            traces = (c_void_p * len(files))()
            for at, (file, name) in enumerate(zip(files, names)):
                trace = c_void_p()
                _call("etl_open", file, None, ctypes.byref(trace), path=os.fsdecode(name))
                self._stack.callback(library.etl_close, trace)
                traces[at] = trace
            pair = (c_uint32 * 2)()
            _call("etlheap_recording_check", traces, len(files), together, ctypes.byref(pair), path=", ".join(self.paths))
            self._keep("etlheap_result_free", "etlheap_analyze", traces, _strings(names), len(files), ctypes.byref(options), path=self.paths[0])

    def _keep(self, free: str, function: str, *arguments: Any, path: str) -> None:
        result = c_void_p()
        _call(function, *arguments, ctypes.byref(result), path=path)
        self._stack.callback(getattr(_library(), free), result)
        self._result = result

    def _files_of(self, path: str, folder: bytes) -> List[bytes]:
        library, name = _library(), _encode(path)
        if not library.etlheap_is_packed(name):
            return [name]
        unpacked = c_void_p()
        options = _UnpackOptions(size=ctypes.sizeof(_UnpackOptions), folder=folder)
        _call("etlheap_unpack", name, ctypes.byref(options), ctypes.byref(unpacked), path=path)
        self._stack.callback(library.etlheap_unpacked_close, unpacked)
        count = library.etlheap_unpacked_count(unpacked)
        return [bytes(library.etlheap_unpacked_member_of(unpacked, at).path) for at in range(count)]

    def _open_symbols(self, symbols: Optional[str], offline: bool, cache: Optional[Path], jobs: int, folder: bytes) -> None:
        """PDBs that are packed beside a trace come first. Without a path, names are those of the trace."""
        library = _library()
        paths = [*self._packed_symbols(folder), *([symbols.encode("utf-8")] if symbols else [])]
        if not paths and library.etlheap_method_count(self._result) == 0:
            return
        options = _SymbolOptions(
            size=ctypes.sizeof(_SymbolOptions), path=b";".join(paths), default_store=_encode(cache) if cache else None,
            temporary_folder=folder, offline=offline, jobs=jobs,
        )
        _call("etlheap_symbols_open", self._result, ctypes.byref(options), ctypes.byref(self._symbols))
        self._stack.callback(library.etlheap_symbols_close, self._symbols)

    def _packed_symbols(self, folder: bytes) -> Iterator[bytes]:
        library = _library()
        all_of_them = ctypes.CFUNCTYPE(c_bool, c_void_p, c_char_p)(lambda _user, _name: True)
        wanted = _Wanted(is_wanted=ctypes.cast(all_of_them, c_void_p))
        options = _UnpackOptions(size=ctypes.sizeof(_UnpackOptions), folder=folder)
        for path in self.paths:
            unpacked = c_void_p()
            _call("etlheap_unpack_symbols", _encode(path), ctypes.byref(options), ctypes.byref(wanted), ctypes.byref(unpacked), path=path)
            if unpacked:
                self._stack.callback(library.etlheap_unpacked_symbols_close, unpacked)
                yield bytes(library.etlheap_unpacked_symbols_folder(unpacked))


def _is_store(path: bytes) -> bool:
    try:
        with builtins.open(os.fsdecode(path) if not _IS_WINDOWS else path.decode("utf-8"), "rb") as file:
            begin = file.read(8)
    except OSError:
        return False  # the library says why it cannot be read
    return bool(_library().etlheap_is_store(_Bytes(begin, len(begin))))


def _budget(limit: Limit) -> _Budget:
    if limit.quantity not in QUANTITIES:
        raise Error(f"quantity: unknown word '{limit.quantity}'; known: {', '.join(QUANTITIES)}")
    return _Budget(
        is_growth=limit.growth, is_count=limit.count or limit.quantity == "alloc_rate", limit=limit.limit,
        scope=_number_of(_library().etlheap_scope_word, limit.scope, "scope"), kinds=_kind_bits(limit.kinds),
        baseline_millionths=round(limit.baseline_percent * 10000), quantity=QUANTITIES.index(limit.quantity),
        name=limit.name.encode("utf-8") if limit.name is not None else None,
    )


def _suppressions(files: Sequence[Path], stack: contextlib.ExitStack) -> Optional[c_void_p]:
    if not files:
        return None
    handle = c_void_p()
    _call("etlheap_suppressions_open", ctypes.byref(handle))
    stack.callback(_library().etlheap_suppressions_close, handle)
    for file in files:
        _call("etlheap_suppressions_read", handle, _encode(file), path=os.fspath(file))
    return handle


def open(
    path: Union[Path, Sequence[Path]],
    symbols: Optional[str] = None,
    offline: bool = False,
    symbol_cache: Optional[Path] = None,
    jobs: int = 0,
    memory: int = 0,
    temporary_folder: Optional[Path] = None,
    together: bool = False,
) -> Recording:
    """Opens a trace, the files of one recording, a store, or one of these packed (.etl.zip, .gz, .zst).

    `symbols` is a path in the syntax of _NT_SYMBOL_PATH; servers in it are not asked if `offline`.
    `jobs` is the number of threads (0: all processors), `memory` a limit in bytes (0: none). What
    does not fit into memory goes to `temporary_folder`. `together` accepts different recordings.
    """
    paths = [os.fspath(path)] if isinstance(path, (str, os.PathLike)) else [os.fspath(each) for each in path]
    if not paths:
        raise Error("no file is given")
    folder = _encode(temporary_folder or tempfile.gettempdir())
    events = _Question(size=ctypes.sizeof(_Question), kind=ASK_EVENTS, frees=True)
    options = _Options(
        size=ctypes.sizeof(_Options), jobs=jobs, memory_bytes_max=memory, questions=ctypes.addressof(events), question_count=1,
        temporary_folder=folder, named_kinds=True,
    )
    recording = Recording(paths)
    try:
        recording._analyse(options, together, folder)
        recording._open_symbols(symbols, offline, symbol_cache, jobs, folder)
    except BaseException:
        recording.close()
        raise
    return recording


def diff(
    base: Recording,
    new: Recording,
    query: Query = Query(),
    top: Optional[int] = None,
    per_second: bool = False,
    keep_unchanged: bool = False,
) -> Diff:
    """What changed from one recording to the other: `etlheap diff`. `query.sort` is the measure."""
    library = _library()
    sort = query.sort or "outstanding_size"
    measure = _number_of(library.etlheap_measure_word, sort.lstrip("-"), "sort")
    options = _DiffOptions()
    library.etlheap_diff_options_init(ctypes.byref(options), ctypes.sizeof(_DiffOptions))
    options.measure, options.ascending = measure, sort.startswith("-")
    options.per_second, options.keep_unchanged = per_second, keep_unchanged
    options.base_result, options.new_result = base._open_result(), new._open_result()
    with contextlib.ExitStack() as stack:
        for recording in sorted({base, new}, key=id):
            stack.enter_context(recording._lock)
        tables = []
        for recording in (base, new):
            asked = stack.enter_context(recording._asked(query, "kind,process,stack"))
            asked.fields.sums_only = True  # peaks do not add up over rows
            tables.append(stack.enter_context(recording._table(asked)))
            recording._name(tables[-1])
        made = c_void_p()
        _call("etlheap_diff_tables", *tables, ctypes.byref(options), ctypes.byref(made))
        stack.callback(library.etlheap_diff_free, made)
        if top is not None:
            library.etlheap_diff_keep_top(made, top)
        sides = [_DiffSide(_encode(each.paths[0]), each._open_result(), None, table) for each, table in zip((base, new), tables)]
        answer = _DiffAnswer(made, *sides)
        return Diff(_written("write_diff", ctypes.addressof(answer)))
