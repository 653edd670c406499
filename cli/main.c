/*
 * main.c - the program: finds the command and runs it.
 *
 * In: the words of the command line. Out: an exit status.
 *
 *     words ──▶ command ──▶ options (options.c) ──▶ cli_run_COMMAND ──▶ status
 *
 * Each command is a row with its name, summary and function; help and completion read the same
 * rows. Invariant: whatever is set for the whole process (memory kept after it is freed, the guard
 * against bus errors, the host) is set here, before a second thread exists.
 */
#include "about.h"
#include "cli/commands/commands.h"
#include "cli/system/bus_guard.h"
#include "cli/system/host.h"
#include "cli/memory_limit.h"
#include "messages.h"
#include "outputs.h"
#include "overwrites.h"

#if defined(__linux__)
#include <malloc.h>
#endif
#include <stdio.h>

#include "cli/options/nearest.h"
#include "parser/system/files.h"

static const char *const report_examples[] = {
    "etlheap report app.etl                           outstanding at the end",
    "etlheap report kernel.etl heap.etl --kind heap   files of one recording",
    "etlheap report app.etl --from 10s --to 20s --type AIFO",
    "etlheap report app.etl --suspects                stacks that probably leak",
    "etlheap report app.etl --impacting transient     what made the spikes",
    "etlheap report app.etl --process app.exe --group-by process,module",
    "etlheap report app.etl --symbols 'out;SRV**https://example.com/symbols'",
    "etlheap report app.etl.zip --format json -o report.json",
    NULL,
};

static const char *const windows_examples[] = {
    "etlheap windows app.etl                 about twenty windows, by process",
    "etlheap windows app.etl --every 500ms --from 10s --to 20s --group-by stack",
    "etlheap windows app.etl --at 5s --at 10s --at 15s",
    "etlheap windows app.etl --window 1s..2s --window 8s..9s --format csv",
    "etlheap windows app.etl --find-growth   when memory rose, and which stacks",
    NULL,
};

static const char *const diff_examples[] = {
    "etlheap diff before.etl after.etl",
    "etlheap diff base.ehs new.etl --process app.exe --symbols out",
    "etlheap diff short.etl long.etl --per-second --group-by process,site",
    "etlheap diff base.etl new.etl --format json | jq '.rows[].state'",
    "etlheap diff base.ehs new.ehs -o diff.html   flame graph: red grew",
    "etlheap diff first.txt second.txt            two logs of umdh -f:FILE",
    "etlheap diff comparison.txt                  output of umdh A B",
    NULL,
};

static const char *const symbols_examples[] = {
    "etlheap symbols app.etl",
    "etlheap symbols app.etl --symbols 'out;SRV**https://example.com/symbols'",
    "etlheap symbols app.etl --format json | jq -r '.modules[].expected'",
    NULL,
};

static const char *const check_examples[] = {
    "etlheap check app.etl --process app.exe --max-outstanding 10M",
    "etlheap check app.etl --baseline b.ehs --max-growth 4K+5% --update-baseline",
    "etlheap check app.etl --max-outstanding stack:1M --suppressions known.supp",
    "etlheap check app.etl --max-outstanding 1M --junit leaks.xml --sarif s.sarif",
    NULL,
};

static const char *const allocations_examples[] = {
    "etlheap allocations app.etl --process app.exe --type AIFO   never freed",
    "etlheap allocations app.etl --sort size --top 20            the largest",
    "etlheap allocations app.etl --from 10s --to 11s --lifetime ..5ms",
    "etlheap allocations app.etl --address 0x1f0010",
    "etlheap allocations app.ehs --format ndjson | jq -r '.stack[0]'",
    NULL,
};

static const char *const trend_examples[] = {
    "etlheap trend monday.etl tuesday.etl wednesday.etl",
    "etlheap trend nightly/*.ehs --process app.exe --symbols out",
    "etlheap trend runs/*.ehs --group-by process,module --all",
    "etlheap trend runs/*.ehs --format csv -o trend.csv",
    NULL,
};

static const char *const info_examples[] = {
    "etlheap info app.etl",
    "etlheap info app.etl --format json | jq .can",
    NULL,
};

static const char *const store_examples[] = {
    "etlheap store app.etl -o app.ehs              then: etlheap report app.ehs",
    "etlheap store kernel.etl heap.etl -o run.ehs  files of one recording",
    "etlheap store app.etl --summary -o app.ehs    for archives: totals only",
    "etlheap store app.etl --summary --every 1s -o app.ehs",
    "etlheap store app.etl --process app --from 5s -o part.ehs",
    "etlheap store nightly/*.etl --summary --out-dir archive -j 8",
    NULL,
};

static const char *const merge_examples[] = {
    "etlheap merge monday.ehs tuesday.ehs -o week.ehs",
    "etlheap merge runs/*.ehs -o runs.ehs          full stores are summarised",
    NULL,
};

static const char *const export_examples[] = {
    "etlheap export app.etl --format html -o app.html   charts for a browser",
    "etlheap export app.etl --format folded | flamegraph.pl > app.svg",
    "etlheap export app.etl --format pprof -o app.pb.gz",
    "etlheap export app.etl --process app.exe --format heaptrack -o app.zst",
    "etlheap export app.etl --kind heap --metric peak --format speedscope",
    NULL,
};

static const char *const dump_examples[] = {
    "etlheap dump app.etl --events 'Heap/*' --process app.exe",
    "etlheap dump app.etl --from 1.5s --to 1.6s",
    "etlheap dump app.etl --format ndjson | jq -r .name | sort | uniq -c",
    NULL,
};

static const char *const view_examples[] = {
    "etlheap view app.etl                 prints the address of the page",
    "etlheap view app.ehs --open --symbols 'out;SRV**https://example.com/symbols'",
    "etlheap view before.ehs after.ehs    two runs, and what differs",
    "etlheap view app.ehs --port 8080     for ssh -L 8080:127.0.0.1:8080 HOST",
    NULL,
};

static const char *const selftest_examples[] = {
    "etlheap selftest",
    "etlheap selftest --write-demo build",
    NULL,
};

static const cli_command commands[] = {
    { "report", CLI_REPORT, "INPUT...",
      "Report outstanding memory by process, heap and call stack.", report_examples,
      cli_run_report },
    { "allocations", CLI_ALLOCATIONS, "INPUT...", "List single blocks and ranges, one line each.",
      allocations_examples, cli_run_allocations },
    { "windows", CLI_WINDOWS, "INPUT...", "Show memory over time, window by window.",
      windows_examples, cli_run_windows },
    { "diff", CLI_DIFF, "BASE NEW", "Compare two runs: what grew, shrank, appeared, disappeared.",
      diff_examples, cli_run_diff },
    { "trend", CLI_TREND, "RUN...", "Follow memory over many runs: drifts, steps, new sites.",
      trend_examples, cli_run_trend },
    { "symbols", CLI_SYMBOLS, "INPUT...",
      "List modules that have or lack symbols, and their memory.", symbols_examples,
      cli_run_symbols },
    { "info", CLI_INFO, "INPUT...", "Describe a trace, and what can be analysed with it.",
      info_examples, cli_run_info },
    { "store", CLI_STORE, "TRACE... -o FILE.ehs|--out-dir DIR",
      "Decode a trace once into a compressed store for other commands.", store_examples,
      cli_run_store },
    { "check", CLI_CHECK, "INPUT...",
      "Compare memory with limits and a baseline; fail with status 1.", check_examples,
      cli_run_check },
    { "merge", CLI_MERGE, "FILE.ehs... -o FILE.ehs", "Add up summaries and stores of many runs.",
      merge_examples, cli_run_merge },
    { "export", CLI_EXPORT, "INPUT... --format FORMAT",
      "Write formats of other programs: flame graphs, profiles, tables.", export_examples,
      cli_run_export },
    { "dump", CLI_DUMP, "INPUT...", "List every event in the order of time, one line each.",
      dump_examples, cli_run_dump },
    { "view", CLI_VIEW, "INPUT...", "Explore traces in a browser.", view_examples, cli_run_view },
    { "selftest", CLI_SELFTEST, "", "Test that this program works on this machine.",
      selftest_examples, cli_run_selftest },
};

static int help_on(const cli_command_list *list, const char *name);
static int unknown_command(const char *name);
static int run_command(const cli_command_list *list, const cli_command *command, int count,
                       char *const *words);
static int print_help(const cli_command *command);
static void write_overview(etlheap_sink *sink);

/*
 * Every time slice allocates and frees the same large arrays. Giving them back to
 * the system in between costs page faults, and with threads an interrupt of every
 * processor, which took a sixth of the time of a large report.
 */
static void keep_freed_memory(void)
{
#if defined(M_MMAP_THRESHOLD)
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

int main(int argc, char *argv[])
{
    keep_freed_memory();
    cli_bus_guard_begin();
    argv = cli_host_begin(&argc, argv);
    if (!argv) {
        cli_complain(NULL, "out of memory");
        return CLI_EXIT_INPUT;
    }
    if (argc < 2) {
        cli_complain(NULL, "no command; see etlheap --help");
        return CLI_EXIT_USAGE;
    }
    int exit_status;
    const cli_command_list list = { commands, ETL_COUNT_OF(commands) };
    if (cli_about(&list, argv + 1, &exit_status))
        return exit_status;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(NULL);
    if (strcmp(argv[1], "help") == 0)
        return help_on(&list, argv[2]);
    const cli_command *const command = cli_command_named(&list, argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    return run_command(&list, command, argc - 2, argv + 2);
}

/* Handles `etlheap help` and `etlheap help report`. */
static int help_on(const cli_command_list *list, const char *name)
{
    const cli_command *const command = name ? cli_command_named(list, name) : NULL;
    return name && !command ? unknown_command(name) : print_help(command);
}

/* Reports an unknown command. An option in its place is called an option; for a file, the message
 * shows the command that most people want for it. */
static int unknown_command(const char *name)
{
    const char *choices[ETL_COUNT_OF(commands) + 3] = { "--version", "--help" };
    char hint[CLI_HINT_SIZE];
    char message[240];
    if (etl_path_kind_of(name) == ETL_PATH_FILE) {
        snprintf(message, sizeof message,
                 "is a file, not a command; did you mean etlheap report %.120s?", name);
        cli_complain(name, message);
        return CLI_EXIT_USAGE;
    }
    for (size_t i = 0; i < ETL_COUNT_OF(commands); i++)
        choices[i + 2] = commands[i].name;
    cli_hint(name, choices, hint);
    snprintf(message, sizeof message,
             name[0] == '-' ? "unknown option %.60s%s" : "unknown command '%.60s'%s", name,
             hint[0] != '\0' ? hint : "; see etlheap --help");
    cli_complain(NULL, message);
    return CLI_EXIT_USAGE;
}

/* A usage error is one sentence, not a page of help that hides it. */
static int run_command(const cli_command_list *list, const cli_command *command, int count,
                       char *const *words)
{
    etl_error err = { .status = ETL_OK };
    cli_options options;
    const etl_status status = cli_options_parse(command, count, words, &options, &err);
    int exit_status = cli_exit_of(status);
    if (status != ETL_OK) {
        cli_complain(NULL, err.message);
    } else if (options.help) {
        exit_status = print_help(command);
    } else {
        options.commands = list;
        exit_status = cli_overwrites_check(&options);
        cli_memory_limit_begin(command, &options);
        if (exit_status == CLI_EXIT_DONE)
            exit_status = command->run(&options);
    }
    cli_options_free(&options);
    return exit_status;
}

/* Prints the help of a command, or an overview of all. */
static int print_help(const cli_command *command)
{
    etl_error err = { .status = ETL_OK };
    etlheap_sink *sink = NULL;
    if (etlheap_sink_open_descriptor(ETL_STDOUT, "standard output", &sink, &err) != ETL_OK) {
        cli_complain("standard output", err.message);
        return CLI_EXIT_INPUT;
    }
    if (command)
        cli_write_help(command, sink);
    else
        write_overview(sink);
    return cli_output_close_stdout(sink);
}

static void write_overview(etlheap_sink *sink)
{
    etlheap_sink_text(sink,
                      "Usage: etlheap COMMAND INPUT... [OPTION...]\n"
                      "Find out from Windows ETL traces where heap and VirtualAlloc memory went.\n"
                      "\nCommands:\n");
    for (size_t i = 0; i < ETL_COUNT_OF(commands); i++) {
        const size_t size = strlen(commands[i].name);
        etlheap_sink_text(sink, "  ");
        etlheap_sink_text(sink, commands[i].name);
        etlheap_sink_fill(sink, ' ', size < 12 ? 12 - size : 1);
        etlheap_sink_text(sink, commands[i].summary);
        etlheap_sink_text(sink, "\n");
    }
    etlheap_sink_text(
        sink, "\nINPUT is one or more .etl files of one recording, or an .ehs store. .etl.zip,\n"
              ".etl.gz, .etl.zst, .diagsession, UMDH logs, and - for standard input work, too.\n"
              "\nExit status: 0 done, 1 check exceeded a limit, 2 wrong command line, 3 cannot\n"
              "read or write, or unusable input, 4 check is inconclusive, or the input is\n"
              "damaged or lost events and --strict was given.\n"
              "\nSee 'etlheap help COMMAND' for options and examples, 'etlheap --version' for\n"
              "versions, and 'etlheap --completion bash|zsh|fish' for shell completion.\n");
}
