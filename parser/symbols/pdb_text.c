/*
 * pdb_text.c - text that must outlive the view it came from.
 *
 * Most names are views of the file and cost nothing. Those that had to be put
 * together (Class::function) or that straddle blocks which are no neighbours are
 * kept in chunks. Inlined functions, types and files recur at very many
 * addresses, so their names are also remembered by number in a hash table. Both
 * are bounded: what is full is emptied between two locations, and names are
 * simply made again.
 */
#include <stdlib.h>

#include "pdb_internal.h"

#define CHUNK_BYTES    ((size_t)256 * 1024)
#define TEXT_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define NAME_PLACES    ((u32)1 << 16)
#define NAME_COUNT_MAX (NAME_PLACES / 4 * 3)

static_assert(PDB_NAME_MAX <= CHUNK_BYTES, "a name fits a chunk");

struct pdb_text_chunk {
    pdb_text_chunk *next;
    size_t used;
    u8 bytes[CHUNK_BYTES];
};

static const char hash_anchor = 0;

static void forget(pdb_text *text);
static pdb_name_entry *place_of(const pdb_text *text, u64 key);

void pdb_text_close(pdb_text *text)
{
    forget(text);
    free(text->names);
    *text = (pdb_text){ 0 };
}

void pdb_text_trim(pdb_text *text)
{
    if (text->used_bytes >= TEXT_BYTES_MAX || text->name_count >= NAME_COUNT_MAX)
        forget(text);
}

etl_bytes pdb_text_keep(pdb_text *text, etl_bytes bytes)
{
    pdb_text_chunk *chunk = text->chunks;
    if (bytes.size > CHUNK_BYTES)
        return (etl_bytes){ NULL, 0 };
    if (!chunk || CHUNK_BYTES - chunk->used < bytes.size) {
        chunk = malloc(sizeof *chunk);
        if (!chunk)
            return (etl_bytes){ NULL, 0 };
        chunk->next = text->chunks;
        chunk->used = 0;
        text->chunks = chunk;
        text->used_bytes += CHUNK_BYTES;
    }
    u8 *const to = chunk->bytes + chunk->used;
    if (bytes.size > 0)
        memcpy(to, bytes.at, bytes.size);
    chunk->used += bytes.size;
    return (etl_bytes){ to, bytes.size };
}

bool pdb_text_find(const pdb_text *text, u32 kind, u32 id, etl_bytes *name)
{
    if (!text->names)
        return false;
    const pdb_name_entry *const entry = place_of(text, (u64)kind << 32 | id);
    if (entry->key == 0)
        return false;
    *name = entry->name;
    return true;
}

/* Without memory nothing is remembered, which costs time only. */
void pdb_text_remember(pdb_text *text, u32 kind, u32 id, etl_bytes name)
{
    if (!text->names)
        text->names = calloc(NAME_PLACES, sizeof *text->names);
    if (!text->names || text->name_count >= NAME_COUNT_MAX)
        return;
    const u64 key = (u64)kind << 32 | id;
    pdb_name_entry *const entry = place_of(text, key);
    text->name_count += entry->key == 0;
    *entry = (pdb_name_entry){ key, name };
}

/* The key's entry, or the free one where it belongs: there always is one. */
static pdb_name_entry *place_of(const pdb_text *text, u64 key)
{
    u32 at = (u32)(etl_mix_u64(key ^ etl_hash_seed(&hash_anchor)) % NAME_PLACES);
    while (text->names[at].key != 0 && text->names[at].key != key)
        at = (at + 1) % NAME_PLACES;
    return &text->names[at];
}

static void forget(pdb_text *text)
{
    while (text->chunks) {
        pdb_text_chunk *const next = text->chunks->next;
        free(text->chunks);
        text->chunks = next;
    }
    text->used_bytes = 0;
    text->name_count = 0;
    if (text->names)
        memset(text->names, 0, NAME_PLACES * sizeof *text->names);
}
