// statx(2) without the times of the file. Since Linux 6.13 whoever asks for the time of the last change makes the next write
// note it to the nanosecond, and synchronizing then has to write the file's metadata as well as its data.
#ifndef PRIVYSEAL_CSTATX_SHIM_H
#define PRIVYSEAL_CSTATX_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct privyseal_file_mark {
    uint64_t device;
    uint64_t inode;
    uint64_t size;
    uint32_t mode;
};

/// Follows symbolic links. Returns 0, or the error; ENOSYS and EPERM where there is no statx(2) or a sandbox does not know it.
static inline int privyseal_mark_file(const char *path, struct privyseal_file_mark *mark) {
    struct statx found;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_TYPE | STATX_MODE | STATX_INO | STATX_SIZE, &found) != 0) return errno;
    mark->device = (uint64_t)found.stx_dev_major << 32 | found.stx_dev_minor;
    mark->inode = found.stx_ino;
    mark->size = found.stx_size;
    mark->mode = found.stx_mode;
    return 0;
}

#endif
