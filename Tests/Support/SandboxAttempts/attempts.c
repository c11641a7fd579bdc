#include "SandboxAttempts.h"
#include "attempts.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static void *run(void *attempt) { return (void *)(intptr_t)sandbox_attempt(attempt); }

static int attempt_on_thread(const char *attempt) {
    pthread_t thread;
    void *result = NULL;
    int error = pthread_create(&thread, NULL, run, (void *)attempt);
    if (error == 0) error = pthread_join(thread, &result);
    return error ? error : (int)(intptr_t)result;
}

int sandbox_attempt(const char *attempt) {
    static const struct attempt *const tables[] = {file_attempts, process_attempts, signal_attempts, socket_attempts, setting_attempts};
    const char *argument = strchr(attempt, ':');
    size_t length = argument ? (size_t)(argument - attempt) : strlen(attempt);
    argument = argument ? argument + 1 : "";
    if (length == 6 && strncmp(attempt, "thread", length) == 0) return attempt_on_thread(argument);
    for (size_t table = 0; table < sizeof tables / sizeof tables[0]; table++)
        for (const struct attempt *entry = tables[table]; entry->name; entry++)
            if (strlen(entry->name) == length && strncmp(attempt, entry->name, length) == 0) return entry->run(argument);
    return -1;
}
