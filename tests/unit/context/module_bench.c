/* module_bench.c - see module_bench.h. */
#include "module_bench.h"

#include "engine/context/methods.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/support/hand_result.h"

module_bench *module_bench_open(void)
{
    module_bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->base = hand_timebase();
    context_open(&bench->context, &bench->base);
    return bench;
}

void module_bench_close(module_bench *bench)
{
    modules_free(&bench->modules);
    context_close(&bench->context);
    free(bench);
}

void module_bench_build(module_bench *bench)
{
    const module_owners owners = { 0 };
    assert_true(modules_build(&bench->modules, &bench->context, &owners));
    assert_true(methods_build(&bench->modules, &bench->context, &owners));
}
