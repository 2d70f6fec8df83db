#include "taking.h"

/* an array of so many numbers; NULL, with an exception set and *bad, where it is none, or where something was bad */
double *numbers(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable, int *bad) {
    Py_ssize_t found = 0;
    double *data = *bad ? NULL : flat(views, array, what, &found, writable);
    if (data && found != size) {
        PyErr_Format(PyExc_ValueError, "%s has %zd numbers, expected %zd", what, found, size);
        data = NULL;
    }
    if (!data) *bad = 1;
    return data;
}

/* how many indices an array has */
Py_ssize_t length(PyObject *array, int *bad) {
    const Py_ssize_t found = *bad ? -1 : PyObject_Length(array);
    if (found < 0) *bad = 1;
    return *bad ? 0 : found;
}

long long *integers(Views *views, PyObject *array, const char *what, Py_ssize_t size, int *bad) {
    long long *found = *bad ? NULL : integers_of(views, array, what, size);
    if (!found) *bad = 1;
    return found;
}

long long *indices(PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below, int *bad) {
    long long *found = *bad ? NULL : PyMem_Malloc(sizeof(long long) * (size_t)(size + 1));
    if (!found && !*bad) PyErr_NoMemory();
    if (!found || !copy_indices(array, what, size, below, found)) *bad = 1;
    return found;
}

int enough(const char *name, Py_ssize_t count, Py_ssize_t wanted) {
    if (count == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, count);
    return 0;
}

/* how many solids an array of their poses has */
Py_ssize_t solids_of(Views *views, PyObject *array, const double **poses, int *bad) {
    Py_ssize_t size = 0;
    *poses = *bad ? NULL : flat(views, array, "poses", &size, 0);
    if (*poses && size % 16) PyErr_Format(PyExc_ValueError, "poses have %zd numbers, and not 16 each", size);
    if (!*poses || size % 16) *bad = 1;
    return size / 16;
}
