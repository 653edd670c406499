/* completion_words.c - what the completion scripts of all shells have in common. */
#include "completion.h"

#include "choices.h"

cli_follows cli_follows_of(const cli_option *option)
{
    const cli_value value = (cli_value)option->value;
    if (value == CLI_VALUE_FLAG)
        return CLI_FOLLOWS_NOTHING;
    if (cli_value_choice(value, 0)) {
        const bool is_list = value == CLI_VALUE_KINDS || value == CLI_VALUE_TYPES ||
                             value == CLI_VALUE_IMPACTING || value == CLI_VALUE_KEYS ||
                             value == CLI_VALUE_COLUMNS;
        return is_list ? CLI_FOLLOWS_LIST : CLI_FOLLOWS_WORD;
    }
    if (strcmp(option->placeholder, "FILE") == 0)
        return CLI_FOLLOWS_FILE;
    return strcmp(option->placeholder, "PATH") == 0 || strcmp(option->placeholder, "DIR") == 0
               ? CLI_FOLLOWS_FOLDER
               : CLI_FOLLOWS_TEXT;
}

const char *cli_completion_word(const cli_command *command, const cli_option *option, u32 *index)
{
    for (;;) {
        const char *const word = cli_value_choice((cli_value)option->value, *index);
        *index += 1;
        if (!word || cli_choice_fits((cli_value)option->value, *index - 1, command->bit))
            return word;
    }
}

void cli_completion_words(const cli_command *command, const cli_option *option, etlheap_sink *sink)
{
    u32 index = 0;
    const char *word = cli_completion_word(command, option, &index);
    for (bool first = true; word; first = false) {
        etlheap_sink_text(sink, first ? "" : " ");
        etlheap_sink_text(sink, word);
        word = cli_completion_word(command, option, &index);
    }
}

void cli_completion_commands(const cli_command_list *commands, etlheap_sink *sink)
{
    for (size_t i = 0; i < commands->count; i++)
        etlheap_sink_format(sink, "%s%s", i > 0 ? " " : "", commands->at[i].name);
}

void cli_completion_quote(const char *text, const char *quote, etlheap_sink *sink)
{
    etlheap_sink_text(sink, "'");
    for (; *text; text++) {
        if (*text == '\'')
            etlheap_sink_text(sink, quote);
        else
            etlheap_sink_write(sink, *text == '\n' ? " " : text, 1);
    }
    etlheap_sink_text(sink, "'");
}
