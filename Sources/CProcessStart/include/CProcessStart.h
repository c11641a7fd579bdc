// What a process does before Swift's runtime does anything. Linking the module is enough for the descriptors.
#ifndef PRIVYSEAL_CPROCESSSTART_H
#define PRIVYSEAL_CPROCESSSTART_H

/// Takes away the handlers of signals that a crash raises. Swift's runtime has one that starts a program which reads the memory
/// of this process and prints parts of it.
void privyseal_remove_crash_handlers(void);

#endif
