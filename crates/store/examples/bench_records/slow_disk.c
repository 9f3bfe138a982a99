/* Goes in front of the C library: after each sync a pause, as on a disk that takes longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int slowly(const char *name, int file) {
    int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int result = sync(file);
    long micros = atol(getenv("BENCH_SYNC_PAUSE"));
    struct timespec pause = {micros / 1000000, micros % 1000000 * 1000};
    nanosleep(&pause, NULL);
    return result;
}

int fsync(int file) { return slowly("fsync", file); }
int fdatasync(int file) { return slowly("fdatasync", file); }
