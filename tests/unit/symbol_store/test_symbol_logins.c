/*
 * Goal: no password, token or signature of a symbol path is shown, and the rest of the path is.
 * Method: paths and sentences in the forms that servers and tools use, also misspelled and cut off,
 * against what may be shown; and the word SECRET, wherever it stands in a login, never comes out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"

#include "parser/base.h"

#include <stdio.h>
#include <string.h>

typedef struct sample {
    const char *given, *wanted;
} sample;

static const sample paths[] = {
    { "", "" },
    { "out;SRV**https://msdl.microsoft.com/download/symbols", NULL },
    { "SRV*C:\\cache*\\\\server\\share$*https://host:8080/sym;cache*D:\\c", NULL },
    { "/home/me@work/out;/builds/a:b/out", NULL },
    { "https://host/@scope/sym", "" }, /* it could be the end of a password */
    { "https://[::1]:9/sym", NULL },
    { "https://user:SECRET@host/sym", "https://host/sym" },
    { "SRV*c*https://user:SECRET@host:8080/a/b?sig=SECRET", "SRV*c*https://host:8080/a/b" },
    { "SRV*c*http://SECRET@host;out", "SRV*c*http://host;out" },
    { "SRV*c*https://u:SE@CRET@host/s", "SRV*c*https://host/s" },
    { "SRV*c*https://u:SE/CRET@host/s;out", "SRV*c;out" },
    { "SRV*c*https://u:SE?CRET@host/s", "SRV*c" },
    { "SRV*c*https://u:SECRET", "SRV*c" },
    { "https://u:1/SECRET@host/s;out", ";out" },
    { "https://host/s?sv=1&sig=SECRET%3D#a", "https://host/s" },
    { "https://host/s#SECRET", "https://host/s" },
    { "https://host/F/feed/auth/SECRET/symbols", "https://host/F/feed/auth/symbols" },
    { "https://host/F/SECRET01-2345-6789-abcd-ef0123456789/symbols", "https://host/F/symbols" },
    { "https://host/key=SECRET/symbols", "https://host/symbols" },
    { "https://SECRET0123456789abcdefghij", "" },
    { "http:/user:SECRET@host/sym", "http:/host/sym" },
    { "http:\\\\user:SECRET@host\\sym", "http:\\\\host\\sym" },
    { "SRV*c*user:SECRET@host/sym", "SRV*c" },
    { "SRV*c*host/sym?sig=SECRET", "SRV*c*host/sym" },
    { " \"https://u:SECRET@host/sym\" ; out", " \"https://host/sym\" ; out" },
};

static const sample sentences[] = {
    { "", "" },
    { "unknown option '--symbol': did you mean --symbols?", NULL },
    { "'app!*::operator new@8' names a function, C:\\a\\b@c: 12:30:00", NULL },
    { "cannot open 'SRV*c*https://u:SECRET@host/sym': no such file",
      "cannot open 'SRV*c*https://host/sym': no such file" },
    { "the folder 'https:/u:SECRET@host/sym?sig=SECRET' does not exist",
      "the folder 'https:/host/sym' does not exist" },
    { "--symbol=https://u:SECRET@host/s: unknown", "--symbol=https://host/s: unknown" },
    { "--symbol=SRV*c*u:SECRET@host/s: unknown", "--symbol=SRV*c: unknown" },
    { "cut off: 'https://u:SECRE", "cut off: '" },
};

typedef bool leave_out(const char *text, char *out);

static void check(const sample *samples, size_t count, leave_out *without_logins)
{
    for (size_t i = 0; i < count; i++) {
        char shown[256];
        const char *const wanted = samples[i].wanted ? samples[i].wanted : samples[i].given;
        assert_true(strlen(samples[i].given) < sizeof shown);
        const bool changed = without_logins(samples[i].given, shown);
        assert_string_equal(shown, wanted);
        assert_int_equal(changed, strcmp(samples[i].given, wanted) != 0);
        assert_null(strstr(shown, "SECRE"));
    }
}

static void paths_are_shown_without_logins(void **state)
{
    (void)state;
    check(paths, ETL_COUNT_OF(paths), etlheap_symbols_without_logins);
}

static void sentences_are_shown_without_logins(void **state)
{
    (void)state;
    check(sentences, ETL_COUNT_OF(sentences), etlheap_sentence_without_logins);
}

/* A password of any characters: nothing of it is left. */
static void passwords_contain_anything(void **state)
{
    (void)state;
    static const char signs[] = "/\\?#@:&=%!$'\"(),+~[]{}|<>^`-_. ";
    for (size_t i = 0; i < sizeof signs - 1; i++) {
        for (size_t k = 0; k < sizeof signs - 1; k++) {
            char path[128], shown[128];
            snprintf(path, sizeof path, "SRV*c*https://me:a1SECRET%cSECRET%cSECRET@host/sym;out",
                     signs[i], signs[k]);
            assert_true(etlheap_symbols_without_logins(path, shown));
            assert_null(strstr(shown, "SECRET"));
            assert_non_null(strstr(shown, "out"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_shown_without_logins),
        cmocka_unit_test(sentences_are_shown_without_logins),
        cmocka_unit_test(passwords_contain_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
