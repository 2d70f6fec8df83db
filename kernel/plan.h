/* The two Python types of the kernel. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

int plan_register(PyObject *module);      /* Plan: a hierarchy of dense levels */
int tick_plan_register(PyObject *module); /* TickPlan: a tick of a controller */

#endif
