/* The solver for any processor. */
#include "solver/linear.c"
#include "solver/factor.c"
#include "solver/multipliers.c"
#include "solver/guess.c"
#include "solver/search.c"
#include "solver/tick.c"

static double norm_of(const double *row, int n) { return sqrt(dot(row, row, n)); }

const Solver solver_plain = {hierarchy_solve, tick_dynamics, tick_rows, tick_answer, norm_of};
