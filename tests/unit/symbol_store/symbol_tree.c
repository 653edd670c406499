/*
 * symbol_tree.c - folders full of symbol files, made and removed by a test.
 */
#include <stdio.h>
#include <unistd.h>

#include "engine/symbol_store/symbol_files.h"
#include "symbol_tree.h"
#include "tests/support/temporary.h"

#define MAGIC         "Microsoft C/C++ MSF 7.00\r\n\x1a\x44S\0\0\0"
#define MAGIC_BYTES   32u
#define SYMBOL_BYTES  3000u
#define BLOCK_BYTES   32768u
#define COMMAND_BYTES 2048

static void put_block(hand_bytes *cabinet, etl_bytes block, cabinet_kind kind);
static size_t read_file(const char *path, u8 *into, size_t capacity);

void symbol_tree_open(symbol_tree *tree)
{
    *tree = (symbol_tree){ .checks = 0 };
    if (!temporary_subfolder(tree->root, "etlheap-tree"))
        abort();
}

void symbol_tree_close(symbol_tree *tree)
{
    char command[COMMAND_BYTES];
    snprintf(command, sizeof command, "chmod -R u+rwx '%s'; rm -r '%s'", tree->root, tree->root);
    if (system(command) != 0)
        abort();
}

void symbol_tree_empty(const symbol_tree *tree)
{
    char command[COMMAND_BYTES];
    snprintf(command, sizeof command, "find '%s' -mindepth 1 -delete", tree->root);
    if (system(command) != 0)
        abort();
}

const char *symbol_tree_path(const symbol_tree *tree, const char *name)
{
    static char paths[8][TREE_PATH_SIZE];
    static u32 next;
    char *const path = paths[next++ % 8];
    snprintf(path, TREE_PATH_SIZE, "%s/%s", tree->root, name);
    return path;
}

void symbol_tree_write(const symbol_tree *tree, const char *name, etl_bytes content)
{
    char folder[TREE_PATH_SIZE];
    const char *const path = symbol_tree_path(tree, name);
    snprintf(folder, sizeof folder, "%.*s", (int)(symbol_base_name(path) - path), path);
    if (!symbol_make_folders(folder))
        abort();
    FILE *const file = fopen(path, "wb");
    if (!file || fwrite(content.at, 1, content.size, file) != content.size || fclose(file) != 0)
        abort();
}

void symbol_tree_text(const symbol_tree *tree, const char *name, const char *text)
{
    symbol_tree_write(tree, name, (etl_bytes){ (const u8 *)text, strlen(text) });
}

hand_bytes symbol_tree_content(const char *key, size_t size)
{
    hand_bytes content = { 0 };
    hand_put(&content, MAGIC, MAGIC_BYTES);
    hand_put(&content, key, strlen(key) + 1);
    u64 seed = size;
    while (content.size < size)
        hand_u8(&content, hand_random(&seed));
    return content;
}

void symbol_tree_symbol(const symbol_tree *tree, const char *name, const char *key)
{
    hand_bytes content = symbol_tree_content(key, SYMBOL_BYTES);
    symbol_tree_write(tree, name, hand_view(&content));
    hand_free(&content);
}

/* Source: [MS-CAB] 2.1 to 2.4. Check sums are 0: not computed. */
hand_bytes symbol_tree_cabinet_bytes(const char *inner, etl_bytes content, cabinet_kind kind)
{
    hand_bytes cabinet = { 0 };
    const u32 block_count = (u32)((content.size + BLOCK_BYTES - 1) / BLOCK_BYTES);
    const size_t data_start = 36 + 8 + 16 + strlen(inner) + 1;
    hand_put(&cabinet, "MSCF\0\0\0\0", 8);
    hand_u32(&cabinet, 0); /* its size, set at the end */
    hand_u32(&cabinet, 0);
    hand_u32(&cabinet, 36 + 8);
    hand_u32(&cabinet, 0);
    hand_u16(&cabinet, 0x0103);
    hand_u16(&cabinet, 1);
    hand_u16(&cabinet, 1);
    hand_u16(&cabinet, 0);
    hand_u32(&cabinet, 0);
    hand_u32(&cabinet, (u32)data_start);
    hand_u16(&cabinet, block_count);
    hand_u16(&cabinet, kind == CABINET_MSZIP ? 1 : 0);
    hand_u32(&cabinet, (u32)content.size);
    hand_u64(&cabinet, 0);
    hand_u32(&cabinet, 0x20u << 16);
    hand_put(&cabinet, inner, strlen(inner) + 1);
    while (content.size > 0) {
        const size_t size = content.size < BLOCK_BYTES ? content.size : BLOCK_BYTES;
        put_block(&cabinet, (etl_bytes){ content.at, size }, kind);
        content = (etl_bytes){ content.at + size, content.size - size };
    }
    hand_set_u32(&cabinet, 8, (u32)cabinet.size);
    return cabinet;
}

/* An MSZIP block is "CK" and one deflate stream, here of one stored block. */
static void put_block(hand_bytes *cabinet, etl_bytes block, cabinet_kind kind)
{
    const bool is_zip = kind == CABINET_MSZIP;
    hand_u32(cabinet, 0);
    hand_u16(cabinet, (unsigned)(block.size + (is_zip ? 7 : 0)));
    hand_u16(cabinet, (unsigned)block.size);
    if (is_zip) {
        hand_put(cabinet, "CK\x01", 3);
        hand_u16(cabinet, (unsigned)block.size);
        hand_u16(cabinet, ~(unsigned)block.size & 0xffff);
    }
    hand_put(cabinet, block.at, block.size);
}

void symbol_tree_cabinet(const symbol_tree *tree, const char *name, const char *inner,
                         const char *key)
{
    hand_bytes content = symbol_tree_content(key, SYMBOL_BYTES);
    hand_bytes cabinet = symbol_tree_cabinet_bytes(inner, hand_view(&content), CABINET_MSZIP);
    symbol_tree_write(tree, name, hand_view(&cabinet));
    hand_free(&content);
    hand_free(&cabinet);
}

bool symbol_tree_exists(const symbol_tree *tree, const char *name)
{
    return access(symbol_tree_path(tree, name), F_OK) == 0;
}

bool symbol_tree_is_symbol(const char *path, const char *key)
{
    u8 read[SYMBOL_BYTES + 1];
    hand_bytes wanted = symbol_tree_content(key, SYMBOL_BYTES);
    const bool is_symbol = read_file(path, read, sizeof read) == wanted.size &&
                           memcmp(read, wanted.at, wanted.size) == 0;
    hand_free(&wanted);
    return is_symbol;
}

static size_t read_file(const char *path, u8 *into, size_t capacity)
{
    FILE *const file = fopen(path, "rb");
    if (!file)
        return 0;
    const size_t size = fread(into, 1, capacity, file);
    fclose(file);
    return size;
}

u32 symbol_tree_count(const symbol_tree *tree, const char *folder, const char *suffix)
{
    char command[COMMAND_BYTES];
    char answer[32] = "0";
    snprintf(command, sizeof command, "find '%s/%s' -type f -name '*%s' 2> /dev/null | wc -l",
             tree->root, folder, suffix);
    FILE *const list = popen(command, "r");
    if (!list || !fgets(answer, sizeof answer, list) || pclose(list) != 0)
        abort();
    return (u32)strtoul(answer, NULL, 10);
}

symbol_verdict symbol_tree_check(void *user, const char *path, const symbol_key *key)
{
    symbol_tree *const tree = user;
    u8 head[MAGIC_BYTES + 64] = { 0 };
    char wanted[SYMBOL_KEY_TEXT_SIZE];
    tree->checks++;
    if (read_file(path, head, sizeof head - 1) < MAGIC_BYTES ||
        memcmp(head, MAGIC, MAGIC_BYTES) != 0)
        return SYMBOL_VERDICT_UNUSABLE;
    symbol_key_format(key, wanted);
    return strcmp((const char *)head + MAGIC_BYTES, wanted) == 0 ? SYMBOL_VERDICT_MATCH
                                                                 : SYMBOL_VERDICT_MISMATCH;
}
