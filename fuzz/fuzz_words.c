/*
 * fuzz_words.c - short texts that people write: values of options, a list of frames to
 * cull, a symbol path, a pointer file of a symbol store. The first byte says which.
 * What is taken keeps what its header promises.
 */
#include <stdlib.h>

#include "cli/options/cull_list.h"
#include "cli/options/nearest.h"
#include "cli/options/parse_values.h"
#include "engine/symbol_store/symbol_elements.h"
#include "engine/symbol_store/symbol_store.h"
#include "fuzz.h"
#include "parser/system/name_fold.h"

#define TEXT_BYTES_MAX 4096

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_times(const char *text)
{
    cli_time from, to;
    i64 min_ns = 1, max_ns = 0, ns;
    bool empty;
    if (cli_parse_time(text, &from))
        (void)cli_time_resolve(&from, 132000000000000000, &ns);
    if (cli_parse_time_range(text, &from, &to))
        require(from.given || to.given);
    if (cli_parse_duration(text, &ns))
        require(ns >= 0);
    if (cli_parse_duration_range(text, &min_ns, &max_ns, &empty))
        require(min_ns <= max_ns);
}

static void read_numbers(const char *text)
{
    u64 min_bytes, max_bytes, value;
    bool empty;
    (void)cli_parse_size(text, &value);
    if (cli_parse_count(text, 1000, &value))
        require(value <= 1000);
    (void)cli_parse_handle(text, &value);
    if (cli_parse_size_range(text, &min_bytes, &max_bytes, &empty))
        require(min_bytes <= max_bytes);
}

static void read_words(const char *text)
{
    char word[CLI_WORD_SIZE];
    const char *list = text;
    while (cli_next_word(&list, word))
        require(word[0] != '\0' && strlen(word) < CLI_WORD_SIZE && strchr(word, ',') == NULL);
    require(list >= text && list <= text + strlen(text));
    require(etl_name_glob("*", text));
    (void)etl_name_glob(text, text);
    etl_custom_allocator allocator;
    u64 heap;
    if (etl_custom_parse(text, &allocator, NULL) == ETL_OK)
        require(memchr(allocator.name, '\0', sizeof allocator.name) != NULL);
    (void)etlheap_heap_of_name(text, &heap);
    (void)etl_name_glob(text, "kernel32.dll");
    require(cli_edit_distance(text, text) == 0 || strlen(text) > CLI_WORD_SIZE / 2);
}

static void read_cull_list(const u8 *data, size_t size)
{
    cli_patterns patterns = { .at = NULL };
    etl_error err = { .status = ETL_OK };
    const etl_status status = cli_patterns_add_file(&patterns, fuzz_file(data, size), &err);
    require(status == ETL_OK || err.message[0] != '\0');
    for (u32 i = 0; i < patterns.count; i++)
        require(patterns.at[i].module != NULL || patterns.at[i].symbol != NULL);
    cli_patterns_free(&patterns);
}

static void read_symbol_path(const char *text)
{
    symbol_elements elements = { .list = { .at = NULL } };
    etl_error err = { .status = ETL_OK };
    const etl_status status = symbol_elements_parse(&elements, text, &err);
    require(status == ETL_OK || err.message[0] != '\0');
    for (size_t i = 0; status == ETL_OK && i < elements.list.count; i++) {
        const symbol_element *const element = &elements.list.at[i];
        require(element->store_count >= 1 && element->store_count <= SYMBOL_CHAIN_STORES_MAX);
        for (u32 s = 0; s < element->store_count; s++)
            require(element->stores[s].text != NULL ||
                    element->stores[s].place == SYMBOL_PLACE_DEFAULT);
    }
    symbol_elements_free(&elements);
}

static void read_pointer(const u8 *data, size_t size)
{
    char place[SYMBOL_FILE_SIZE] = "";
    if (symbol_pointer_parse((etl_bytes){ data, size }, place) == SYMBOL_POINTER_PLACE)
        require(place[0] != '\0' && strlen(place) < sizeof place);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    char text[TEXT_BYTES_MAX];
    if (size < 1 || size > sizeof text)
        return 0;
    const u8 what = data[0];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    switch (what % 6) {
    case 0:
        read_times(text);
        break;
    case 1:
        read_numbers(text);
        break;
    case 2:
        read_words(text);
        break;
    case 3:
        read_cull_list(data + 1, size - 1);
        break;
    case 4:
        read_symbol_path(text);
        break;
    default:
        read_pointer(data + 1, size - 1);
        break;
    }
    return 0;
}
