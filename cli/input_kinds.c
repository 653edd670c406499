/* input_kinds.c - see input_kinds.h. */
#include "input_kinds.h"

#include "cli/options/word_list.h"
#include "formats/formats.h"
#include "parser/system/files.h"

/* A shell names the pipes of its commands by their descriptors. Any other pipe may have no writer,
 * and would be waited for without end. */
static bool is_pipe(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    for (size_t i = 0; i < ETL_COUNT_OF(folders); i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return etl_path_kind_of(path) == ETL_PATH_OTHER;
    }
    return cli_is_stdin(path);
}

static bool is_absent(const char *path)
{
    return etl_path_kind_of(path) == ETL_PATH_ABSENT;
}

static bool is_store(const char *path)
{
    u8 bytes[8];
    return etlheap_is_store((etl_bytes){ bytes, etl_file_start(path, bytes, sizeof bytes) });
}

/* The first row that recognises the input says what it is. */
static const struct {
    cli_input_kind kind;
    bool (*recognise)(const char *path);
} kinds[] = {
    { CLI_INPUT_PIPE, is_pipe },
    { CLI_INPUT_ABSENT, is_absent },
    { CLI_INPUT_STORE, is_store },
    { CLI_INPUT_PACKED, etlheap_is_packed },
    { CLI_INPUT_LOG, etlheap_umdh_recognise },
    { CLI_INPUT_COMPARISON, etlheap_umdh_recognise_comparison },
};

cli_input_kind cli_input_kind_of(const char *path)
{
    for (size_t i = 0; i < ETL_COUNT_OF(kinds); i++) {
        if (kinds[i].recognise(path))
            return kinds[i].kind;
    }
    return CLI_INPUT_TRACE;
}

bool cli_input_is_unpacked(cli_input_kind kind)
{
    return kind == CLI_INPUT_PIPE || kind == CLI_INPUT_PACKED;
}
