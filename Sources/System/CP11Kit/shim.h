// p11-kit 0.24: modules and the PKCS #11 types. CRYPTOKI_GNU stays undefined, so that structures keep
// the member names of the standard (`pValue`, `ulValueLen`).
#ifndef PRIVYSEAL_CP11KIT_SHIM_H
#define PRIVYSEAL_CP11KIT_SHIM_H

#include <p11-kit/p11-kit.h>
#include <pthread.h>

// glibc 2.30 and later. The header declares it only for _GNU_SOURCE, which Swift does not define.
extern int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *deadline);

#endif
