/* Levels that are strict as long as their pull is bounded: `wbc.solvers.elastic_qp` is the reference, and tells why.

   The levels from the exact ones down to the posture are tiers of one level of weighted rows. What a tier missed in the tick
   before is added to what it demands now (its multiplier), and a tier whose pull is at its bound has less weight. */
#ifndef WBC_ELASTIC_H
#define WBC_ELASTIC_H

#include "tick.h"

int elastic_new(Tick *t, int tiers); /* once all rows are laid out; 0 where memory is short */
void elastic_free(Elastic *e);
void elastic_forget(Tick *t);

/* Weighs and shifts rows that were written; `again`: for the same tick once more. */
void elastic_begin(Tick *t, int again);

/* Takes the multipliers out of the answer. */
void elastic_end(Tick *t, enum Status status);

/* By how much a bound may be missed and count as held, times the row's root. */
double elastic_tolerance(const Tick *t, int row);

/* The greatest pull of all tiers, as a fraction of its bound. */
double elastic_worst(const Tick *t);

/* What the parts' rows missed, in the order of the parts, and the pulls of the tiers as fractions of their bounds. */
int elastic_rows(const Tick *t);
void elastic_read(const Tick *t, double *rows, double *loads);
void elastic_write(Tick *t, const double *rows);

/* All that is remembered, as bytes. */
size_t elastic_size(const Tick *t);
void elastic_save(const Tick *t, char *bytes);
void elastic_load(Tick *t, const char *bytes);

#endif
