/* What the module is made of, besides the dynamics. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hierarchy.h"

/* soften(share, level): directions below that share of their rows' size yield, from that level on; what both types have */
PyObject *soften_hierarchy(Hierarchy *h, PyObject *arguments, int levels_above);
/* the directions that yielded in the last solve: ((level, row, singular value), ...) */
PyObject *softened_directions(const Hierarchy *h, int levels_above);

int plan_register(PyObject *module);      /* Plan: a hierarchy of dense levels */
int tick_plan_register(PyObject *module); /* TickPlan: a tick of a controller */
int poses_register(PyObject *module);     /* pose_errors: how far poses are from poses */

#endif
