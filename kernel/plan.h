/* What both kinds of plan have: directions that yield near a singularity, and a memory that can be copied. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#include "arrays.h"
#include "hierarchy.h"
#include "interpreter.h"

/* soften(share, level): directions below that share of their rows' size yield, from that level on */
PyObject *soften_hierarchy(Hierarchy *h, Views *views, PyObject *arguments, int levels_above);

/* the directions that yielded in the last solve: ((level, row, singular value), ...) */
PyObject *softened_directions(const Hierarchy *h, Views *views, int levels_above);

/* what is remembered from solve to solve, as bytes: a plan of the same sizes that takes them up goes on bit for bit */
PyObject *memory_of_hierarchy(const Hierarchy *h, Views *views);
PyObject *recall_hierarchy(Hierarchy *h, Views *views, PyObject *memory);

#endif
