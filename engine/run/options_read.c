/*
 * options_read.c - reads the caller's options and questions once, by their sizes, and checks them.
 * Everything after it works on its own copies.
 */
#include "options_read.h"

#include "engine/query/needs.h"
#include "engine/query/query.h"
#include "parser/sized.h"

/* A question and copies of what it points to. */
typedef struct question_read {
    etlheap_question question;
    etlheap_query query;
    etlheap_windows_options windows;
} question_read;

static etl_status read_question(const etlheap_options *options, u32 at, question_read *out,
                                etl_error *err)
{
    *out = (question_read){ .question = { .size = sizeof out->question },
                            .windows = { .size = sizeof out->windows } };
    etl_status status = etl_read_sized_at(options->questions, at, "etlheap_question",
                                          &out->question, sizeof out->question, err);
    if (status == ETL_OK && (u32)out->question.kind >= ETLHEAP_ASK_COUNT)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "unknown kind of question");
    if (status == ETL_OK)
        status = query_read(out->question.query, &out->query, err);
    if (status == ETL_OK)
        status = etl_read_sized(out->question.windows, "etlheap_windows_options", &out->windows,
                                sizeof out->windows, err);
    return status;
}

static etl_status read_questions(options_read *out, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = out->own.question_count; status == ETL_OK && i-- > 0;) {
        question_read one;
        status = read_question(&out->own, i, &one, err);
        out->question = one.question;
        out->query = one.query;
        out->windows = one.windows;
        out->kinds |= status == ETL_OK ? (u32)1 << one.question.kind : 0;
        out->needs |= status == ETL_OK ? needs_of_question(&one.question, &one.query) : 0;
    }
    out->own.named_kinds |= (out->needs & NEEDS_NAMED_KINDS) != 0;
    out->question.query = &out->query;
    out->question.windows = &out->windows;
    return status;
}

etl_status options_read_all(const etlheap_options *given, options_read *out, etl_error *err)
{
    etlheap_options *const own = &out->own;
    *out = (options_read){ .own = { .size = sizeof *own } };
    etl_status status = etl_read_sized(given, "etlheap_options", own, sizeof *own, err);
    if (status == ETL_OK)
        status = read_questions(out, err);
    if (status == ETL_OK)
        status = etl_read_sized(own->store, "etlheap_store_options", &out->store, sizeof out->store,
                                err);
    if (status != ETL_OK)
        return status;
    own->store = own->store == NULL ? NULL : &out->store;
    out->part = etlheap_part_whole();
    status = etl_read_sized(out->store.part, "etlheap_part", &out->part, sizeof out->part, err);
    if (status != ETL_OK)
        return status;
    if (out->store.part != NULL)
        out->store.part = &out->part;
    own->named_kinds |= own->store != NULL || own->inventory_only;
    if (own->store != NULL && own->store->write == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "a store takes a function to write it");
    if (own->store != NULL && (own->inventory_only || own->question_count > 0))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "a store is written in place of an inventory or of answers");
    return ETL_OK;
}
