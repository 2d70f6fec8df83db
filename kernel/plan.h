/* What the module is made of, besides the dynamics. */
#ifndef WBC_PLAN_H
#define WBC_PLAN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

int plan_register(PyObject *module);      /* Plan: a hierarchy of dense levels */
int tick_plan_register(PyObject *module); /* TickPlan: a tick of a controller */
int poses_register(PyObject *module);     /* pose_errors: how far poses are from poses */

#endif
