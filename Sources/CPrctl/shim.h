// prctl(2). Swift does not import functions with a variable number of arguments, and this is one.
#ifndef PRIVYSEAL_CPRCTL_SHIM_H
#define PRIVYSEAL_CPRCTL_SHIM_H

#include <sys/prctl.h>

static inline int privyseal_set_dumpable(int dumpable) {
    return prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0UL, 0UL, 0UL);
}

static inline int privyseal_get_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
}

#endif
