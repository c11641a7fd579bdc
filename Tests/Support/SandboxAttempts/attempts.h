#ifndef SANDBOX_ATTEMPTS_TABLE_H
#define SANDBOX_ATTEMPTS_TABLE_H

#include <stddef.h>

// An attempt by its name. `run` gets the text after the colon, or an empty string, and returns 0 or an errno.
struct attempt {
    const char *name;
    int (*run)(const char *argument);
};

// Each array ends with an entry without a name.
extern const struct attempt file_attempts[], process_attempts[], signal_attempts[], socket_attempts[], setting_attempts[];

#endif
