#define _GNU_SOURCE
#include "SandboxAttempts.h"
#include "attempts.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void sandbox_allow_tracing(void) { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); }

int sandbox_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

static int set_up_io_uring(const char *unused) {
    (void)unused;
    // 120 bytes are `struct io_uring_params` (io_uring_setup(2)).
    char parameters[120] = {0};
    long ring = syscall(SYS_io_uring_setup, 1, parameters);
    if (ring < 0) return errno;
    close((int)ring);
    return 0;
}

static int allocate(const char *bytes) {
    size_t length = strtoul(bytes, NULL, 10);
    char *memory = malloc(length);
    if (!memory) return errno;
    for (size_t offset = 0; offset < length; offset += 4096) ((volatile char *)memory)[offset] = 1;
    free(memory);
    return 0;
}

static void *wait_at(void *barrier) {
    pthread_barrier_wait(barrier);
    return NULL;
}

static int start_threads(const char *argument) {
    unsigned count = (unsigned)strtoul(argument, NULL, 10), started = 0;
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_barrier_t barrier;
    if (!threads || pthread_barrier_init(&barrier, NULL, count + 1) != 0) return ENOMEM;
    int error = 0;
    while (started < count && error == 0) error = pthread_create(&threads[started++], NULL, wait_at, &barrier);
    // After an error, the started threads wait until the process ends.
    if (error) return error;
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
    free(threads);
    return 0;
}

static int call_x32(const char *unused) {
    (void)unused;
#ifdef __x86_64__
    // The kernel answers ENOSYS if it has no x32.
    return syscall(0x40000000L | SYS_getpid) > 0 || errno == ENOSYS ? 0 : errno;
#else
    return EPERM;
#endif
}

static int call_number(const char *number) {
    return syscall(strtol(number, NULL, 10), 0L, 0L, 0L, 0L, 0L, 0L) >= 0 ? 0 : errno;
}

static int remove_parent_death_signal(const char *unused) {
    (void)unused;
    return prctl(PR_SET_PDEATHSIG, 0L, 0L, 0L, 0L) == 0 ? 0 : errno;
}

static int become_dumpable(const char *unused) {
    (void)unused;
    return prctl(PR_SET_DUMPABLE, 1L, 0L, 0L, 0L) == 0 ? 0 : errno;
}

static int raise_core_limit(const char *unused) {
    (void)unused;
    struct rlimit limit = {1, 1};
    return setrlimit(RLIMIT_CORE, &limit) == 0 ? 0 : errno;
}

static int limit_parent(const char *unused) {
    (void)unused;
    struct rlimit limit;
    return prlimit(getppid(), RLIMIT_NOFILE, NULL, &limit) == 0 ? 0 : errno;
}

// No process has this ID. The filter answers before the kernel looks for the process (ESRCH).
#define NO_PROCESS INT_MAX

static int schedule_other(const char *unused) {
    (void)unused;
    struct sched_param parameter = {0};
    return sched_setscheduler(NO_PROCESS, SCHED_IDLE, &parameter) == 0 ? 0 : errno;
}

static int renice_other(const char *unused) {
    (void)unused;
    return setpriority(PRIO_PROCESS, NO_PROCESS, 19) == 0 ? 0 : errno;
}

static int bind_other(const char *unused) {
    (void)unused;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(0, &cores);
    return sched_setaffinity(NO_PROCESS, sizeof cores, &cores) == 0 ? 0 : errno;
}

static int schedule_itself(const char *unused) {
    (void)unused;
    int priority = getpriority(PRIO_PROCESS, 0);
    return setpriority(PRIO_PROCESS, 0, priority) == 0 ? 0 : errno;
}

const struct attempt setting_attempts[] = {
    {"io-uring", set_up_io_uring}, {"allocate", allocate}, {"threads", start_threads}, {"x32", call_x32},
    {"call", call_number}, {"parent-death-signal", remove_parent_death_signal}, {"dumpable", become_dumpable},
    {"raise-core-limit", raise_core_limit}, {"limit-parent", limit_parent}, {"schedule-other", schedule_other},
    {"renice-other", renice_other}, {"bind-other", bind_other}, {"schedule-itself", schedule_itself}, {NULL, NULL},
};
