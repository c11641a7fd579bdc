// What Swift's runtime offers whoever wants to run its jobs, and what Swift itself cannot name: a function pointer that is
// asked where a job goes that belongs to no executor (swift_task_enqueueGlobal_hook in the runtime's ConcurrencyHooks.h),
// and the function that runs a job.
#ifndef PRIVYSEAL_CJOBHOOK_H
#define PRIVYSEAL_CJOBHOOK_H

#include <stdbool.h>

/// From now on `enqueue` gets each job that belongs to no executor, on the thread that made it ready; those that slept go to
/// Swift's own threads first. Call it before there are many tasks: a thread may see the change late.
///
/// Returns false, and changes nothing, when somebody else gets them already.
bool privyseal_take_jobs(void (*_Nonnull enqueue)(void *_Nonnull job));

/// Runs a job here and now, once. It may go on to other executors, where they are free, without coming back.
void privyseal_run_job(void *_Nonnull job);

#endif
