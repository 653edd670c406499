/*
 * parquet_chunk.c - encodes the values of one column in one row group as pages. parquet_chunk.h has
 * the layout.
 *
 * In: values, one by one. Out: pages in a sink, their sizes, and statistics for the footer.
 *
 *     values ──▶ dictionary smaller than plain?  yes ──▶ dictionary page, data pages of numbers
 *                                                no  ──▶ plain data pages
 *
 * Whether the dictionary pays is known when all values are there: it must be smaller than the plain
 * values before compression, because readers unpack it first. Invariant: pages are cut between
 * rows, never inside a list, so that a reader needs memory for one page at a time.
 */
#include "parquet_chunk.h"

#include "parquet_hybrid.h"

#include <stdlib.h>

#define ZSTD_LEVEL        3  /* columns are packed well before: more costs time alone */
#define STATISTIC_MAX     64 /* bytes of a text that is worth telling */
#define PAGE_DATA         0
#define PAGE_DICTIONARY   2
#define NUMBER_BYTES      8
#define TEXT_LENGTH_BYTES 4
#define LIST_EMPTY        1
#define LIST_VALUE        2
#define LIST_LEVEL_BITS   2

/* Rows of a page, and where its values begin. */
typedef struct page_part {
    u32 row, row_count;
    u32 value, value_count;
    u32 level_count; /* rows, or of lists as parquet_chunk_level_count */
} page_part;

/* The part of a page's lists to spell out. */
typedef enum list_part { LIST_REPEATS, LIST_DEFINED, LIST_ITEMS } list_part;

static bool is_coding_smaller(const parquet_chunk *chunk);
static void write_dictionary(const parquet_chunk *chunk, parquet_pages *pages,
                             parquet_chunk_sizes *sizes);
static void write_data(const parquet_chunk *chunk, const page_part *part, parquet_pages *pages,
                       parquet_chunk_sizes *sizes);
static void write_lists(const parquet_chunk *chunk, const page_part *part, parquet_pages *pages,
                        parquet_chunk_sizes *sizes);
static u32 list_levels(const parquet_chunk *chunk, const page_part *part, list_part what,
                       u32 *numbers);
static void add_levels(u32 count, u32 bits, parquet_pages *pages);
static void cut_page(const parquet_chunk *chunk, page_part *part);
static void add_plain(const parquet_chunk *chunk, const page_part *part, etlheap_text *page);
static void add_booleans(const parquet_chunk *chunk, const page_part *part, etlheap_text *page);
static void add_entry(const parquet_chunk *chunk, u32 entry, etlheap_text *page);
static void write_page(const page_part *part, bool is_dictionary, parquet_pages *pages,
                       parquet_chunk_sizes *sizes);
static bool pack(parquet_pages *pages);
static void add_header(const page_part *part, bool is_dictionary, bool is_coded,
                       parquet_pages *pages);
static bool is_text_less(etl_bytes a, etl_bytes b);
static void put_numbers_range(const parquet_chunk *chunk, parquet_thrift *thrift);
static void put_texts_range(const parquet_chunk *chunk, parquet_thrift *thrift);

bool parquet_chunk_init(parquet_chunk *chunk, const parquet_column *column, u32 row_max)
{
    const bool is_text = column->type == PARQUET_STRING;
    *chunk = (parquet_chunk){
        .column = column,
        .has_dictionary = is_text || (column->repeats && column->type != PARQUET_BOOLEAN),
    };
    if (column->is_optional)
        chunk->present = malloc(row_max * sizeof *chunk->present);
    if (chunk->has_dictionary)
        chunk->entries = malloc(row_max * sizeof *chunk->entries);
    else
        chunk->numbers = malloc(row_max * sizeof *chunk->numbers);
    return (!column->is_optional || chunk->present) && (chunk->entries || chunk->numbers);
}

void parquet_chunk_clear(parquet_chunk *chunk)
{
    chunk->row_count = 0;
    chunk->value_count = 0;
    chunk->text_bytes = 0;
    chunk->item_count = 0;
    parquet_lists_clear(&chunk->lists);
    if (chunk->has_dictionary)
        parquet_dictionary_clear(&chunk->dictionary);
}

void parquet_chunk_free(parquet_chunk *chunk)
{
    free(chunk->present);
    free(chunk->numbers);
    free(chunk->entries);
    parquet_dictionary_free(&chunk->dictionary);
    parquet_lists_free(&chunk->lists);
}

void parquet_chunk_number(parquet_chunk *chunk, u64 value)
{
    assert(chunk->column->type != PARQUET_STRING);
    if (chunk->has_dictionary) {
        parquet_chunk_entry(chunk, parquet_dictionary_number(&chunk->dictionary, value));
        return;
    }
    if (chunk->present)
        chunk->present[chunk->row_count] = 1;
    chunk->row_count++;
    chunk->numbers[chunk->value_count++] = value;
}

void parquet_chunk_null(parquet_chunk *chunk)
{
    assert(chunk->present);
    chunk->present[chunk->row_count++] = 0;
}

u32 parquet_chunk_intern(parquet_chunk *chunk, const char *text, size_t size)
{
    assert(chunk->column->type == PARQUET_STRING);
    return parquet_dictionary_text(&chunk->dictionary, text, size);
}

void parquet_chunk_entry(parquet_chunk *chunk, u32 entry)
{
    if (chunk->present)
        chunk->present[chunk->row_count] = 1;
    chunk->row_count++;
    chunk->entries[chunk->value_count++] = entry;
    if (chunk->column->is_list) {
        const parquet_list *const list =
            entry < chunk->lists.count ? &chunk->lists.at[entry] : &(parquet_list){ 0 };
        chunk->item_count += list->count;
        chunk->text_bytes += list->text_bytes;
    } else if (chunk->column->type == PARQUET_STRING && entry < chunk->dictionary.count)
        chunk->text_bytes +=
            TEXT_LENGTH_BYTES + parquet_dictionary_text_of(&chunk->dictionary, entry).size;
}

void parquet_chunk_item(parquet_chunk *chunk, const char *text, size_t size)
{
    assert(chunk->column->is_list);
    parquet_lists_item(&chunk->lists, parquet_chunk_intern(chunk, text, size),
                       TEXT_LENGTH_BYTES + size);
}

u64 parquet_chunk_level_count(const parquet_chunk *chunk)
{
    u64 count = chunk->row_count;
    for (u32 i = 0; chunk->column->is_list && i < chunk->value_count; i++) {
        const u32 items = chunk->lists.at[chunk->entries[i]].count;
        count += items > 0 ? items - 1 : 0;
    }
    return count;
}

parquet_chunk_sizes parquet_chunk_write(const parquet_chunk *chunk, parquet_pages *pages)
{
    parquet_chunk_sizes sizes = { .offset = pages->offset, .is_coded = is_coding_smaller(chunk) };
    page_part part = { .row = 0 };
    pages->failed |= chunk->dictionary.failed || chunk->lists.failed;
    if (pages->failed)
        return sizes;
    if (sizes.is_coded)
        write_dictionary(chunk, pages, &sizes);
    sizes.data_offset = pages->offset;
    while (part.row < chunk->row_count && !pages->failed) {
        cut_page(chunk, &part);
        write_data(chunk, &part, pages, &sizes);
        part.row += part.row_count;
        part.value += part.value_count;
    }
    sizes.packed_bytes = pages->offset - sizes.offset;
    return sizes;
}

/* Takes as many rows from part->row on as make a page. */
static void cut_page(const parquet_chunk *chunk, page_part *part)
{
    part->row_count = 0;
    part->value_count = 0;
    part->level_count = 0;
    while (part->row + part->row_count < chunk->row_count) {
        const bool is_present = !chunk->present || chunk->present[part->row + part->row_count] != 0;
        u32 levels = 1;
        if (chunk->column->is_list && is_present)
            levels = (u32)etl_max_u64(
                chunk->lists.at[chunk->entries[part->value + part->value_count]].count, 1);
        if (part->level_count + levels > PARQUET_PAGE_ROWS)
            return;
        part->level_count += levels;
        part->value_count += is_present;
        part->row_count++;
    }
}

static bool is_coding_smaller(const parquet_chunk *chunk)
{
    const parquet_dictionary *const dictionary = &chunk->dictionary;
    if (!chunk->has_dictionary || dictionary->count == 0)
        return false;
    const bool is_text = chunk->column->type == PARQUET_STRING;
    const u64 plain = is_text ? chunk->text_bytes : (u64)chunk->value_count * NUMBER_BYTES;
    const u64 entries = (u64)dictionary->count * (is_text ? TEXT_LENGTH_BYTES : NUMBER_BYTES) +
                        dictionary->bytes.size;
    const u64 values = chunk->column->is_list ? chunk->item_count : chunk->value_count;
    const u64 bits = values * parquet_hybrid_width(dictionary->count);
    return entries + bits / 8 < plain;
}

static void write_dictionary(const parquet_chunk *chunk, parquet_pages *pages,
                             parquet_chunk_sizes *sizes)
{
    const page_part part = { .level_count = chunk->dictionary.count };
    etlheap_text_clear(&pages->page);
    for (u32 entry = 0; entry < chunk->dictionary.count; entry++)
        add_entry(chunk, entry, &pages->page);
    write_page(&part, true, pages, sizes);
}

static void write_data(const parquet_chunk *chunk, const page_part *part, parquet_pages *pages,
                       parquet_chunk_sizes *sizes)
{
    etlheap_text *const page = &pages->page;
    etlheap_text_clear(page);
    if (chunk->column->is_list) {
        write_lists(chunk, part, pages, sizes);
        return;
    }
    if (chunk->present) {
        for (u32 i = 0; i < part->row_count; i++)
            pages->numbers[i] = chunk->present[part->row + i];
        add_levels(part->row_count, 1, pages);
    }
    if (sizes->is_coded) {
        const u32 width = parquet_hybrid_width(chunk->dictionary.count);
        const char byte = (char)width;
        etlheap_text_add(page, &byte, 1);
        parquet_hybrid_add(page, chunk->entries + part->value, part->value_count, width);
    } else if (chunk->column->type == PARQUET_BOOLEAN) {
        add_booleans(chunk, part, page);
    } else {
        add_plain(chunk, part, page);
    }
    write_page(part, false, pages, sizes);
}

/* Writes lists: for each value whether it continues a list, then what it is, then the values.
 * Source: README.md of the format, "Nested Encoding". */
static void write_lists(const parquet_chunk *chunk, const page_part *part, parquet_pages *pages,
                        parquet_chunk_sizes *sizes)
{
    etlheap_text *const page = &pages->page;
    add_levels(list_levels(chunk, part, LIST_REPEATS, pages->numbers), 1, pages);
    add_levels(list_levels(chunk, part, LIST_DEFINED, pages->numbers), LIST_LEVEL_BITS, pages);
    const u32 count = list_levels(chunk, part, LIST_ITEMS, pages->numbers);
    if (sizes->is_coded) {
        const u32 width = parquet_hybrid_width(chunk->dictionary.count);
        const char byte = (char)width;
        etlheap_text_add(page, &byte, 1);
        parquet_hybrid_add(page, pages->numbers, count, width);
    } else {
        for (u32 i = 0; i < count; i++)
            add_entry(chunk, pages->numbers[i], page);
    }
    write_page(part, false, pages, sizes);
}

/* Spells the lists of a page out; returns how many numbers that are. */
static u32 list_levels(const parquet_chunk *chunk, const page_part *part, list_part what,
                       u32 *numbers)
{
    u32 count = 0;
    u32 value = part->value;
    for (u32 i = 0; i < part->row_count; i++) {
        const bool is_present = !chunk->present || chunk->present[part->row + i] != 0;
        const parquet_list list =
            is_present ? chunk->lists.at[chunk->entries[value++]] : (parquet_list){ 0 };
        for (u32 k = 0; k < list.count; k++)
            numbers[count++] = what == LIST_REPEATS   ? k > 0
                               : what == LIST_DEFINED ? LIST_VALUE
                                                      : chunk->lists.items[list.start + k];
        if (list.count == 0 && what != LIST_ITEMS)
            numbers[count++] = what == LIST_DEFINED && is_present ? LIST_EMPTY : 0;
    }
    return count;
}

/* The numbers of pages->numbers. Their size comes first and is known last. */
static void add_levels(u32 count, u32 bits, parquet_pages *pages)
{
    static const char unknown[4] = { 0 };
    etlheap_text *const page = &pages->page;
    const size_t start = page->size;
    etlheap_text_add(page, unknown, sizeof unknown);
    parquet_hybrid_add(page, pages->numbers, count, bits);
    if (page->failed)
        return;
    const u32 size = (u32)(page->size - start - sizeof unknown);
    memcpy(page->bytes + start, &size, sizeof size);
}

static void add_plain(const parquet_chunk *chunk, const page_part *part, etlheap_text *page)
{
    if (!chunk->has_dictionary) {
        etlheap_text_add(page, (const char *)(chunk->numbers + part->value),
                         (size_t)part->value_count * NUMBER_BYTES);
        return;
    }
    for (u32 i = 0; i < part->value_count; i++)
        add_entry(chunk, chunk->entries[part->value + i], page);
}

static void add_booleans(const parquet_chunk *chunk, const page_part *part, etlheap_text *page)
{
    for (u32 i = 0; i < part->value_count; i += 8) {
        u32 bits = 0;
        for (u32 k = 0; k < 8 && i + k < part->value_count; k++)
            bits |= (u32)(chunk->numbers[part->value + i + k] != 0) << k;
        const char byte = (char)bits;
        etlheap_text_add(page, &byte, 1);
    }
}

static void add_entry(const parquet_chunk *chunk, u32 entry, etlheap_text *page)
{
    if (chunk->column->type != PARQUET_STRING) {
        etlheap_text_add(page, (const char *)&chunk->dictionary.items[entry], NUMBER_BYTES);
        return;
    }
    const etl_bytes text = parquet_dictionary_text_of(&chunk->dictionary, entry);
    const u32 size = (u32)text.size;
    etlheap_text_add(page, (const char *)&size, sizeof size);
    etlheap_text_add(page, (const char *)text.at, text.size);
}

static void write_page(const page_part *part, bool is_dictionary, parquet_pages *pages,
                       parquet_chunk_sizes *sizes)
{
    pages->failed |= pages->page.failed || pages->page.size > INT32_MAX;
    if (pages->failed || !pack(pages))
        return;
    etlheap_text_clear(&pages->header);
    add_header(part, is_dictionary, sizes->is_coded, pages);
    pages->failed |= pages->header.failed;
    etlheap_sink_write(pages->sink, pages->header.bytes, pages->header.size);
    etlheap_sink_write(pages->sink, pages->packed.bytes, pages->packed.size);
    sizes->plain_bytes += pages->header.size + pages->page.size;
    pages->offset += pages->header.size + pages->packed.size;
}

/* Compresses the page. With room for the worst case, nothing else can fail. */
static bool pack(parquet_pages *pages)
{
    etlheap_text *const packed = &pages->packed;
    const size_t bound = ZSTD_compressBound(pages->page.size);
    if (bound > packed->capacity) {
        char *const bytes = realloc(packed->bytes, bound);
        if (bytes) {
            packed->bytes = bytes;
            packed->capacity = bound;
        }
    }
    const size_t size =
        ZSTD_compressCCtx(pages->zstd, packed->bytes, packed->capacity,
                          etlheap_text_of(&pages->page), pages->page.size, ZSTD_LEVEL);
    pages->failed |= ZSTD_isError(size) != 0;
    packed->size = pages->failed ? 0 : size;
    return !pages->failed;
}

/* PageHeader with a DataPageHeader or a DictionaryPageHeader. */
static void add_header(const page_part *part, bool is_dictionary, bool is_coded,
                       parquet_pages *pages)
{
    parquet_thrift thrift = { .out = &pages->header };
    parquet_thrift_open(&thrift);
    parquet_thrift_i32(&thrift, 1, is_dictionary ? PAGE_DICTIONARY : PAGE_DATA);
    parquet_thrift_i32(&thrift, 2, (i64)pages->page.size);
    parquet_thrift_i32(&thrift, 3, (i64)pages->packed.size);
    parquet_thrift_struct(&thrift, is_dictionary ? 7 : 5);
    parquet_thrift_i32(&thrift, 1, part->level_count);
    if (is_dictionary) {
        parquet_thrift_i32(&thrift, 2, PARQUET_ENCODING_PLAIN);
    } else {
        parquet_thrift_i32(&thrift, 2,
                           is_coded ? PARQUET_ENCODING_RLE_DICTIONARY : PARQUET_ENCODING_PLAIN);
        parquet_thrift_i32(&thrift, 3, PARQUET_ENCODING_RLE);
        parquet_thrift_i32(&thrift, 4, PARQUET_ENCODING_RLE);
    }
    parquet_thrift_close(&thrift);
    parquet_thrift_close(&thrift);
}

/* Adds Statistics: null_count, max_value and min_value. The order of the older min and max was
 * never defined. */
void parquet_chunk_statistics(const parquet_chunk *chunk, u32 field, parquet_thrift *thrift)
{
    parquet_thrift_struct(thrift, field);
    parquet_thrift_i64(thrift, 3, (i64)chunk->row_count - chunk->value_count);
    if (chunk->value_count > 0 && chunk->column->type == PARQUET_STRING)
        put_texts_range(chunk, thrift);
    else if (chunk->value_count > 0)
        put_numbers_range(chunk, thrift);
    parquet_thrift_close(thrift);
}

/* Adds the range in the order of the column's type: flipping the sign bit makes it unsigned. */
static void put_numbers_range(const parquet_chunk *chunk, parquet_thrift *thrift)
{
    const parquet_type type = (parquet_type)chunk->column->type;
    const u64 flip = type == PARQUET_INT64 || type == PARQUET_TIMESTAMP ? (u64)1 << 63 : 0;
    const u64 *const values = chunk->has_dictionary ? chunk->dictionary.items : chunk->numbers;
    const u32 count = chunk->has_dictionary ? chunk->dictionary.count : chunk->value_count;
    const size_t size = type == PARQUET_BOOLEAN ? 1 : NUMBER_BYTES;
    u64 least = UINT64_MAX, most = 0;
    for (u32 i = 0; i < count; i++) {
        least = etl_min_u64(least, values[i] ^ flip);
        most = etl_max_u64(most, values[i] ^ flip);
    }
    least ^= flip;
    most ^= flip;
    parquet_thrift_bytes(thrift, 5, (const char *)&most, size);
    parquet_thrift_bytes(thrift, 6, (const char *)&least, size);
}

static void put_texts_range(const parquet_chunk *chunk, parquet_thrift *thrift)
{
    etl_bytes least = parquet_dictionary_text_of(&chunk->dictionary, 0), most = least;
    for (u32 entry = 1; entry < chunk->dictionary.count; entry++) {
        const etl_bytes text = parquet_dictionary_text_of(&chunk->dictionary, entry);
        if (is_text_less(text, least))
            least = text;
        if (is_text_less(most, text))
            most = text;
    }
    if (least.size > STATISTIC_MAX || most.size > STATISTIC_MAX)
        return;
    parquet_thrift_bytes(thrift, 5, (const char *)most.at, most.size);
    parquet_thrift_bytes(thrift, 6, (const char *)least.at, least.size);
}

/* By unsigned bytes. */
static bool is_text_less(etl_bytes a, etl_bytes b)
{
    const size_t common = a.size < b.size ? a.size : b.size;
    const int order = common == 0 ? 0 : memcmp(a.at, b.at, common);
    return order < 0 || (order == 0 && a.size < b.size);
}

u32 parquet_physical_type(parquet_type type)
{
    static const u8 physical[] = {
#define PARQUET_PHYSICAL(name, physical_type, converted) physical_type,
        PARQUET_TYPES(PARQUET_PHYSICAL)
#undef PARQUET_PHYSICAL
    };
    assert((u32)type < PARQUET_TYPE_COUNT);
    return physical[type];
}
