/*
 * server_logins.c - logins of symbol servers, from variables, files and commands.
 *
 * In: words HOST=SOURCE. Out: the login of a host when it is asked for. Invariant: a login is kept
 * in memory only, and is in no message.
 */
#include "server_logins.h"

#include "cli/system/host.h"
#include "parser/system/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOGIN_SIZE  8192
#define ANSWER_SIZE 16384

typedef struct login_entry {
    const char *word;
    bool is_asked;
    char text[LOGIN_SIZE]; /* the login's texts, each with a NUL */
    etlheap_symbol_login login;
} login_entry;

struct cli_logins {
    login_entry *entries;
    u32 count;
};

/* The source of HOST=SOURCE if its kind is `kind`, such as "env:"; else NULL. */
static const char *source_of(const char *word, const char *kind)
{
    const char *const equals = strchr(word, '=');
    if (equals == NULL || strncmp(equals + 1, kind, strlen(kind)) != 0)
        return NULL;
    const char *const source = equals + 1 + strlen(kind);
    return source[0] == '\0' ? NULL : source;
}

/* Letters that a host can have; nothing that a shell understands. */
static bool is_host(const char *host, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_:[]";
    return size > 0 && strspn(host, letters) >= size;
}

static size_t size_without_line_ends(const char *text)
{
    size_t size = strlen(text);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    return size;
}

/* Other than at the end, where files and editors leave a line end. */
static bool has_control_letters(const char *text)
{
    const size_t size = size_without_line_ends(text);
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == '\x7F')
            return true;
    }
    return false;
}

static etl_status check_word(const char *word, etl_error *err)
{
    const char *const variable = source_of(word, "env:");
    const char *const file = source_of(word, "netrc:");
    const size_t host_size = strcspn(word, "=");
    if (!is_host(word, host_size) ||
        (variable == NULL && file == NULL && source_of(word, "command:") == NULL))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--symbol-login takes HOST=env:NAME, HOST=netrc:FILE or "
                             "HOST=command:COMMAND, where HOST is a name without https://");
    if (variable != NULL && cli_host_variable(variable) == NULL)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--symbol-login: the environment variable %.100s is not set",
                             variable);
    if (variable != NULL && has_control_letters(cli_host_variable(variable)))
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0,
                             "--symbol-login: the environment variable %.100s contains a line end "
                             "or another control character",
                             variable);
    if (file != NULL && etl_path_kind_of(file) != ETL_PATH_FILE)
        return etl_fail_with(err, ETL_ERR_ARGUMENT, 0, "--symbol-login: there is no file %.150s",
                             file);
    return ETL_OK;
}

etl_status cli_logins_check(const cli_words *words, etl_error *err)
{
    etl_status status = ETL_OK;
    for (u32 i = 0; i < words->count && status == ETL_OK; i++)
        status = check_word(words->at[i], err);
    return status;
}

cli_logins *cli_logins_open(const cli_words *words)
{
    cli_logins *const logins = words->count == 0 ? NULL : calloc(1, sizeof *logins);
    if (logins == NULL)
        return NULL;
    logins->entries = calloc(words->count, sizeof *logins->entries);
    logins->count = logins->entries == NULL ? 0 : words->count;
    for (u32 i = 0; i < logins->count; i++)
        logins->entries[i].word = words->at[i];
    return logins;
}

void cli_logins_close(cli_logins *logins)
{
    if (logins == NULL)
        return;
    free(logins->entries);
    free(logins);
}

static bool same_letters(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const char x = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] - 'A' + 'a') : a[i];
        if (x != b[i])
            return false;
    }
    return true;
}

/* An entry without a port is for all ports. */
static bool is_for(const char *word, const char *host)
{
    const size_t size = strcspn(word, "=");
    const size_t name = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    return (size == strlen(host) || size == name) && same_letters(word, host, size);
}

/* USER:PASSWORD, :PASSWORD or TOKEN. */
static void take_variable(login_entry *entry, const char *name)
{
    const char *const value = cli_host_variable(name);
    const size_t size = value == NULL ? sizeof entry->text : size_without_line_ends(value);
    if (size >= sizeof entry->text)
        return;
    memcpy(entry->text, value, size);
    entry->text[size] = '\0';
    char *const colon = strchr(entry->text, ':');
    if (colon == NULL) {
        entry->login.token = entry->text;
        return;
    }
    *colon = '\0';
    entry->login.user = entry->text;
    entry->login.password = colon + 1;
}

/* The text after "NAME=" in the lines of an answer, ended with a NUL. NULL if the answer lacks
 * it. */
static char *line_of(char *answer, const char *name)
{
    const size_t size = strlen(name);
    for (char *line = answer; line != NULL && *line != '\0';) {
        char *const end = line + strcspn(line, "\r\n");
        char *const next = *end == '\0' ? NULL : end + 1;
        if (strncmp(line, name, size) == 0 && line[size] == '=') {
            *end = '\0';
            return line + size + 1;
        }
        line = next;
    }
    return NULL;
}

static char *keep(login_entry *entry, size_t *used, const char *answer, const char *name)
{
    char copy[ANSWER_SIZE];
    (void)snprintf(copy, sizeof copy, "%s", answer);
    const char *const value = line_of(copy, name);
    if (value == NULL || *used + strlen(value) >= sizeof entry->text)
        return NULL;
    char *const at = entry->text + *used;
    memcpy(at, value, strlen(value) + 1);
    *used += strlen(value) + 1;
    return at;
}

/* Source: git-credential(1), the format of input and output; `credential` since git 2.46. */
static void take_answer(login_entry *entry, const char *answer)
{
    size_t used = 0;
    const char *const scheme = keep(entry, &used, answer, "authtype");
    if (scheme != NULL && strlen(scheme) == 6 && same_letters(scheme, "bearer", 6)) {
        entry->login.token = keep(entry, &used, answer, "credential");
        return;
    }
    entry->login.password = keep(entry, &used, answer, "password");
    entry->login.user = keep(entry, &used, answer, "username");
}

/* False if the command does not run, ends with an error, or prints more than fits. */
static bool answer_of(const char *command, const char *host, char *out, size_t size)
{
    FILE *const pipe = cli_host_credential_open(command, host);
    if (pipe == NULL)
        return false;
    const size_t read = fread(out, 1, size - 1, pipe);
    out[read] = '\0';
    const bool is_whole = read < size - 1;
    return cli_host_credential_close(pipe) && is_whole;
}

static void ask(login_entry *entry, const char *host)
{
    char answer[ANSWER_SIZE];
    const char *const variable = source_of(entry->word, "env:");
    const char *const file = source_of(entry->word, "netrc:");
    const char *const command = source_of(entry->word, "command:");
    if (variable != NULL)
        take_variable(entry, variable);
    if (file != NULL)
        entry->login.netrc_file = file;
    if (command != NULL && is_host(host, strlen(host)) &&
        answer_of(command, host, answer, sizeof answer))
        take_answer(entry, answer);
    memset(answer, 0, sizeof answer);
}

void cli_logins_find(void *user, const char *host, etlheap_symbol_login *out)
{
    cli_logins *const logins = user;
    for (u32 i = 0; logins != NULL && i < logins->count; i++) {
        login_entry *const entry = &logins->entries[i];
        if (!is_for(entry->word, host))
            continue;
        if (!entry->is_asked)
            ask(entry, host);
        entry->is_asked = true;
        *out = entry->login;
        return;
    }
}
