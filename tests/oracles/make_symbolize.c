/*
 * make_symbolize.c - prints what the PDB reader says of addresses, for other
 * programs to compare with.
 *
 *     make_symbolize PDB info             GUID, age, machine
 *     make_symbolize PDB publics          address and name of each public symbol
 *     make_symbolize PDB < ADDRESSES
 *
 * Addresses are hexadecimal RVAs, one a line, ascending. Each gives a block of
 * lines that ends with an empty one:
 *
 *     0x1234 procedure 0x1200 64         address, kind, start and size of the symbol
 *     new Foo                            the allocated type, if there is one
 *     at NAME<tab>FILE<tab>LINE          each call, innermost first
 */
#include <stdio.h>
#include <stdlib.h>

#include "parser/base.h"
#include "parser/symbols.h"

/* What is printed of one address. */
typedef struct answer {
    char *text;
    size_t size;
} answer;

static const char *const kind_names[] = { "none", "procedure", "thunk", "public" };

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "make_symbolize: %s: %s\n", what, why);
    return 1;
}

static u32 *read_addresses(size_t *count)
{
    size_t capacity = 1024;
    u32 *rvas = malloc(capacity * sizeof *rvas);
    char line[64];
    *count = 0;
    while (rvas && fgets(line, sizeof line, stdin)) {
        if (*count == capacity) {
            u32 *const grown = realloc(rvas, capacity * 2 * sizeof *rvas);
            if (!grown)
                break;
            rvas = grown;
            capacity *= 2;
        }
        rvas[(*count)++] = (u32)strtoul(line, NULL, 16);
    }
    return rvas;
}

static void print_frame(FILE *out, const etl_pdb_frame *frame)
{
    fprintf(out, "at %.*s\t%.*s\t%u\n", (int)frame->name.size, (const char *)frame->name.at,
            (int)frame->file.size, (const char *)frame->file.at, frame->line);
}

static bool write_answer(const etl_pdb_location *location, answer *out)
{
    FILE *const to = open_memstream(&out->text, &out->size);
    if (!to)
        return false;
    fprintf(to, "0x%x %s 0x%x %u\n", location->rva, kind_names[location->kind],
            location->function_rva, location->function_size);
    if (location->alloc_type.size > 0)
        fprintf(to, "new %.*s\n", (int)location->alloc_type.size,
                (const char *)location->alloc_type.at);
    for (u32 i = 0; i < location->inline_count; i++)
        print_frame(to, &location->inlined[i]);
    print_frame(to, &location->function);
    fputc('\n', to);
    return fclose(to) == 0;
}

static int print_all(etl_pdb_resolver *resolver, const u32 *rvas, size_t count)
{
    etl_error err;
    answer *const answers = calloc(count + 1, sizeof *answers);
    if (!answers)
        return fail("addresses", "out of memory");
    if (etl_pdb_resolver_begin(resolver, rvas, count, &err) != ETL_OK)
        return fail("addresses", err.message);
    etl_pdb_location location;
    while (etl_pdb_resolver_next(resolver, &location))
        if (!write_answer(&location, &answers[location.index]))
            return fail("answers", "out of memory");
    for (size_t i = 0; i < count; i++) {
        fputs(answers[i].text ? answers[i].text : "no answer\n\n", stdout);
        free(answers[i].text);
    }
    free(answers);
    const etl_pdb_damage *const damage = etl_pdb_resolver_damage(resolver);
    return damage->count > 0 ? fail("damage", damage->first.message) : 0;
}

static int print_info(const etl_pdb_info *info)
{
    char guid[ETL_GUID_TEXT_SIZE];
    etl_guid_format(info->guid.bytes, guid);
    printf("%s %u 0x%x\n", guid, info->age, info->machine);
    return 0;
}

static int print_publics(etl_pdb_resolver *resolver)
{
    etl_pdb_public symbol;
    for (u32 at = 0; etl_pdb_public_next(resolver, &at, &symbol);)
        printf("0x%x %d %.*s\n", symbol.rva, symbol.is_function, (int)symbol.name.size,
               (const char *)symbol.name.at);
    return 0;
}

static int answer_addresses(etl_pdb_resolver *resolver)
{
    size_t count = 0;
    u32 *const rvas = read_addresses(&count);
    const int status = rvas ? print_all(resolver, rvas, count) : fail("addresses", "out of memory");
    free(rvas);
    return status;
}

int main(int argc, char **argv)
{
    const char *const what = argc == 3 ? argv[2] : "";
    if (argc != 2 && strcmp(what, "info") != 0 && strcmp(what, "publics") != 0) {
        fprintf(stderr, "usage: make_symbolize PDB [info | publics] < ADDRESSES\n");
        return 2;
    }
    etl_error err;
    etl_pdb_file *file = NULL;
    etl_pdb_resolver *resolver = NULL;
    if (etl_pdb_open(argv[1], &file, &err) != ETL_OK)
        return fail(argv[1], err.message);
    if (etl_pdb_resolver_open(file, ETL_PDB_WANT_ALL, &resolver, &err) != ETL_OK)
        return fail(argv[1], err.message);
    int status = 0;
    if (argc == 2)
        status = answer_addresses(resolver);
    else if (strcmp(what, "info") == 0)
        status = print_info(etl_pdb_info_of(file));
    else
        status = print_publics(resolver);
    etl_pdb_resolver_close(resolver);
    etl_pdb_close(file);
    return status;
}
