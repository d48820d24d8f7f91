/* Makes one chosen call of a process go wrong: the n-th allocation of 32 KB or more fails, the n-th read of a file in
 * the current folder and all reads of that file after it, as on a broken disk, or the process dies at its n-th call
 * that changes a file. Preloaded (LD_PRELOAD) by faults.py, armed from Python by wv_arm(). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { LEAST_BYTES = 32 << 10 };
static long fail_at, kill_at, break_at;
static volatile long allocations, file_calls, reads;
static char folder[4096], broken[4096];

/* From now on; 0 only counts. */
void wv_arm(long allocation, long file_call, long read) {
  allocations = file_calls = reads = 0;
  fail_at = allocation, kill_at = file_call, break_at = read;
  if (!getcwd(folder, sizeof folder)) abort();
  broken[0] = 0;
}

long wv_reads(void) { return reads; }
long wv_allocations(void) { return allocations; }
long wv_file_calls(void) { return file_calls; }

static int fails(size_t bytes) {
  return bytes >= LEAST_BYTES && __sync_add_and_fetch(&allocations, 1) == fail_at;
}

static void file_call(void) {
  if (__sync_add_and_fetch(&file_calls, 1) == kill_at) kill(getpid(), SIGKILL);
}

static int breaks(int file) {
  char link[32], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (!folder[0] || readlink(link, path, sizeof path - 1) < 0 || strncmp(path, folder, strlen(folder))) return 0;
  if (strchr(path + strlen(folder), '.') == path + strlen(folder) + 1) return 0; /* what faults.py itself is told by */
  if (__sync_add_and_fetch(&reads, 1) == break_at) strcpy(broken, path);
  return !strcmp(path, broken);
}

/* The first call of each wrapper finds what it wraps. */
#define REAL(type, name, ...)                                \
  static type (*real)(__VA_ARGS__);                          \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t bytes) { return fails(bytes) ? no_memory() : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails(count * bytes) ? no_memory() : __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return fails(bytes) ? no_memory() : __libc_realloc(old, bytes); }
void *aligned_alloc(size_t to, size_t bytes) { return fails(bytes) ? no_memory() : __libc_memalign(to, bytes); }
int posix_memalign(void **out, size_t to, size_t bytes) {
  if (fails(bytes)) return ENOMEM;
  *out = __libc_memalign(to, bytes);
  return *out ? 0 : ENOMEM;
}

void *mmap64(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  REAL(void *, mmap64, void *, size_t, int, int, int, off_t);
  if (file < 0 && fails(bytes)) return errno = ENOMEM, MAP_FAILED;
  return real(at, bytes, access, flags, file, offset);
}
void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
  return mmap64(at, bytes, access, flags, file, offset);
}

ssize_t read(int file, void *data, size_t bytes) {
  REAL(ssize_t, read, int, void *, size_t);
  return breaks(file) ? errno = EIO, -1 : real(file, data, bytes);
}
ssize_t pread64(int file, void *data, size_t bytes, off_t at) {
  REAL(ssize_t, pread64, int, void *, size_t, off_t);
  return breaks(file) ? errno = EIO, -1 : real(file, data, bytes, at);
}
ssize_t write(int file, const void *data, size_t bytes) {
  REAL(ssize_t, write, int, const void *, size_t);
  file_call();
  return real(file, data, bytes);
}
ssize_t pwrite64(int file, const void *data, size_t bytes, off_t at) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off_t);
  file_call();
  return real(file, data, bytes, at);
}
int fsync(int file) {
  REAL(int, fsync, int);
  file_call();
  return real(file);
}
int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  file_call();
  return real(from, to);
}
int unlink(const char *path) {
  REAL(int, unlink, const char *);
  file_call();
  return real(path);
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  file_call();
  return real(path, mode);
}
int ftruncate64(int file, off_t bytes) {
  REAL(int, ftruncate64, int, off_t);
  file_call();
  return real(file, bytes);
}
int open64(const char *path, int flags, ...) {
  REAL(int, open64, const char *, int, ...);
  va_list more;
  va_start(more, flags);
  int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  if (flags & O_CREAT) file_call();
  return real(path, flags, mode);
}
