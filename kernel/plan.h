/* What both kinds of plan have: directions that yield near a singularity. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "arrays.h"
#include "hierarchy.h"

/* soften(share, level): directions below that share of their rows' size yield, from that level on */
PyObject *soften_hierarchy(Hierarchy *h, Views *views, PyObject *arguments, int levels_above);

/* the directions that yielded in the last solve: ((level, row, singular value), ...) */
PyObject *softened_directions(const Hierarchy *h, Views *views, int levels_above);

#endif
