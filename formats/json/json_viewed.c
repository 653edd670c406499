/* json_viewed.c - the inputs of `etlheap view` as JSON; see viewed.h. */
#include "formats/parts/shell_words.h"
#include "json.h"

static const char *const state_words[] = {
#define STATE_WORD(name, word) word,
    ETLHEAP_VIEWED_STATES(STATE_WORD)
#undef STATE_WORD
};

static const char *const names_words[] = {
#define NAMES_WORD(name, word) word,
    ETLHEAP_VIEWED_NAMES(NAMES_WORD)
#undef NAMES_WORD
};

static void write_words(etlheap_json *json, const char *key, const etlheap_viewed_words *words)
{
    etlheap_json_array(json, key);
    for (u32 i = 0; i < words->count; i++)
        etlheap_json_string(json, NULL, words->at[i]);
    etlheap_json_array_close(json);
}

static void write_input(etlheap_json *json, const etlheap_viewed_input *input, u32 number)
{
    etlheap_json_object(json, NULL);
    etlheap_json_u64(json, "number", number);
    etlheap_json_string(json, "name", input->name);
    write_words(json, "words", &input->words);
    etlheap_json_string(json, "state", state_words[input->state]);
    etlheap_json_u64(json, "done_bytes", input->done_bytes);
    etlheap_json_u64(json, "total_bytes", input->total_bytes);
    etlheap_json_string(json, "message", input->message);
    etlheap_json_string(json, "symbols", names_words[input->names]);
    etlheap_json_object_close(json);
}

void etlheap_viewed_write(const etlheap_viewed *viewed, etlheap_sink *sink)
{
    etlheap_json json = etlheap_json_begin(sink, 3);
    etlheap_json_object(&json, NULL);
    etlheap_json_string(&json, "schema", "etlheap-view-1");
    etlheap_json_string(&json, "version", ETLHEAP_VERSION);
    etlheap_json_string(&json, "shell", etlheap_shell_name(etlheap_shell_here()));
    etlheap_json_array(&json, "inputs");
    for (u32 i = 0; i < viewed->input_count; i++)
        write_input(&json, &viewed->inputs[i], i + 1);
    etlheap_json_array_close(&json);
    etlheap_json_object(&json, "command_words");
    for (u32 i = 0; i < viewed->command_count; i++)
        write_words(&json, viewed->commands[i].name, &viewed->commands[i].words);
    etlheap_json_object_close(&json);
    write_words(&json, "source_roots", &viewed->source_roots);
    etlheap_json_object_close(&json);
    etlheap_json_end(&json);
}
