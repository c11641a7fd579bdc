#define _GNU_SOURCE
#include "attempts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number(const char *argument) { return (int)strtol(argument, NULL, 10); }

static int signal_parent(const char *argument) { return kill(getppid(), number(argument)) == 0 ? 0 : errno; }
static int signal_group(const char *argument) { return kill(0, number(argument)) == 0 ? 0 : errno; }
static int signal_self(const char *argument) { return kill(getpid(), number(argument)) == 0 ? 0 : errno; }
static int signal_thread(const char *argument) { return pthread_kill(pthread_self(), number(argument)); }

static int signal_parent_thread(const char *argument) {
    return syscall(SYS_tgkill, getppid(), getppid(), number(argument)) == 0 ? 0 : errno;
}

static int signal_any_thread(const char *argument) {
    return syscall(SYS_tkill, getppid(), number(argument)) == 0 ? 0 : errno;
}

static int queue_signal(const char *argument) {
    siginfo_t information = {.si_signo = number(argument), .si_code = SI_QUEUE, .si_pid = getpid(), .si_uid = getuid()};
    return syscall(SYS_rt_sigqueueinfo, getppid(), number(argument), &information) == 0 ? 0 : errno;
}

static int own_descriptor(const char *unused) {
    (void)unused;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    int error = fcntl(ends[0], F_SETOWN, getppid()) == 0 ? 0 : errno;
    close(ends[0]);
    close(ends[1]);
    return error;
}

const struct attempt signal_attempts[] = {
    {"signal-parent", signal_parent}, {"signal-group", signal_group}, {"signal-self", signal_self},
    {"signal-thread", signal_thread}, {"signal-parent-thread", signal_parent_thread},
    {"signal-any-thread", signal_any_thread}, {"queue-signal", queue_signal}, {"own-descriptor", own_descriptor},
    {NULL, NULL},
};
