/*
 * keys.c - the table of grouping keys, and the values that rows have for them; see keys.h.
 *
 * In: a key, a row of a table. Out: what the key reads and needs, and its value.
 *
 * A new key is a row here, and nothing else, if the table has a member for its value. Everyone who
 * groups, compares or writes rows asks for what a key reads or for the form of its value.
 * Invariant: what two blocks differ in decides their group only if a key of the query reads it.
 */
#include "keys.h"
#include "needs.h"
#include "query.h"

#define FREE_STACKS       (NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_STACKS)
#define NO_STACK          "[no stack recorded]"
#define TYPES_ARE_COLUMNS "types are columns of windows, not keys to group by"

#define MEMBER(name) offsetof(etlheap_row, name)

static const key_row rows[ETLHEAP_KEY_COUNT] = {
    [ETLHEAP_KEY_KIND] = { KEY_READS_KIND, ETLHEAP_FORM_KIND, .of_unmatched = true,
                           .number = MEMBER(kind) },
    [ETLHEAP_KEY_PROCESS] = { KEY_READS_PROCESS, ETLHEAP_FORM_PROCESS, .of_unmatched = true,
                              .number = MEMBER(pid), .text = MEMBER(process),
                              .detail = ETLHEAP_FIELD_PID },
    [ETLHEAP_KEY_HEAP] = { KEY_READS_HEAP, ETLHEAP_FORM_HEAP, .of_unmatched = true,
                           .number = MEMBER(heap_handle), .text = MEMBER(heap_name),
                           .lacks = LACKS_HEAPS },
    [ETLHEAP_KEY_TYPE] = { KEY_READS_TYPE, ETLHEAP_FORM_TYPE, .number = MEMBER(type),
                           .detail = ETLHEAP_FIELD_IMPACTING_TYPE,
                           .not_in_windows = TYPES_ARE_COLUMNS },
    [ETLHEAP_KEY_FREE_TYPE] = { KEY_READS_FREE_TYPE, ETLHEAP_FORM_TYPE, .number = MEMBER(free_type),
                                .needs = NEEDS_BLOCKS, .lacks = LACKS_FREE_TYPES,
                                .not_in_windows =
                                    "windows cannot be grouped by how lifetimes end" },
    [ETLHEAP_KEY_STACK] = { KEY_READS_STACK, ETLHEAP_FORM_STACK, .number = MEMBER(stack),
                            .missing = NO_STACK },
    [ETLHEAP_KEY_FRAME] = { KEY_READS_FRAME, ETLHEAP_FORM_FRAME, .number = MEMBER(frame),
                            .missing = NO_STACK },
    [ETLHEAP_KEY_SITE] = { KEY_READS_FRAME, ETLHEAP_FORM_FRAME, .number = MEMBER(frame),
                           .missing = NO_STACK },
    [ETLHEAP_KEY_MODULE] = { KEY_READS_MODULE, ETLHEAP_FORM_NAME, .text = MEMBER(module),
                             .missing = "[no module]" },
    [ETLHEAP_KEY_THREAD] = { KEY_READS_THREAD, ETLHEAP_FORM_THREAD, .number = MEMBER(thread),
                             .text = MEMBER(thread_name), .needs = NEEDS_BLOCKS | NEEDS_THREADS,
                             .lacks = LACKS_THREADS, .missing = "[unknown thread]" },
    [ETLHEAP_KEY_SIZE_CLASS] = { KEY_READS_SIZE, ETLHEAP_FORM_SIZE,
                                 .number = MEMBER(size_class_bytes),
                                 .needs = NEEDS_BLOCKS | NEEDS_SIZES, .lacks = LACKS_SIZES },
    [ETLHEAP_KEY_TYPE_NAME] = { KEY_READS_TYPE_NAME, ETLHEAP_FORM_TYPE_NAME,
                                .text = MEMBER(type_name) },
    [ETLHEAP_KEY_TAG] = { KEY_READS_TAG, ETLHEAP_FORM_NAME, .text = MEMBER(tag),
                          .missing = NO_STACK },
    [ETLHEAP_KEY_GENERATION] = { KEY_READS_GENERATION, ETLHEAP_FORM_GENERATION,
                                 .number = MEMBER(generation), .text = MEMBER(mark),
                                 .detail = ETLHEAP_FIELD_MARK, .needs = NEEDS_BLOCKS,
                                 .lacks = LACKS_MARKS },
    [ETLHEAP_KEY_THREAD_NAME] = { KEY_READS_THREAD_NAME, ETLHEAP_FORM_NAME,
                                  .text = MEMBER(thread_name),
                                  .needs = NEEDS_BLOCKS | NEEDS_THREADS, .lacks = LACKS_THREADS,
                                  .missing = "[no name]" },
    [ETLHEAP_KEY_FREE_STACK] = { KEY_READS_FREER, ETLHEAP_FORM_STACK, .of_unmatched = true,
                                 .number = MEMBER(free_stack), .needs = FREE_STACKS,
                                 .lacks = LACKS_FREES },
    [ETLHEAP_KEY_FREE_SITE] = { KEY_READS_FREER, ETLHEAP_FORM_FRAME, .of_unmatched = true,
                                .number = MEMBER(free_frame), .needs = FREE_STACKS,
                                .lacks = LACKS_FREES },
    [ETLHEAP_KEY_FREE_MODULE] = { KEY_READS_FREER, ETLHEAP_FORM_NAME, .of_unmatched = true,
                                  .text = MEMBER(free_module), .needs = FREE_STACKS,
                                  .lacks = LACKS_FREES },
    [ETLHEAP_KEY_FREE_THREAD] = { KEY_READS_FREE_THREAD, ETLHEAP_FORM_THREAD, .of_unmatched = true,
                                  .number = MEMBER(free_thread),
                                  .needs = NEEDS_BLOCKS | NEEDS_FREES | NEEDS_FREE_THREADS,
                                  .lacks = LACKS_FREES },
    [ETLHEAP_KEY_IMPACTING_STACK] = { KEY_READS_IMPACT, ETLHEAP_FORM_STACK, .number = MEMBER(stack),
                                      .needs = FREE_STACKS, .lacks = LACKS_FREES,
                                      .missing = NO_STACK,
                                      .not_in_windows =
                                          "windows cannot be grouped by impacting_stack: a block "
                                          "has another one in each window" },
    /* The row's type stands for all types of its group: keys_set_types. */
    [ETLHEAP_KEY_IMPACTING_TYPE] = { KEY_READS_TYPE, ETLHEAP_FORM_TYPE, .number = MEMBER(type),
                                     .needs = NEEDS_BLOCKS, .not_in_windows = TYPES_ARE_COLUMNS },
    [ETLHEAP_KEY_SOURCE_LINE] = { KEY_READS_SOURCE_LINE, ETLHEAP_FORM_NAME,
                                  .text = MEMBER(source_line), .missing = "[no source line]" },
    [ETLHEAP_KEY_FUNCTION] = { KEY_READS_FUNCTION, ETLHEAP_FORM_FRAME, .number = MEMBER(frame),
                               .missing = NO_STACK,
                               .not_in_windows = "windows cannot be grouped by function: a block "
                                                 "would count in several rows" },
    [ETLHEAP_KEY_POOL_TAG] = { KEY_READS_POOL_TAG, ETLHEAP_FORM_NAME, .of_unmatched = true,
                               .text = MEMBER(pool_tag), .holds_text = true,
                               .detail = ETLHEAP_FIELD_POOL_TAG_DESCRIPTION,
                               .lacks = LACKS_POOL_TAGS, .missing = "[no pool tag]" },
    [ETLHEAP_KEY_OBJECT_TYPE] = { KEY_READS_OBJECT_TYPE, ETLHEAP_FORM_NAME,
                                  .text = MEMBER(object_type), .lacks = LACKS_OBJECT_TYPES,
                                  .missing = "[no object type]" },
};

const key_row *key_row_of(etlheap_key key)
{
    assert((u32)key < ETLHEAP_KEY_COUNT);
    return &rows[key];
}

etlheap_key_form etlheap_key_form_of(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT ? (etlheap_key_form)rows[key].form : ETLHEAP_FORM_NAME;
}

etlheap_field etlheap_key_detail(etlheap_key key)
{
    const bool has_one = (u32)key < ETLHEAP_KEY_COUNT && rows[key].detail != 0;
    return has_one ? (etlheap_field)rows[key].detail : ETLHEAP_FIELDS_COUNT;
}

bool etlheap_key_is_of_free(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT && (rows[key].needs & NEEDS_FREES) != 0;
}

bool etlheap_key_needs_free_stacks(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT && (rows[key].needs & NEEDS_FREE_STACKS) != 0;
}

bool etlheap_key_is_stack(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT &&
           (rows[key].reads == KEY_READS_STACK || rows[key].reads == KEY_READS_IMPACT);
}

bool etlheap_diff_compares_key(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT && rows[key].reads < KEY_READS_COMPARED;
}

bool etlheap_windows_group_by(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT && rows[key].not_in_windows == NULL;
}

u32 keys_read(const etlheap_query *query)
{
    u32 reads = 0;
    for (u32 i = 0; i < query->group_by_count; i++)
        reads |= 1u << rows[query->group_by[i]].reads;
    return reads;
}

void keys_set_types(const etlheap_query *query, u8 types[ETLHEAP_TYPE_COUNT])
{
    const bool by_impact = query_groups_by(query, ETLHEAP_KEY_IMPACTING_TYPE);
    const bool by_type = query_groups_by(query, ETLHEAP_KEY_TYPE);
    for (u8 type = 0; type < ETLHEAP_TYPE_COUNT; type++)
        types[type] = by_type || by_impact ? type : 0;
    if (by_impact) /* both change the outstanding size */
        types[ETLHEAP_TYPE_AOFI] = ETLHEAP_TYPE_AIFO;
}

/* Beside its functions, no row has the frames of one stack. */
static bool is_of_frames(etlheap_key key)
{
    return etlheap_key_is_stack(key) ||
           ((u32)key < ETLHEAP_KEY_COUNT &&
            (rows[key].reads == KEY_READS_FRAME || rows[key].reads == KEY_READS_SOURCE_LINE));
}

static bool is_function(etlheap_key key)
{
    return (u32)key < ETLHEAP_KEY_COUNT && rows[key].reads == KEY_READS_FUNCTION;
}

bool etlheap_keys_exclude(etlheap_key a, etlheap_key b)
{
    return (is_function(a) && is_of_frames(b)) || (is_function(b) && is_of_frames(a)) ||
           (etlheap_key_is_stack(a) && etlheap_key_is_stack(b)) ||
           etlheap_key_detail(a) == etlheap_key_field(b) ||
           etlheap_key_detail(b) == etlheap_key_field(a);
}

etl_status keys_refuse(const etlheap_query *query, etl_error *err)
{
    for (u32 i = 1; i < query->group_by_count; i++) {
        for (u32 k = 0; k < i; k++) {
            const etlheap_key a = query->group_by[k], b = query->group_by[i];
            if (a != b && etlheap_keys_exclude(a, b))
                return etl_fail_with(
                    err, ETL_ERR_ARGUMENT, 0, "rows are grouped by %s or by %s, not by both",
                    etlheap_key_word(a < b ? a : b), etlheap_key_word(a < b ? b : a));
        }
    }
    return ETL_OK;
}

/* Says why a row has no freer. */
static const char *without_freer(const etlheap_row *row, etlheap_key key)
{
    const i64 left = row->measures[ETLHEAP_MEASURE_OUTSTANDING_COUNT];
    const bool is_thread = key == ETLHEAP_KEY_FREE_THREAD;
    if (left == row->measures[ETLHEAP_MEASURE_COUNT])
        return "[not freed]";
    if (left == 0)
        return is_thread ? "[no thread known]" : NO_STACK;
    return is_thread ? "[not freed, or by no known thread]" : "[not freed, or no stack recorded]";
}

/* The word of a key of a list. */
static const char *word_of(const etlheap_row *row, etlheap_key key)
{
    if (key == ETLHEAP_KEY_KIND)
        return etlheap_kind_name((etlheap_kind)row->kind);
    if (key == ETLHEAP_KEY_IMPACTING_TYPE)
        return etlheap_impacting_type_name((etlheap_type)row->type);
    return key == ETLHEAP_KEY_TYPE ? etlheap_type_name((etlheap_type)row->type)
                                   : etlheap_free_type_name((etlheap_free_type)row->free_type);
}

/* The number that the key's row names, as wide as its form says; 0: it has none. */
static u64 number_of(const etlheap_row *row, const key_row *key)
{
    const char *const at = (const char *)row + key->number;
    u64 wide;
    u32 narrow;
    switch (key->form) {
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_TYPE:
        return (u8)*at;
    case ETLHEAP_FORM_HEAP:
    case ETLHEAP_FORM_SIZE:
        memcpy(&wide, at, sizeof wide);
        return wide;
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        return 0;
    default:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
}

static const char *text_of(const etlheap_row *row, const key_row *key)
{
    const char *const at = (const char *)row + key->text;
    const char *text = NULL;
    if (key->holds_text)
        return *at == '\0' ? NULL : at;
    if (key->text != 0)
        memcpy(&text, at, sizeof text);
    return text;
}

static int compare_texts(const char *a, const char *b)
{
    if (a == b)
        return 0;
    return a != NULL && b != NULL ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* Sorting calls it for millions of rows, so it reads nothing but what decides. */
int etlheap_row_compare_key(const etlheap_row *a, const etlheap_row *b, etlheap_key key)
{
    const key_row *const own = key_row_of(key);
    const u64 x = number_of(a, own), y = number_of(b, own);
    if (own->form == ETLHEAP_FORM_HEAP && a->has_heap != b->has_heap)
        return a->has_heap ? 1 : -1;
    if (x != y)
        return x < y ? -1 : 1;
    const bool has_text = own->form == ETLHEAP_FORM_PROCESS || own->form == ETLHEAP_FORM_NAME ||
                          own->form == ETLHEAP_FORM_TYPE_NAME;
    return has_text ? compare_texts(text_of(a, own), text_of(b, own)) : 0;
}

etlheap_key_value etlheap_row_value(const etlheap_row *row, etlheap_key key)
{
    static_assert(ETLHEAP_NO_INDEX == UINT32_MAX && ETL_NO_ID == UINT32_MAX, "one value for none");
    const key_row *const own = key_row_of(key);
    etlheap_key_value value = { .form = (etlheap_key_form)own->form,
                                .is_known = true,
                                .number = number_of(row, own),
                                .text = text_of(row, own) };
    switch (value.form) {
    case ETLHEAP_FORM_KIND:
    case ETLHEAP_FORM_TYPE:
        value.text = word_of(row, key);
        break;
    case ETLHEAP_FORM_HEAP:
        value.is_known = row->has_heap;
        break;
    case ETLHEAP_FORM_STACK:
    case ETLHEAP_FORM_FRAME:
    case ETLHEAP_FORM_THREAD:
        value.is_known = value.number != UINT32_MAX;
        break;
    case ETLHEAP_FORM_NAME:
    case ETLHEAP_FORM_TYPE_NAME:
        value.is_known = value.text != NULL;
        break;
    default:
        break;
    }
    value.missing = own->missing != NULL          ? own->missing
                    : etlheap_key_is_of_free(key) ? without_freer(row, key)
                                                  : "";
    value.detail = key == ETLHEAP_KEY_POOL_TAG ? row->pool_tag_description : NULL;
    return value;
}
