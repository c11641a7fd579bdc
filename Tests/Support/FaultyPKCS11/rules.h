#ifndef FAULTY_PKCS11_RULES_H
#define FAULTY_PKCS11_RULES_H

#include <p11-kit/pkcs11.h>
#include <stdbool.h>

// The combined effect of all rules that match one call.
struct fault {
    bool has_rv, corrupt, shorten, raw_point, has_sessions, has_mechanism, nul_padding, split, has_length, read_only, exits;
    int status;
    unsigned long rv, flags, sessions, delay, mechanism, length;
    char hang[256];
    char text[64];
    // Words of actions.h, in the order of the rules.
    char actions[8][256];
    int action_count;
};

// The properties of a call that a rule can match, besides the function's name.
struct call {
    const unsigned long *mechanism;
    const CK_ATTRIBUTE *attributes;
    unsigned long attribute_count;
    // CKA_LABEL of the call's key; NULL or empty for none.
    const char *label;
};

// Counts the call; prints, exits or waits as the rules say; returns the remaining effects.
struct fault faulty_enter(const char *function, const struct call *call);

// Appends a line about a C_Login call to FAULTY_PKCS11_CALLS.
void faulty_note_login(unsigned long user, bool has_pin, unsigned long rv);

// Whether a rule sets the function's pointer in the function list to NULL.
bool faulty_leaves_out(const char *function);

#endif
