#define _GNU_SOURCE
#include "actions.h"
#include "SandboxAttempts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_to_null(const char *unused) {
    (void)unused;
    *(volatile char *volatile)NULL = 1;
    return 0;
}

static int abort_process(const char *unused) {
    (void)unused;
    abort();
}

static int read_beyond_file(const char *unused) {
    (void)unused;
    int file = memfd_create("FaultyPKCS11", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, 4096) != 0) return errno;
    volatile char *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED || ftruncate(file, 0) != 0) return errno;
    return memory[0];
}

static int kill_self(const char *unused) {
    (void)unused;
    return kill(getpid(), SIGKILL) == 0 ? 0 : errno;
}

static int overflow_stack(const char *unused) {
    volatile char frame[4096];
    frame[0] = (char)(unused != NULL);
    // The condition is always true, but the compiler cannot know it.
    return frame[0] >= 0 ? overflow_stack(unused) + frame[0] : 0;
}

// Blocks of this size are not in the cache of a thread, whose blocks glibc checks less (malloc(3)). Without `volatile`,
// an optimizer removes the blocks, here and in `leak`.
static int overrun_heap(const char *unused) {
    (void)unused;
    enum { SIZE = 2000 };
    char *volatile first = malloc(SIZE), *volatile second = malloc(SIZE);
    if (!first || !second) return ENOMEM;
    for (volatile size_t offset = 0; offset < SIZE + 64; offset++) first[offset] = (char)0xFF;
    free(second);
    free(first);
    return 0;
}

static int end_at_once(const char *status) { _exit((int)strtol(status, NULL, 0)); }

static int hang(const char *unused) {
    (void)unused;
    for (;;) pause();
}

static int write_to_descriptors(const char *unused) {
    (void)unused;
    static const char text[] = "FaultyPKCS11 writes to every descriptor\n";
    int error = 0;
    for (int number = 0; number < 64; number++)
        if (write(number, text, sizeof text - 1) < 0 && errno != EBADF) error = errno;
    return error;
}

static int close_descriptors(const char *unused) {
    (void)unused;
    for (int number = 3; number < 1024; number++) close(number);
    return 0;
}

static int ignore_term(const char *unused) {
    (void)unused;
    return signal(SIGTERM, SIG_IGN) == SIG_ERR ? errno : 0;
}

static int change_umask(const char *unused) {
    (void)unused;
    umask(0);
    return 0;
}

static int change_directory(const char *unused) {
    (void)unused;
    return chdir("/") == 0 ? 0 : errno;
}

static void ignore(int number) { (void)number; }

static int install_handlers(const char *unused) {
    (void)unused;
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signal(signals[i], ignore) == SIG_ERR) return errno;
    return 0;
}

static int leak(const char *megabytes) {
    unsigned long limit = *megabytes ? strtoul(megabytes, NULL, 0) : ~0ul;
    for (unsigned long count = 0; count < limit; count++) {
        char *volatile memory = malloc(1 << 20);
        if (!memory) return errno;
        memset(memory, 1, 1 << 20);
    }
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const char *argument);
    bool may_not_return;
} actions[] = {
    {"segv", write_to_null, true},
    {"abort", abort_process, true},
    {"bus", read_beyond_file, true},
    {"kill", kill_self, true},
    {"stack", overflow_stack, true},
    {"heap", overrun_heap, true},
    {"_exit", end_at_once, true},
    {"hang", hang, true},
    {"leak", leak, false},
    {"write-descriptors", write_to_descriptors, false},
    {"close-descriptors", close_descriptors, false},
    {"ignore-term", ignore_term, false},
    {"umask", change_umask, false},
    {"cwd", change_directory, false},
    {"handlers", install_handlers, false},
    {"try", sandbox_attempt, false},
};

static int index_of(const char *word) {
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strlen(actions[i].name) == length && strncmp(word, actions[i].name, length) == 0) return (int)i;
    return -1;
}

static void note(const char *function, const char *word, const char *result) {
    const char *path = getenv("FAULTY_PKCS11_ATTEMPTS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    dprintf(file, "%s %s %s\n", function, word, result);
    close(file);
}

bool faulty_is_action(const char *word) { return index_of(word) >= 0; }

void faulty_act(const char *function, const char *word) {
    int action = index_of(word);
    if (action < 0) return;
    if (actions[action].may_not_return) note(function, word, "-");
    const char *argument = strchr(word, '=');
    int error = actions[action].run(argument ? argument + 1 : "");
    char result[16];
    snprintf(result, sizeof result, "%d", error);
    note(function, word, result);
}
