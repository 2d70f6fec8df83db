/* What the module is made of. Each adds its types and functions to it; -1 with an exception set where that fails. */
#ifndef WBC_MODULE_H
#define WBC_MODULE_H

#include "interpreter.h"

int plan_register(PyObject *module);      /* Plan: a hierarchy of dense levels */
int tick_plan_register(PyObject *module); /* TickPlan: a tick of a controller */
int poses_register(PyObject *module);     /* pose_errors: how far poses are from poses */
int law_register(PyObject *module);       /* law: the right-hand side of a task with a target */
int frames_register(PyObject *module);    /* Frames, States: how frames move; the check of a state */
int filter_register(PyObject *module);    /* filter_predict, _correct, _level: where a walking robot is */
int feet_register(PyObject *module);      /* feet_seen, feet_rolled: feet as an inertial sensor sees them */
int terms_register(PyObject *module);     /* Terms: whole-body quantities out of a backend's memory */
int pairs_register(PyObject *module);     /* how the distances of pairs of solids change */
int edges_register(PyObject *module);     /* corners and crossing edges of such pairs */
int stopping_register(PyObject *module);  /* stopping_most: how hard what has a limit may be accelerated */
int tree_register(PyObject *module);      /* Tree: the dynamics of a tree of rigid parts */

#endif
