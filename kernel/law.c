/* The right-hand sides of tasks that lead something to a target: what it is to accelerate by. */
#include "arrays.h"
#include "module.h"

#define MOST 10 /* arrays of a call */

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

/* law(out, acceleration, bias, rate, J, v, kd, wanted, place, kp):
   out = acceleration - bias + kd (rate - J v) + kp (wanted - place); None is zero, and of J one. */
static PyObject *law(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[MOST];
    Views views = {.view = room, .room = MOST};
    if (count != MOST) {
        PyErr_Format(PyExc_TypeError, "law takes %d arguments, not %zd", MOST, count);
        return NULL;
    }
    Py_ssize_t n = 0, nv = 0;
    double kd = 0.0, kp = 0.0;
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
    const double *kds = gain_of(&views, args[6], "kd", n, &kd, &bad);
    const double *wanted = given(&views, args[7], "wanted", n, &bad);
    const double *place = given(&views, args[8], "place", n, &bad);
    const double *kps = gain_of(&views, args[9], "kp", n, &kp, &bad);
    for (Py_ssize_t i = 0; !bad && i < n; i++) {
        double moves = J ? 0.0 : v[i], sum = acceleration ? acceleration[i] : 0.0;
        for (Py_ssize_t j = 0; J && j < nv; j++) moves += J[i * row + j * column] * v[j];
        if (bias) sum -= bias[i];
        sum += (kds ? kds[i] : kd) * ((rate ? rate[i] : 0.0) - moves);
        sum += (kps ? kps[i] : kp) * ((wanted ? wanted[i] : 0.0) - (place ? place[i] : 0.0));
        out[i] = sum;
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"law", (PyCFunction)(void (*)(void))law, METH_FASTCALL, "What leads something to a target."}, {NULL, NULL, 0, NULL}};

int law_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
