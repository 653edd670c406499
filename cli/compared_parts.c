/*
 * compared_parts.c - refuses to compare stores whose parts differ, or says what is compared.
 *
 * In: the options and the opened inputs of diff, trend or check. Out: a refusal that names the
 * options with which the inputs can be compared, or a note. Invariant: rows are never compared with
 * rows that one of the inputs left out.
 */
#include "compared_parts.h"

#include "messages.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_SIZE 1024

static bool has_same_window(const etlheap_part *a, const etlheap_part *b)
{
    return a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

static bool has_same_processes(const etlheap_part *a, const etlheap_part *b)
{
    bool same = a->process_count == b->process_count;
    for (u32 i = 0; same && i < a->process_count; i++)
        same = strcmp(a->processes[i], b->processes[i]) == 0;
    return same;
}

static void describe(const cli_inputs *inputs, char out[MESSAGE_SIZE / 2])
{
    char words[ETLHEAP_PART_WORDS_SIZE] = "the whole recording";
    const char *const subject = cli_inputs_subject(inputs);
    if (inputs->clock.part)
        etlheap_part_words(inputs->clock.part, words);
    snprintf(out, MESSAGE_SIZE / 2, "%.160s has %s", subject ? subject : "the recording", words);
}

static int refuse(const cli_inputs *a, const cli_inputs *b, const char *option)
{
    char one[MESSAGE_SIZE / 2], other[MESSAGE_SIZE / 2], message[2 * MESSAGE_SIZE];
    describe(a, one);
    describe(b, other);
    snprintf(message, sizeof message, "%s, and %s: name what to compare in both with %s", one,
             other, option);
    cli_complain(NULL, message);
    return CLI_EXIT_INPUT;
}

static void note(const cli_inputs *a, const cli_inputs *b)
{
    char one[MESSAGE_SIZE / 2], other[MESSAGE_SIZE / 2], message[2 * MESSAGE_SIZE];
    describe(a, one);
    describe(b, other);
    snprintf(message, sizeof message, "different windows are compared: %s, and %s", one, other);
    cli_note(NULL, message);
}

int cli_compared_parts(const cli_options *options, const cli_inputs *const *inputs, u32 count,
                       bool is_gate)
{
    const etlheap_part whole = etlheap_part_whole();
    const cli_inputs *differs = NULL;
    for (u32 i = 1; i < count; i++) {
        const etlheap_part *const a = inputs[0]->clock.part ? inputs[0]->clock.part : &whole;
        const etlheap_part *const b = inputs[i]->clock.part ? inputs[i]->clock.part : &whole;
        if (options->kinds == 0 && a->kinds != b->kinds)
            return refuse(inputs[0], inputs[i], "--kind");
        if (options->processes.count == 0 && !has_same_processes(a, b))
            return refuse(inputs[0], inputs[i], "--process");
        if (!has_same_window(a, b) && !(options->from.given && options->to.given))
            differs = differs ? differs : inputs[i];
    }
    if (differs && is_gate)
        return refuse(inputs[0], differs, "--from and --to");
    if (differs)
        note(inputs[0], differs);
    return CLI_EXIT_DONE;
}
