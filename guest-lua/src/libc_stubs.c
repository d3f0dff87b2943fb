/*
 * What the C library would import from WASI, answered here, so that the component imports none of it.
 *
 * Nothing is supported but the clock, which is the host's. The names are those under which wasi-libc declares its
 * imports; the linker takes these definitions in their place.
 */
#include <stdint.h>

#include "guest.h"

enum { WASI_SUCCESS = 0, WASI_BADF = 8, WASI_NOTSUP = 58 };

#define WASI(name) __imported_wasi_snapshot_preview1_##name
#define UNSUPPORTED(name, errno, ...) \
  int32_t WASI(name)(__VA_ARGS__) { return errno; }

UNSUPPORTED(environ_get, WASI_NOTSUP, int32_t, int32_t)
UNSUPPORTED(fd_close, WASI_BADF, int32_t)
UNSUPPORTED(fd_fdstat_get, WASI_BADF, int32_t, int32_t)
UNSUPPORTED(fd_fdstat_set_flags, WASI_BADF, int32_t, int32_t)
UNSUPPORTED(fd_prestat_get, WASI_BADF, int32_t, int32_t)
UNSUPPORTED(fd_prestat_dir_name, WASI_BADF, int32_t, int32_t, int32_t)
UNSUPPORTED(fd_read, WASI_BADF, int32_t, int32_t, int32_t, int32_t)
UNSUPPORTED(fd_renumber, WASI_BADF, int32_t, int32_t)
UNSUPPORTED(fd_seek, WASI_BADF, int32_t, int64_t, int32_t, int32_t)
UNSUPPORTED(fd_write, WASI_BADF, int32_t, int32_t, int32_t, int32_t)
UNSUPPORTED(path_open, WASI_NOTSUP, int32_t, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t, int32_t, int32_t)
UNSUPPORTED(random_get, WASI_NOTSUP, int32_t, int32_t)

int32_t WASI(environ_sizes_get)(int32_t count, int32_t size) {
  *(uint32_t *)(uintptr_t)count = 0;
  *(uint32_t *)(uintptr_t)size = 0;
  return WASI_SUCCESS;
}

int32_t WASI(clock_time_get)(int32_t, int64_t, int32_t time) {
  *(uint64_t *)(uintptr_t)time = guest_now_ns();
  return WASI_SUCCESS;
}

_Noreturn void WASI(proc_exit)(int32_t) { __builtin_trap(); }
