#define _GNU_SOURCE
#include "CProcessStart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>

// Gives each closed standard stream a descriptor. Otherwise the next opened file, such as the event queue of Swift's
// runtime, would get its number and receive the output for that stream.
//
// Reading from standard input fails, and so does writing to the other two, as if they were closed. Priority 101 is the
// first that programs may use: the function runs before the constructors of other objects in this program.
__attribute__((constructor(101))) static void open_standard_streams(void) {
    for (int number = 0; number <= 2; number++) {
        if (fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
        // open(2) returns the lowest free number, which is this one.
        (void)open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
    }
}

void privyseal_remove_crash_handlers(void) {
    static const int signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT};
    for (size_t index = 0; index < sizeof signals / sizeof signals[0]; index++) {
        struct sigaction action;
        if (sigaction(signals[index], NULL, &action) != 0) continue;
        // A signal that was ignored at process start stays ignored.
        if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) continue;
        signal(signals[index], SIG_DFL);
    }
}
