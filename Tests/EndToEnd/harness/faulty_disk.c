// A library for LD_PRELOAD that simulates disk faults in SQLite's writes; it needs no privileges. It affects files
// whose paths begin with $FAULTY_DISK_FILES. A file in the directory $FAULTY_DISK turns a fault on: `full` (writes
// fail), `broken` (fsync and fdatasync fail) or `hung` (all of these calls wait while the file exists).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_on(const char *fault) {
    char path[4096];
    const char *directory = getenv("FAULTY_DISK");
    if (!directory) return 0;
    snprintf(path, sizeof path, "%s/%s", directory, fault);
    return access(path, F_OK) == 0;
}

static int is_meant(int descriptor) {
    char link[64], path[4096];
    const char *files = getenv("FAULTY_DISK_FILES");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!files || length < 0) return 0;
    path[length] = 0;
    return strncmp(path, files, strlen(files)) == 0;
}

static void wait_while_hung(void) {
    while (is_on("hung")) usleep(10000);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    if (is_meant(descriptor)) {
        wait_while_hung();
        if (is_on("full")) {
            errno = ENOSPC;
            return -1;
        }
    }
    return real(descriptor, bytes, count, offset);
}

static int synchronize(const char *name, int descriptor) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (is_meant(descriptor)) {
        wait_while_hung();
        if (is_on("broken")) {
            errno = EIO;
            return -1;
        }
    }
    return real(descriptor);
}

int fdatasync(int descriptor) { return synchronize("fdatasync", descriptor); }

int fsync(int descriptor) { return synchronize("fsync", descriptor); }
