/*
 * bus_guard.c - what both kinds of guard share: that bytes were gone.
 */
#include "bus_guard.h"

const char cli_bus_guard_message[] =
    "a file became shorter while it was read; wait until nobody writes to it, or copy it, and "
    "run again";

/* A handler is given nothing of its program, so this is global. */
static _Atomic unsigned trips; /* by whichever thread met it */
static _Thread_local unsigned passed_over;

bool cli_bus_guard_tripped(void)
{
    return trips > passed_over;
}

void cli_bus_guard_pass_over(unsigned count)
{
    passed_over = count;
}

unsigned cli_bus_guard_trips(void)
{
    return trips;
}

void cli_bus_guard_trip(void)
{
    trips++;
}
