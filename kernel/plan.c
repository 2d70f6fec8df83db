/* Plan: a hierarchy laid out once, of dense levels, solved as often as wanted. */
#include "arrays.h"
#include "module.h"
#include "plan.h"
#include "tick.h"

#include <math.h>
#include <string.h>

#define LARGEST_NORM 1e154 /* its square is a number */

typedef struct {
    PyObject_HEAD
    Hierarchy hierarchy;
    Views views;
} Plan;

/* the sizes of levels out of a sequence; NULL with an error set */
static int *sizes_of(PyObject *sequence, Py_ssize_t count) {
    int *sizes = PyMem_Calloc((size_t)count + 1, sizeof(int));
    for (Py_ssize_t k = 0; sizes && k < count; k++) {
        PyObject *item = PySequence_GetItem(sequence, k);
        long size = item ? PyLong_AsLong(item) : -1;
        Py_XDECREF(item);
        if (!PyErr_Occurred() && (size < 0 || size > 100000))
            PyErr_Format(PyExc_ValueError, "level %zd has %ld rows, expected 0 to 100000", k, size);
        if (PyErr_Occurred()) {
            PyMem_Free(sizes);
            return NULL;
        }
        sizes[k] = (int)size;
    }
    return sizes ? sizes : (int *)PyErr_NoMemory();
}

static PyObject *new_plan(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    int unknowns, max_steps;
    double rank_tolerance;
    PyObject *sequence;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "a plan takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "iOid", &unknowns, &sequence, &max_steps, &rank_tolerance)) return NULL;
    Py_ssize_t levels = PySequence_Size(sequence);
    if (levels < 0) return NULL;
    if (unknowns < 0 || unknowns > 20000 || levels < 1 || levels > 1000 || max_steps < 1 || !(rank_tolerance > 0.0)) {
        PyErr_SetString(PyExc_ValueError, "a plan has 0 to 20000 unknowns, 1 to 1000 levels, a step or more, a tolerance");
        return NULL;
    }
    int *sizes = sizes_of(sequence, levels);
    if (!sizes) return NULL;
    Plan *self = (Plan *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self && (!views_new(&self->views, 16) || !hierarchy_new(&self->hierarchy, unknowns, (int)levels, sizes))) {
        Py_CLEAR(self);
        PyErr_NoMemory();
    }
    PyMem_Free(sizes);
    if (!self) return NULL;
    self->hierarchy.max_steps = max_steps;
    self->hierarchy.rank_tolerance = rank_tolerance;
    return (PyObject *)self;
}

static void free_plan(PyObject *object) {
    Plan *self = (Plan *)object;
    PyTypeObject *type = Py_TYPE(object);
    hierarchy_free(&self->hierarchy);
    views_free(&self->views);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* solve(A, lower, upper, norms or None, seconds, x, value, side, ranks) -> (status, steps, guesses, bad row) */
static PyObject *solve_plan(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    Plan *self = (Plan *)object;
    Hierarchy *h = &self->hierarchy;
    Views *v = &self->views;
    if (count != 9) {
        PyErr_Format(PyExc_TypeError, "solve takes 9 arguments, not %zd", count);
        return NULL;
    }
    if (!views_enter(v, "a plan")) return NULL;
    double seconds = PyFloat_AsDouble(args[4]);
    const double *A, *lower, *upper, *norms = NULL;
    double *x, *value, *ranks;
    signed char *side;
    ptrdiff_t row_step = 0, column_step = 0;
    PyObject *result = NULL;
    if (PyErr_Occurred()) goto done;
    if (!(A = matrix(v, args[0], "A", h->rows, h->n, &row_step, &column_step)) ||
        !(lower = doubles(v, args[1], "lower", h->rows, 0)) || !(upper = doubles(v, args[2], "upper", h->rows, 0)) ||
        (args[3] != Py_None && !(norms = doubles(v, args[3], "norms", h->rows, 0))) ||
        !(x = doubles(v, args[5], "x", h->n, 1)) || !(value = doubles(v, args[6], "value", h->rows, 1)) ||
        !(side = bytes_of(v, args[7], "side", h->rows)) || !(ranks = doubles(v, args[8], "ranks", h->levels, 1)))
        goto done;
    enum Status status;
    Py_BEGIN_ALLOW_THREADS
    h->deadline = seconds < INFINITY ? now() + seconds : INFINITY;
    for (int i = 0; i < h->rows; i++) {
        double *row = h->A + (size_t)i * h->ld;
        const double *source = A + i * row_step;
        for (int j = 0; j < h->n; j++) row[j] = source[j * column_step];
        h->lower[i] = lower[i];
        h->upper[i] = upper[i];
        double norm = solver()->norm(row, h->n);
        if (norms && norm < INFINITY) norm = norms[i] >= 0.0 && norms[i] < LARGEST_NORM ? norms[i] : INFINITY;
        h->norm[i] = norm;
    }
    status = solver()->solve(h);
    memcpy(x, h->y, (size_t)h->n * sizeof(double));
    memcpy(value, h->value, (size_t)h->rows * sizeof(double));
    memcpy(side, h->side, (size_t)h->rows);
    for (int k = 0; k < h->levels; k++) ranks[k] = h->level[k].rank;
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("iiii", (int)status, h->steps, h->guesses, h->bad_row);
done:
    views_leave(v);
    return result;
}

/* multipliers(out) -> the levels that pull; a line of `out` for each of them */
static PyObject *multipliers_of(PyObject *object, PyObject *out) {
    Plan *self = (Plan *)object;
    Hierarchy *h = &self->hierarchy;
    if (!views_enter(&self->views, "a plan")) return NULL;
    double *lines = doubles(&self->views, out, "out", (Py_ssize_t)(h->levels + 1) * h->rows, 1);
    PyObject *found = lines ? PyTuple_New(h->pulls) : NULL;
    if (found) {
        memcpy(lines, h->multipliers, (size_t)h->pulls * (size_t)h->rows * sizeof(double));
        for (int p = 0; p < h->pulls; p++) PyTuple_SetItem(found, p, PyLong_FromLong(h->pulling[p]));
    }
    views_leave(&self->views);
    return found;
}

/* what is remembered: numbers, the point, the sides, and a count */
static size_t size_of_memory(const Hierarchy *h) {
    return sizeof h->lasting + sizeof h->cost + (size_t)h->n * sizeof(double) + (size_t)h->rows + 1;
}

PyObject *memory_of_hierarchy(const Hierarchy *h, Views *views) {
    size_t points = (size_t)h->n * sizeof(double), rows = (size_t)h->rows;
    if (!views_enter(views, "a plan")) return NULL;
    PyObject *memory = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size_of_memory(h));
    char *bytes = memory ? PyBytes_AsString(memory) : NULL;
    if (bytes) {
        memcpy(bytes, &h->lasting, sizeof h->lasting), bytes += sizeof h->lasting;
        memcpy(bytes, h->cost, sizeof h->cost), bytes += sizeof h->cost;
        memcpy(bytes, h->y, points), bytes += points;
        memcpy(bytes, h->side, rows);
        bytes[rows] = h->since;
    }
    views_leave(views);
    return memory;
}

PyObject *recall_hierarchy(Hierarchy *h, Views *views, PyObject *memory) {
    size_t points = (size_t)h->n * sizeof(double), rows = (size_t)h->rows;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(memory, &bytes, &size) < 0) return NULL;
    int right = size == (Py_ssize_t)size_of_memory(h);
    const signed char *side = (const signed char *)bytes + size - rows - 1;
    for (size_t i = 0; right && i < rows; i++) right = side[i] >= -1 && side[i] <= 1;
    right = right && side[rows] >= 0 && side[rows] <= AGAIN;
    if (!right) {
        PyErr_SetString(PyExc_ValueError, "this is not what a plan of these sizes remembers");
        return NULL;
    }
    if (!views_enter(views, "a plan")) return NULL;
    memcpy(&h->lasting, bytes, sizeof h->lasting), bytes += sizeof h->lasting;
    memcpy(h->cost, bytes, sizeof h->cost), bytes += sizeof h->cost;
    memcpy(h->y, bytes, points);
    memcpy(h->side, side, rows);
    h->since = side[rows];
    views_leave(views);
    Py_RETURN_NONE;
}

static PyObject *memory_of_plan(PyObject *object, PyObject *nothing) {
    (void)nothing;
    return memory_of_hierarchy(&((Plan *)object)->hierarchy, &((Plan *)object)->views);
}

static PyObject *recall_plan(PyObject *object, PyObject *memory) {
    return recall_hierarchy(&((Plan *)object)->hierarchy, &((Plan *)object)->views, memory);
}

static PyObject *forget_plan(PyObject *object, PyObject *nothing) {
    (void)nothing;
    Plan *self = (Plan *)object;
    if (!views_enter(&self->views, "a plan")) return NULL;
    hierarchy_forget(&self->hierarchy);
    views_leave(&self->views);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"solve", (PyCFunction)(void (*)(void))solve_plan, METH_FASTCALL, "Solve the levels once."},
    {"multipliers", multipliers_of, METH_O, "The multipliers of the last solve."},
    {"forget", forget_plan, METH_NOARGS, "Forget the last active set."},
    {"memory", memory_of_plan, METH_NOARGS, "What is remembered from solve to solve."},
    {"recall", recall_plan, METH_O, "Take up what a plan of the same sizes remembers."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, new_plan}, {Py_tp_dealloc, free_plan}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"wbc._kernel.Plan", sizeof(Plan), 0, Py_TPFLAGS_DEFAULT, slots};

int plan_register(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    if (!type) return -1;
    int failed = PyModule_AddObjectRef(module, "Plan", type);
    Py_DECREF(type);
    return failed;
}
