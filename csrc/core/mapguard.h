/* What a process says when a file that it has mapped is cut short by another one: the system sends SIGBUS at the first
 * touch of a page that is gone. Without a guard the process dies without a word. */
#ifndef WV_MAPGUARD_H
#define WV_MAPGUARD_H

#include <stddef.h>

/* Guards `size` bytes at `start`: a SIGBUS there writes `message` (to stderr, whole) and ends the process with exit
 * code 1. Any other SIGBUS takes the way it would have taken. The message is copied. 0, or -1 without memory or room.
 * Calls come one at a time (the caller holds a lock); faults come from any thread. */
int wv_mapguard_add(const void *start, size_t size, const char *message, size_t length);

/* Ends the guard of the mapping at `start`; to be called before the addresses can mean something else. */
void wv_mapguard_remove(const void *start);

#endif
