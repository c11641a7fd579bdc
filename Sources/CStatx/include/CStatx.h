// What tells a file from every other one, asked without the times of the file (statx(2)). Since Linux 6.13 whoever asks for the
// time of the last change makes the next write note it to the nanosecond, and synchronizing then has to write the file's
// metadata as well as its data.
#ifndef PRIVYSEAL_CSTATX_H
#define PRIVYSEAL_CSTATX_H

#include <stdint.h>

struct privyseal_file_mark {
    uint64_t device;
    uint64_t inode;
    /// Bytes.
    uint64_t size;
    uint32_t mode;
};

/// Follows symbolic links. Returns 0, or the error.
int privyseal_mark_file(const char *_Nonnull path, struct privyseal_file_mark *_Nonnull mark);

/// The magic number of the file system (statfs(2), <linux/magic.h>). Returns 0, or the error.
int privyseal_file_system(const char *_Nonnull path, uint32_t *_Nonnull magic);

#endif
