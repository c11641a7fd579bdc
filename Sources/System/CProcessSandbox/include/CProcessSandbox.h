// The C API of libseccomp, and system calls for a sandbox that Swift cannot call itself.
#ifndef PRIVYSEAL_CPROCESSSANDBOX_H
#define PRIVYSEAL_CPROCESSSANDBOX_H

#include <seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>

// Each function returns 0 or an errno, unless its comment names another value.

/// prctl(2) with one argument. Swift imports no variadic functions.
int privyseal_prctl(int option, unsigned long value);

/// Removes all capabilities that are not in `kept` (bit n: capability n of <linux/capability.h>) from the calling
/// thread (capset(2)).
int privyseal_limit_capabilities(uint64_t kept);

/// Closes all descriptors from `first` on in the new process (posix_spawn_file_actions_addclosefrom_np).
///
/// The pointer is to a posix_spawn_file_actions_t, a type of which Swift has another declaration.
int privyseal_spawn_close_from(void *_Nonnull actions, int first);

/// Gives the calling thread a mount namespace of its own, which still gets new mounts of the system (unshare(2),
/// MS_SLAVE of mount(2)).
int privyseal_private_mounts(void);

/// Puts a device that cannot be opened over a file in the mount namespace of the calling thread (MS_BIND and MS_NODEV of
/// mount(2)).
int privyseal_cover_file(const char *_Nonnull path);

/// What a Landlock ruleset restricts: `struct landlock_ruleset_attr` of Landlock ABI 6. <linux/landlock.h> of an older
/// kernel lacks the last two members. A kernel with a lower ABI accepts them if they are 0.
struct privyseal_landlock_attributes {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

/// The Landlock ABI version of the kernel (landlock_create_ruleset(2)), or a negative errno.
int privyseal_landlock_version(void);

/// Returns a descriptor of the ruleset, or a negative errno.
int privyseal_landlock_create(const struct privyseal_landlock_attributes *_Nonnull attributes);

/// Adds a rule for the file or directory of an `O_PATH` descriptor (landlock_add_rule(2)).
int privyseal_landlock_allow(int ruleset, int file, uint64_t access);

/// Restricts the calling thread and the threads that it creates later (landlock_restrict_self(2)).
int privyseal_landlock_restrict(int ruleset);

#endif
