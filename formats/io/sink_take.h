/* sink_take.h - a sink whose bytes go to a function. */
#ifndef ETLHEAP_SINK_TAKE_H
#define ETLHEAP_SINK_TAKE_H

#include "formats/formats.h"

/* Takes the next bytes of the output; errors stay with the taker. */
typedef void etlheap_sink_take_fn(void *user, const void *bytes, size_t size);

/* Opens a sink that passes its bytes on. `user` stays valid until the sink is closed.
 * ETL_ERR_MEMORY. */
etl_status etlheap_sink_open_take(etlheap_sink_take_fn *take, void *user, etlheap_sink **out,
                                  etl_error *err);

#endif
