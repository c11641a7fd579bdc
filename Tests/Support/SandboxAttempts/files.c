#define _GNU_SOURCE
#include "attempts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_and_close(const char *path, int flags) {
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0) return errno;
    close(file);
    return 0;
}

static int read_file(const char *path) { return open_and_close(path, O_RDONLY); }
static int write_file(const char *path) { return open_and_close(path, O_WRONLY); }
static int create_file(const char *path) { return open_and_close(path, O_WRONLY | O_CREAT | O_EXCL); }
static int remove_file(const char *path) { return unlink(path) == 0 ? 0 : errno; }
static int truncate_file(const char *path) { return truncate(path, 0) == 0 ? 0 : errno; }

static int list_directory(const char *path) {
    DIR *directory = opendir(path);
    if (!directory) return errno;
    closedir(directory);
    return 0;
}

static int open_parent_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%d/%s", getppid(), name);
    return open_and_close(path, O_RDONLY);
}

static int with_two_paths(const char *argument, int (*call)(const char *, const char *)) {
    char paths[1024];
    snprintf(paths, sizeof paths, "%s", argument);
    char *second = strchr(paths, ':');
    if (!second) return EINVAL;
    *second++ = 0;
    return call(paths, second) == 0 ? 0 : errno;
}

static int rename_file(const char *argument) { return with_two_paths(argument, rename); }
static int link_file(const char *argument) { return with_two_paths(argument, link); }

const struct attempt file_attempts[] = {
    {"read", read_file}, {"write", write_file}, {"create", create_file}, {"remove", remove_file},
    {"truncate", truncate_file}, {"list", list_directory}, {"parent-file", open_parent_file}, {"rename", rename_file},
    {"link", link_file}, {NULL, NULL},
};
