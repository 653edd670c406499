/*
 * root_words.c - splits the words FROM=TO of source roots.
 *
 * In: words of the option. Out: an array of roots that writers take (formats/parts/source_roots.c).
 */
#include "root_words.h"

#include <stdlib.h>

etl_status cli_roots_parse(const cli_options *options, cli_roots *out, etl_error *err)
{
    const cli_words *const words = &options->source_roots;
    size_t size = 1;
    for (u32 i = 0; i < words->count; i++)
        size += strlen(words->at[i]) + 1;
    *out = (cli_roots){ .at = calloc((size_t)words->count + 1, sizeof *out->at),
                        .text = malloc(size) };
    if (!out->at || !out->text)
        return etl_no_memory(err);
    char *text = out->text;
    for (u32 i = 0; i < words->count; i++) {
        const size_t word_size = strlen(words->at[i]) + 1;
        memcpy(text, words->at[i], word_size);
        char *const equals = strchr(text, '=');
        if (!equals || equals == text)
            return etl_fail_with(
                err, ETL_ERR_ARGUMENT, 0,
                "--source-root: invalid value '%.60s': expected FROM=TO, the folder of the build "
                "and that of the repository, such as D:\\a\\app\\app=.",
                words->at[i]);
        *equals = '\0';
        out->at[i] = (etlheap_source_root){ .from = text, .to = equals + 1 };
        text += word_size;
    }
    out->roots = (etlheap_source_roots){ out->at, words->count };
    return ETL_OK;
}

void cli_roots_free(cli_roots *roots)
{
    free(roots->at);
    free(roots->text);
    *roots = (cli_roots){ .at = NULL };
}
