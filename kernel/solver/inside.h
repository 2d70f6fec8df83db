/* What the parts of the solver know of each other. They are one compilation unit, made once for each kind of processor
   (`solver_plain.c`, `solver_wide.c`): all is static. */
#ifndef WBC_INSIDE_H
#define WBC_INSIDE_H

#include "../hierarchy.h"
#include "linear.h"

#define FEASIBILITY 1e-12 /* a row is violated beyond this share of |row| (1 + |y|) */
#define NEGLIGIBLE 3e-13  /* a residual below this share of its terms is rounding */
#define SIGNIFICANT 1e-10 /* a multiplier of the wrong sign counts beyond this share of |A_k| |residual| */
#define SETTLED 1e-9      /* one of the right sign settles its row beyond this share */
#define ACCURACY 1e-10    /* what a solved equation may be off, as a share of its terms, for an answer to be optimal */
#define EXACT 1e-8        /* and a level, as a share of what it misses */
#define CLEAR 1e-3        /* a rank is clear where no row adds less than this share of itself to those before it */
#define EVEN 1e3          /* rows whose norms differ by less are factorised as they are */


static inline double *row_of(const Hierarchy *h, double *matrix, int row) { return matrix + (size_t)row * h->ld; }

/* the reflector of a column to some rows in the coordinates w; rows, and V, are zero behind their end */
static inline void reflect(const Hierarchy *h, int column, double *const *rows, int count) {
    reflect_rows(h->V + (size_t)column * h->ld, h->tau[column], rows, count, column & ~(LANES - 1), h->ld);
}

/* factor.c */
static void factor_prefix(Hierarchy *h);
static void inner_step(Hierarchy *h, int from); /* solves the working set's equalities, from a level on: into y_new, value_new */
static void point_of(Hierarchy *h);             /* y_new = Q w */
static void values_of_rows(Hierarchy *h);       /* value_new = A y_new */
static double value_of(const Hierarchy *h, int row, const double *y);
static void form_level(Hierarchy *h, int k);
static double *prefixed_row(Hierarchy *h, int row);

/* multipliers.c */
static void find_multipliers(Hierarchy *h);
static int leaving_rows(Hierarchy *h, int careful, double settled, double significant); /* into `index`: the rows that leave the set; 0: none, y_new is optimal */
static int is_accurate(Hierarchy *h);               /* whether the levels' equations are solved as well as numbers allow */

/* guess.c */
static int guess_active_set(Hierarchy *h, int apart, const signed char *start);

/* search.c */
static void hold(Hierarchy *h, int row, int side);
static void release(Hierarchy *h, int row);

#endif
