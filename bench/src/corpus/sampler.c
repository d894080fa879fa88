// Linked into a program that is to be sampled: writes where it is, and who called, each time that it has taken another tick of processor time.
// A sample is its number of frames and these, innermost first, as offsets in the program, in words of 64 bits.
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

// This function and the return from the signal come first.
enum { OWN = 2, MOST = 64 };

static int samples = -1;
static uintptr_t program;

static void sample(int signal) {
    (void)signal;
    int before = errno;
    void *frames[OWN + MOST];
    uint64_t words[1 + MOST];
    int count = backtrace(frames, OWN + MOST) - OWN;
    if (count > 0) {
        words[0] = (uint64_t)count;
        for (int i = 0; i < count; i++)
            words[1 + i] = (uintptr_t)frames[OWN + i] - program;
        // What the disk does not take is missing at the end, which the reader sees.
        if (write(samples, words, (1 + (size_t)count) * sizeof(uint64_t)) < 0)
            samples = -1;
    }
    errno = before;
}

static int first(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    *(uintptr_t *)data = info->dlpi_addr;
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("LOOPTREE_SAMPLES");
    if (!name)
        return;
    int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    // Programs count on the numbers of the files that they open.
    samples = fcntl(file, F_DUPFD_CLOEXEC, 500);
    close(file);
    if (samples < 0)
        _exit(125);
    dl_iterate_phdr(first, &program);
    // The first call loads the unwinder, which a signal must not.
    void *frames[1];
    backtrace(frames, 1);
    struct sigaction action = {0};
    action.sa_handler = sample;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    // As often as the system's clock ticks.
    struct itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &often, NULL);
}

__attribute__((destructor)) static void end(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
}
