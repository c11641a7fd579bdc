#include "CJobHook.h"

#include <stddef.h>

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*original_t)(void *job);
typedef SWIFT void (*hook_t)(void *job, original_t original);

// Both of libswift_Concurrency.
extern hook_t swift_task_enqueueGlobal_hook;
// A serial executor is two words.
extern SWIFT void swift_job_run(void *job, void *identity, void *implementation);

static void (*taker)(void *job);

static SWIFT void take(void *job, original_t original) {
    (void)original;
    taker(job);
}

bool privyseal_take_jobs(void (*enqueue)(void *job)) {
    hook_t none = NULL;
    taker = enqueue;
    return __atomic_compare_exchange_n(&swift_task_enqueueGlobal_hook, &none, take, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void privyseal_run_job(void *job) {
    // The generic executor: no other says that the job may go on by itself wherever it is sent next.
    swift_job_run(job, NULL, NULL);
}
