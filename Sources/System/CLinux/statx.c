#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/// For kernels without statx(2), and for sandboxes that refuse it.
static int mark_by_stat(const char *path, struct privyseal_file_mark *mark) {
    struct stat found;
    if (stat(path, &found) != 0) return errno;
    *mark = (struct privyseal_file_mark){found.st_dev, found.st_ino, (uint64_t)found.st_size, found.st_mode};
    return 0;
}

int privyseal_mark_file(const char *path, struct privyseal_file_mark *mark) {
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_MODE | STATX_INO | STATX_SIZE, &found) != 0) {
        return errno == ENOSYS || errno == EPERM ? mark_by_stat(path, mark) : errno;
    }
    uint64_t device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    *mark = (struct privyseal_file_mark){device, found.stx_ino, found.stx_size, found.stx_mode};
    return 0;
}

int privyseal_file_system(const char *path, uint32_t *magic) {
    struct statfs found;
    if (statfs(path, &found) != 0) return errno;
    *magic = (uint32_t)found.f_type;
    return 0;
}
