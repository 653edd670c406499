/*
 * unpack_beside.h - unpacks a member on a thread of its own while it is read (private to formats).
 */
#ifndef ETLHEAP_UNPACK_BESIDE_H
#define ETLHEAP_UNPACK_BESIDE_H

#include "unpack.h"

/* Starts to unpack job->out's only member, which was begun and states its size. True: the source
 * and the job's buffer were taken over, and out->beside is open. False: unpack it without a
 * thread. */
bool unpack_beside_open(unpacking *job, const unpack_source *source);

/* As etl_arrival_fn. */
etl_status unpack_beside_await(unpack_beside *beside, u64 wanted, u64 *arrived, etl_error *err);

void unpack_beside_close(unpack_beside *beside); /* after the current piece; NULL is allowed */

#endif
