/* How far torques may go in a tick, and which are at the end of that: `wbc.control.steadiness` is the reference. */
#include "arrays.h"
#include "module.h"
#include "taking.h"

#include <math.h>

#define NEARLY 1e-7 /* of what a torque may change: at its bound, but for rounding */
#define ROOM 8
#define WAYS 6

/* rates_room(speed, last, most, least, effort, moves, brakes, out): by how much torques may go down and up, and their bounds;
   `last`: None where there is none yet. */
static PyObject *rates_room(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[ROOM];
    Views views = {.view = room, .room = ROOM};
    if (!enough("rates_room", count, ROOM)) return NULL;
    const double moves = PyFloat_AsDouble(args[5]), brakes = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[6]);
    if (PyErr_Occurred()) return NULL;
    int bad = 0;
    Py_ssize_t n = 0;
    const double *speed = flat(&views, args[0], "speed", &n, 0), *last = NULL;
    if (!speed) bad = 1;
    if (args[1] != Py_None) last = numbers(&views, args[1], "last", n, 0, &bad);
    const double *most = numbers(&views, args[2], "most", n, 0, &bad), *least = numbers(&views, args[3], "least", n, 0, &bad);
    const double *effort = numbers(&views, args[4], "effort", n, 0, &bad);
    double *out = numbers(&views, args[7], "out", 4 * n, 1, &bad);
    for (Py_ssize_t i = 0; !bad && i < n; i++) {
        const double from = last ? fmin(fmax(last[i], least[i]), effort[i]) : 0.0;
        const double down = most[i] * (speed[i] > moves ? brakes : 1.0), up = most[i] * (-speed[i] > moves ? brakes : 1.0);
        out[i] = down;
        out[n + i] = up;
        out[2 * n + i] = fmax(from - down, least[i]);
        out[3 * n + i] = fmin(from + up, effort[i]);
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

/* rates_ways(torque, last, down, up, most, ways): 1 where a torque rises as far as it may, -1 where it falls so far, 0 else;
   gives whether one does */
static PyObject *rates_ways(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[WAYS];
    Views views = {.view = room, .room = WAYS};
    if (!enough("rates_ways", count, WAYS)) return NULL;
    int bad = 0, any = 0;
    Py_ssize_t n = 0;
    const double *torque = flat(&views, args[0], "torque", &n, 0);
    if (!torque) bad = 1;
    const double *last = numbers(&views, args[1], "last", n, 0, &bad), *down = numbers(&views, args[2], "down", n, 0, &bad);
    const double *up = numbers(&views, args[3], "up", n, 0, &bad), *most = numbers(&views, args[4], "most", n, 0, &bad);
    double *ways = numbers(&views, args[5], "ways", n, 1, &bad);
    for (Py_ssize_t i = 0; !bad && i < n; i++) {
        const double change = torque[i] - last[i], nearly = NEARLY * most[i];
        ways[i] = most[i] > 0.0 ? (double)((up[i] - change <= nearly) - (change + down[i] <= nearly)) : 0.0;
        any |= ways[i] != 0.0;
    }
    views_release(&views);
    return bad ? NULL : PyBool_FromLong(any);
}

static PyMethodDef methods[] = {
    {"rates_room", (PyCFunction)(void (*)(void))rates_room, METH_FASTCALL, "How far torques may go in a tick."},
    {"rates_ways", (PyCFunction)(void (*)(void))rates_ways, METH_FASTCALL, "Which of them went as far as they may."},
    {NULL, NULL, 0, NULL}};

int rates_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
