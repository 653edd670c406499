/*
 * order_check.h - what tests of the order stage need: tasks of a slice by hand, and
 * what ordering made of them, by rank.
 *
 *     order_check_task(f, stream);            // events go to the task begun last
 *     order_check_add(f, (memory_event){ .ticks = T0, .op = OP_ALLOC, ... });
 *     order_check_run(f, ORDER_CHECK_FORWARD);
 *     f->by_rank[0].heap ...                  // numbers are final
 */
#ifndef TESTS_ORDER_CHECK_H
#define TESTS_ORDER_CHECK_H

#include "engine/pair/order.h"
#include "tests/support/engine_check.h"

#define ORDER_CHECK_TASKS_MAX 64u

/* Which bucket is filled first must not matter. */
typedef enum order_check_fill {
    ORDER_CHECK_FORWARD,
    ORDER_CHECK_BACKWARD,
    ORDER_CHECK_THREADS,
    ORDER_CHECK_FILL_COUNT
} order_check_fill;

typedef struct order_check {
    engine_check check;
    scan_output tasks[ORDER_CHECK_TASKS_MAX];
    u32 task_count;
    slice_order order;
    i64 *ticks;             /* by rank */
    event_entry *entries;   /* likewise */
    ordered_event *by_rank; /* with final numbers; none when events are only counted */
    bool is_done;           /* the next task begins another slice */
} order_check;

/* For cmocka: *state is an order_check. */
int order_check_open(void **state);
int order_check_close(void **state);

/* The first task after a run begins a slice of its own. */
void order_check_task(order_check *f, u64 stream);

/* Makes sure that there is a process for it, as scanning a slice does. */
void order_check_add(order_check *f, memory_event event);

/* Orders the slice. Every event must be in one place. */
void order_check_run(order_check *f, order_check_fill fill);

/* The slice's tasks cut into buckets, and no more. */
void order_check_plan(order_check *f);

/* The rows behind the numbers of an event. */
const heap_row *order_check_heap(const order_check *f, const ordered_event *event);
const owner_row *order_check_owner(const order_check *f, const ordered_event *event);

#endif
