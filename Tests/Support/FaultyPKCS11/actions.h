#ifndef FAULTY_PKCS11_ACTIONS_H
#define FAULTY_PKCS11_ACTIONS_H

#include <stdbool.h>

// Whether a word of a rule is an action of this file, such as `segv` or `try=fork`.
bool faulty_is_action(const char *word);

// Does it, and appends a line to FAULTY_PKCS11_ATTEMPTS: the function, the word, and 0 or an errno. The line of an action
// that may not return is written first, with a minus sign as the result.
void faulty_act(const char *function, const char *word);

#endif
