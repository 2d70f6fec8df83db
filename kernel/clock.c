#define _POSIX_C_SOURCE 199309L /* for a clock that never goes back */
#include "hierarchy.h"

#include <time.h>

#ifdef _WIN32
#include <windows.h>
#endif

double now(void) {
#ifdef _WIN32
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (double)count.QuadPart / (double)frequency.QuadPart;
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}
