/* The right-hand sides of tasks that lead something to a target: what it is to accelerate by. */
#include "arrays.h"
#include "module.h"
#include <math.h>

#define MOST 12 /* arrays of a call */
#define UNBOUNDED 10 /* arguments of a call without a speed */

/* an array of `size` numbers; NULL, without an exception, for None */
static const double *given(Views *views, PyObject *array, const char *what, Py_ssize_t size, int *bad) {
    if (array == Py_None || *bad) return NULL;
    const double *found = doubles(views, array, what, size, 0);
    if (!found) *bad = 1;
    return found;
}

/* a gain: one number for all, or one a row */
static const double *gain_of(Views *views, PyObject *gain, const char *what, Py_ssize_t size, double *one, int *bad) {
    if (*bad || !PyFloat_Check(gain)) return given(views, gain, what, size, bad);
    *one = PyFloat_AsDouble(gain);
    return NULL;
}

/* The error of a task and its gains: an array, or one number where that is NULL. */
typedef struct {
    const double *wanted, *place, *kps, *kds;
    double kp, kd;
    double speed;            /* at which it is approached; 0 is any */
    const long long *groups; /* rows of one number are bounded together; NULL: each by itself */
    Py_ssize_t rows;
} Pull;

static inline double demand(const Pull *pull, Py_ssize_t i) {
    double error = (pull->wanted ? pull->wanted[i] : 0.0) - (pull->place ? pull->place[i] : 0.0);
    return (pull->kps ? pull->kps[i] : pull->kp) * error;
}

/* |demand / (kd speed)| of a row, squared */
static double excess(const Pull *pull, Py_ssize_t i) {
    double asked = demand(pull, i), most = (pull->kds ? pull->kds[i] : pull->kd) * pull->speed;
    return asked == 0.0 ? 0.0 : (asked / most) * (asked / most);
}

/* the demand of a row, scaled where the norm of its group is beyond kd speed */
static double bounded(const Pull *pull, Py_ssize_t i) {
    double sum = pull->groups ? 0.0 : excess(pull, i);
    for (Py_ssize_t j = 0; pull->groups && j < pull->rows; j++)
        if (pull->groups[j] == pull->groups[i]) sum += excess(pull, j);
    return sum > 1.0 ? demand(pull, i) / sqrt(sum) : demand(pull, i);
}

/* law(out, acceleration, bias, rate, J, v, kd, wanted, place, kp[, speed, groups]):
   out = acceleration - bias + kd (rate - J v) + kp (wanted - place); None is zero, and of J one.
   With a speed the last term is bounded, by rows of one group together: |kp (wanted - place) / (kd speed)| <= 1. */
static PyObject *law(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (count != UNBOUNDED && count != MOST) {
        PyErr_Format(PyExc_TypeError, "law takes %d arguments, or %d, not %zd", UNBOUNDED, MOST, count);
        return NULL;
    }
    if (count == MOST && (!PyFloat_Check(args[10]) || !(PyFloat_AsDouble(args[10]) > 0.0))) {
        PyErr_SetString(PyExc_ValueError, "speed is no number above 0");
        return NULL;
    }
    Py_ssize_t n = 0, nv = 0;
    Pull pull = {.speed = count == MOST ? PyFloat_AsDouble(args[10]) : 0.0};
    ptrdiff_t row = 0, column = 0;
    double *out = flat(&views, args[0], "out", &n, 1);
    int bad = !out;
    const double *acceleration = given(&views, args[1], "acceleration", n, &bad);
    const double *bias = given(&views, args[2], "bias", n, &bad);
    const double *rate = given(&views, args[3], "rate", n, &bad);
    const double *v = bad ? NULL : flat(&views, args[5], "v", &nv, 0), *J = NULL;
    if (!v) bad = 1;
    if (!bad && args[4] != Py_None) {
        J = matrix(&views, args[4], "J", n, nv, &row, &column);
        if (!J) bad = 1;
    } else if (!bad && nv != n) {
        PyErr_Format(PyExc_ValueError, "v has %zd numbers, not %zd", nv, n);
        bad = 1;
    }
    pull.rows = n;
    pull.kds = gain_of(&views, args[6], "kd", n, &pull.kd, &bad);
    pull.wanted = given(&views, args[7], "wanted", n, &bad);
    pull.place = given(&views, args[8], "place", n, &bad);
    pull.kps = gain_of(&views, args[9], "kp", n, &pull.kp, &bad);
    if (!bad && count == MOST && args[11] != Py_None) {
        pull.groups = integers_of(&views, args[11], "groups", n);
        if (!pull.groups) bad = 1;
    }
    for (Py_ssize_t i = 0; !bad && i < n; i++) {
        double moves = J ? 0.0 : v[i], sum = acceleration ? acceleration[i] : 0.0;
        for (Py_ssize_t j = 0; J && j < nv; j++) moves += J[i * row + j * column] * v[j];
        if (bias) sum -= bias[i];
        sum += (pull.kds ? pull.kds[i] : pull.kd) * ((rate ? rate[i] : 0.0) - moves);
        out[i] = sum + (pull.speed > 0.0 ? bounded(&pull, i) : demand(&pull, i));
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"law", (PyCFunction)(void (*)(void))law, METH_FASTCALL, "What leads something to a target."}, {NULL, NULL, 0, NULL}};

int law_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
