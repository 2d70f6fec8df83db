/* What both kinds of plan have: a memory that can be copied. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#include "arrays.h"
#include "hierarchy.h"
#include "interpreter.h"

/* what is remembered from solve to solve, as bytes: a plan of the same sizes that takes them up goes on bit for bit */
PyObject *memory_of_hierarchy(const Hierarchy *h, Views *views);
PyObject *recall_hierarchy(Hierarchy *h, Views *views, PyObject *memory);

#endif
