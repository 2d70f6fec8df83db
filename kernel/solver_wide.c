/* The solver for processors with AVX2: the same code, four numbers at once. It saves a fifth to a third of the time. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tick.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(_WIN32) /* where the stack is not aligned for it */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define WIDE
#include "solver/linear.c"
#include "solver/factor.c"
#include "solver/multipliers.c"
#include "solver/guess.c"
#include "solver/search.c"
#include "solver/tick.c"

static double norm_of(const double *row, int n) { return sqrt(dot(row, row, n)); }

const Solver solver_wide = {hierarchy_solve, tick_dynamics, tick_rows, tick_answer, norm_of};

/* what comes now runs on any processor */
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

static int has_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
#define solver_wide solver_plain
static int has_wide(void) { return 0; }
#endif

static const Solver *chosen = NULL; /* once a process, before any plan is made */

const Solver *solver(void) {
    if (!chosen) chosen = has_wide() ? &solver_wide : &solver_plain;
    return chosen;
}

void solver_choose(int plain) { chosen = plain || !has_wide() ? &solver_plain : &solver_wide; }
