// Attempts to do what a sandbox refuses. For tests only.
//
// An attempt is a name, or a name and an argument after a colon. The parent is the process of getppid(2).
//
//   socket:DOMAIN          create a socket: inet, inet6, unix, netlink or packet
//   socketpair:DOMAIN
//   connect-unix:PATH      connect to a Unix socket; `@` as the first byte stands for the NUL of an abstract name
//   bind-tcp               bind the TCP socket of sandbox_prepare_attempts
//   connect-tcp            connect the TCP socket of sandbox_prepare_attempts
//   trace-parent           attach to the parent with ptrace(2), and detach
//   read-memory            read from the parent's memory, at the address in SANDBOX_ATTEMPTS_ADDRESS
//   write-memory           write there
//   parent-file:NAME       open /proc/PARENT/NAME
//   read:PATH  write:PATH  create:PATH  remove:PATH  list:PATH  truncate:PATH
//   rename:PATH:PATH       rename the first path to the second one
//   link:PATH:PATH         make a hard link of the first path
//   execute                replace this process by a shell that prints an answer
//   shell                  start a shell with posix_spawn(3)
//   fork  vfork  clone  clone3
//   fork:SECONDS           leave a child process that lives that long
//   signal-parent:NUMBER   kill(2); also with the names signal-parent-thread (tgkill), signal-any-thread (tkill) and
//                          queue-signal (rt_sigqueueinfo)
//   own-descriptor         make the parent the receiver of a descriptor's signals (fcntl(2), F_SETOWN)
//   signal-group:NUMBER    kill(0, NUMBER)
//   signal-self:NUMBER     kill(2) with the own process ID
//   signal-thread:NUMBER   pthread_kill(3) to the calling thread
//   io-uring               io_uring_setup(2)
//   allocate:BYTES         allocate and write memory, and free it
//   threads:NUMBER         start and join threads that exist at the same time
//   x32                    getpid(2) of the x32 architecture
//   call:NUMBER            a system call with six arguments 0
//   stay-alive:SECONDS     sleep
//   parent-death-signal    prctl(2) with PR_SET_PDEATHSIG 0
//   dumpable               prctl(2) with PR_SET_DUMPABLE 1
//   raise-core-limit       setrlimit(2) with RLIMIT_CORE 1
//   limit-parent           prlimit(2) of the parent
//   thread:ATTEMPT         make an attempt on a new thread
#ifndef SANDBOX_ATTEMPTS_H
#define SANDBOX_ATTEMPTS_H

/// Creates what the attempts need from before the sandbox.
void sandbox_prepare_attempts(void);

/// Lets every process trace this one, where the kernel has Yama (prctl(2), PR_SET_PTRACER).
void sandbox_allow_tracing(void);

/// PR_GET_DUMPABLE (prctl(2)).
int sandbox_is_dumpable(void);

/// Returns 0 if the attempt succeeded, and otherwise an errno; -1 if there is no such attempt.
int sandbox_attempt(const char *_Nonnull attempt);

#endif
