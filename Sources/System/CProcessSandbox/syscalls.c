#define _GNU_SOURCE
#include "CProcessSandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int privyseal_prctl(int option, unsigned long value) { return prctl(option, value, 0UL, 0UL, 0UL) == 0 ? 0 : errno; }

int privyseal_limit_capabilities(uint64_t kept) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) != 0) return errno;
    bool is_limited = true;
    for (int part = 0; part < _LINUX_CAPABILITY_U32S_3; part++) {
        if (data[part].permitted & ~(uint32_t)(kept >> (32 * part))) is_limited = false;
        data[part].permitted &= (uint32_t)(kept >> (32 * part));
        data[part].effective &= data[part].permitted;
        data[part].inheritable = 0;
    }
    // A filter of the service may refuse capset(2), as systemd's @privileged does.
    return is_limited || syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

int privyseal_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0UL, LANDLOCK_CREATE_RULESET_VERSION);
    return version < 0 ? -errno : (int)version;
}

int privyseal_landlock_create(const struct privyseal_landlock_attributes *attributes) {
    long ruleset = syscall(SYS_landlock_create_ruleset, attributes, sizeof *attributes, 0U);
    return ruleset < 0 ? -errno : (int)ruleset;
}

int privyseal_landlock_allow(int ruleset, int file, uint64_t access) {
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = file};
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) == 0 ? 0 : errno;
}

int privyseal_landlock_restrict(int ruleset) {
    return syscall(SYS_landlock_restrict_self, ruleset, 0U) == 0 ? 0 : errno;
}

int privyseal_private_mounts(void) {
    if (unshare(CLONE_NEWNS) != 0) return errno;
    return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 ? 0 : errno;
}

int privyseal_cover_file(const char *path) {
    if (mount("/dev/null", path, NULL, MS_BIND, NULL) != 0) return errno;
    const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NODEV | MS_NOEXEC | MS_NOSUID;
    return mount(NULL, path, NULL, flags, NULL) == 0 ? 0 : errno;
}

int privyseal_spawn_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
