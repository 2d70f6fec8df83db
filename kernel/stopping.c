/* How hard something that has a limit may be accelerated towards it: `Stopping.most`, which is its reference and tells
   what is computed. */
#include "arrays.h"
#include "module.h"
#include "taking.h"

#include <math.h>

/* what a limit is like, in the order of `Stopping` */
enum { BRAKING, GREATEST, APPROACH, OMEGA, INSIDE, PARAMETERS };

/* it comes up to its greatest speed, and to one from which it can still stop, exponentially */
static double approaching(const double *p, double way, double v, double speed, double T) {
    const double a = p[BRAKING], t = fmax(p[APPROACH], T), share = T / t, last = a * t * t;
    double reached = ((way - v * T) / t - v) / (T * (1.0 + 0.5 * share)), falls = fmin(fmax(v / t, 0.0), a);
    if (way > last) {
        const double left = way - 0.5 * last, half = v + a * (T / 2);
        reached = (sqrt(fmax(half * half - v * v + 2 * a * (left - v * T), 0.0)) - half) / T;
        falls = a * fmin(fmax(v / sqrt(2.0 * a * left), 0.0), 1.0);
    }
    return fmax(fmin(share * (speed - v) / T, share * (reached + falls) - falls), -a);
}

static double most(const double *p, double way, double v, double speed, double T) {
    const double d = fmax(way, 0.0), braking = p[BRAKING], toward = fmax(v, 0.0);
    const double a = fmax(braking, toward * toward / (2 * fmax(d, 1e-9)));
    const double half = v + a * (T / 2), left = d - v * T;
    double x = sqrt(fmax(half * half - v * v + 2 * a * left, 0.0)) - half;
    if (v + x < 0) x = fmin(-v, 2 / T * left); /* it stops or turns within the period */
    double bound = x / T;
    bound = fmin(bound, approaching(p, fmax(way - p[INSIDE], 0.0), v, speed, T));
    if (way < 0) bound = p[OMEGA] * p[OMEGA] * (way - p[INSIDE]) - 2 * p[OMEGA] * v;
    bound = fmin(bound, fmax((speed - v) / T, -braking)); /* what is too fast is slowed */
    return fmax(fmin(bound, p[GREATEST]), -p[GREATEST]);
}

/* stopping_most(parameters, way, v, speed, period, out): speeds come round again where they are fewer */
static PyObject *stopping_most(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[5];
    Views views = {.view = room, .room = 5};
    if (!enough("stopping_most", count, 6)) return NULL;
    int bad = 0;
    Py_ssize_t n = 0, speeds = 0;
    const double period = PyFloat_AsDouble(args[4]);
    if (PyErr_Occurred()) bad = 1;
    const double *parameters = numbers(&views, args[0], "parameters", PARAMETERS, 0, &bad);
    double *out = bad ? NULL : flat(&views, args[5], "out", &n, 1);
    const double *speed = out ? flat(&views, args[3], "speed", &speeds, 0) : NULL;
    if (!speed) bad = 1;
    if (!bad && n && !speeds) {
        PyErr_SetString(PyExc_ValueError, "there is no speed");
        bad = 1;
    }
    const double *way = numbers(&views, args[1], "way", n, 0, &bad), *v = numbers(&views, args[2], "v", n, 0, &bad);
    for (Py_ssize_t i = 0; !bad && i < n; i++) out[i] = most(parameters, way[i], v[i], speed[i % speeds], period);
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"stopping_most", (PyCFunction)(void (*)(void))stopping_most, METH_FASTCALL, "How hard something may be accelerated."},
    {NULL, NULL, 0, NULL}};

int stopping_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
