#ifndef FAULTY_PKCS11_RULES_H
#define FAULTY_PKCS11_RULES_H

#include <p11-kit/pkcs11.h>
#include <stdbool.h>

// What the rules make of one call.
struct fault {
    bool has_rv, corrupt, shorten, raw_point, has_sessions, has_mechanism, nul_padding, split, has_length, read_only, exits;
    int status;
    unsigned long rv, flags, sessions, delay, mechanism, length;
    char hang[256];
    char text[64];
};

// What a rule may ask of a call besides the function's name.
struct call {
    const unsigned long *mechanism;
    const CK_ATTRIBUTE *attributes;
    unsigned long attribute_count;
    // Of the key that the call is about; NULL or empty for none.
    const char *label;
};

// Counts the call, waits as long as the rules say, and says what else is wrong with it.
struct fault faulty_enter(const char *function, const struct call *call);

// Adds a line about a call of C_Login to the file of calls.
void faulty_note_login(unsigned long user, bool has_pin, unsigned long rv);

// Whether the function list has NULL for it.
bool faulty_leaves_out(const char *function);

#endif
