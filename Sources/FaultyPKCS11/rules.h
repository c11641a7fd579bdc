#ifndef FAULTY_PKCS11_RULES_H
#define FAULTY_PKCS11_RULES_H

#include <stdbool.h>

// What the rules make of one call.
struct fault {
    bool has_rv, corrupt, shorten, raw_point, has_sessions;
    unsigned long rv, flags, sessions, delay;
    char hang[256];
};

// Counts the call, waits as long as the rules say, and says what else is wrong with it.
struct fault faulty_enter(const char *function);

#endif
