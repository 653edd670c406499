/* anonymise_parts.c - texts and blocks, for the files that rewrite columns; see
 * anonymise_inside.h. */
#include "anonymise_inside.h"

const char *anonymise_text(const anonymiser *a, u64 number, etl_status *status)
{
    if (number == 0)
        return "";
    if (number <= a->loader.text_count)
        return a->loader.texts[number - 1];
    *status =
        etl_fail_with(a->err, ETL_ERR_CORRUPT, 0, "a column names a text that does not exist");
    return NULL;
}

bool anonymise_add(anonymiser *a, const char *word, u64 *number)
{
    u32 id;
    const bool ok = etlheap_strings_add(&a->saver.strings, word, strlen(word), &id);
    *number = id;
    return ok;
}

etl_status anonymise_put(anonymiser *a)
{
    const etl_status status = ehs_writer_put(&a->writer, &a->saver.blocks);
    ehs_blocks_clear(&a->saver.blocks);
    return status;
}
