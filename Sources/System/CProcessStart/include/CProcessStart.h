// Code that runs before Swift's runtime. To link the module is enough for the descriptors.
#ifndef PRIVYSEAL_CPROCESSSTART_H
#define PRIVYSEAL_CPROCESSSTART_H

/// Removes crash signal handlers. That of Swift's runtime starts a program that prints parts of this process's memory.
void privyseal_remove_crash_handlers(void);

#endif
