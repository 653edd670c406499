/*
 * decode_stack.c - stack walks: frames inline, references by key, definitions.
 *
 * Layouts with their sources are in layout_events.h. The frames are not copied:
 * an event points into the payload, whose length alone says how many there are.
 */
#include "decode_internal.h"

#define STACK_HEAD_BYTES 16 /* event time, process, thread */

/* Frames at the end of a payload, as the events of this file hold them. */
typedef struct frame_list {
    const u8 *at;
    u32 count;
} frame_list;

static inline frame_list take_frames(etl_payload *p);

ETL_DECODER(stack)
ETL_DECODER(stack_key)
ETL_DECODER(stack_definition)

static inline bool read_stack(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, STACK_HEAD_BYTES))
        return false;
    etl_stack_event *const event = &out->as.stack;
    event->event_ticks = (i64)etl_u64(&p.c);
    event->process_id = etl_u32(&p.c);
    event->thread_id = etl_u32(&p.c);
    const frame_list frames = take_frames(&p);
    event->frames = frames.at;
    event->frame_count = frames.count;
    event->frame_bytes = p.width;
    return true;
}

static inline bool read_stack_key(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, STACK_HEAD_BYTES + p.width))
        return false;
    etl_stack_key_event *const event = &out->as.stack_key;
    event->event_ticks = (i64)etl_u64(&p.c);
    event->process_id = etl_u32(&p.c);
    event->thread_id = etl_u32(&p.c);
    event->stack_key = etl_pointer(&p.c, p.width);
    return true;
}

static inline bool read_stack_definition(etl_payload p, etl_event *out)
{
    if (!etl_need(&p.c, p.width))
        return false;
    etl_stack_definition *const event = &out->as.stack_definition;
    event->stack_key = etl_pointer(&p.c, p.width);
    const frame_list frames = take_frames(&p);
    event->frames = frames.at;
    event->frame_count = frames.count;
    event->frame_bytes = p.width;
    return true;
}

/*
 * The rest of the payload as frames. Zeros at the outer end, which the stacks
 * of starting WOW64 processes have, are no frames. The count is kept within
 * ETL_STACK_FRAMES_MAX, and a deeper stack is reported as cut.
 */
static inline frame_list take_frames(etl_payload *p)
{
    const etl_bytes rest = etl_rest(&p->c);
    size_t count = rest.size / p->width;
    while (count > 0 && etl_frame_at(rest.at, p->width, (u32)(count - 1)) == 0)
        count--;
    if (count > ETL_STACK_FRAMES_MAX) {
        etl_diag_add(p->diag, ETL_DIAG_stack_too_deep, 1);
        count = ETL_STACK_FRAMES_MAX;
    }
    return (frame_list){ rest.at, (u32)count };
}
