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
    void (*enqueue)(void *job) = __atomic_load_n(&taker, __ATOMIC_ACQUIRE);
    // A thread may see the hook before it sees the taker.
    if (enqueue == NULL) original(job); else enqueue(job);
}

bool privyseal_take_jobs(void (*enqueue)(void *job)) {
    void (*nobody)(void *job) = NULL;
    if (!__atomic_compare_exchange_n(&taker, &nobody, enqueue, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return false;
    hook_t none = NULL;
    if (__atomic_compare_exchange_n(&swift_task_enqueueGlobal_hook, &none, take, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        return true;
    }
    __atomic_store_n(&taker, NULL, __ATOMIC_RELAXED);
    return false;
}

void privyseal_run_job(void *job) {
    // The generic executor: no other says that the job may go on by itself wherever it is sent next.
    swift_job_run(job, NULL, NULL);
}
