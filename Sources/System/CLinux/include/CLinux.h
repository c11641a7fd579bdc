// System calls that Swift cannot call itself.
#ifndef PRIVYSEAL_CLINUX_H
#define PRIVYSEAL_CLINUX_H

#include <stdint.h>

/// Identifies a file: device and inode, with its size and mode (statx(2)).
///
/// The times of the file are not read. Since Linux 6.13, reading the modification time makes the next write store it to
/// the nanosecond, and fdatasync(2) must then write the file's metadata as well as its data.
struct privyseal_file_mark {
    uint64_t device;
    uint64_t inode;
    /// In bytes.
    uint64_t size;
    uint32_t mode;
};

/// Follows symbolic links. Returns 0 or an errno.
int privyseal_mark_file(const char *_Nonnull path, struct privyseal_file_mark *_Nonnull mark);

/// The magic number of the file system (statfs(2), <linux/magic.h>). Returns 0 or an errno.
int privyseal_file_system(const char *_Nonnull path, uint32_t *_Nonnull magic);

/// prctl(2) with PR_SET_DUMPABLE: 0 disables core dumps and ptrace. Swift imports no variadic functions.
int privyseal_set_dumpable(int dumpable);

#endif
