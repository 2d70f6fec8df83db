#include "arrays.h"

#include <stdlib.h>
#include <string.h>

int views_new(Views *views, int room) {
    views->view = calloc((size_t)room, sizeof(Py_buffer));
    views->count = 0;
    views->room = views->view ? room : 0;
    return views->view != NULL;
}

void views_release(Views *views) {
    while (views->count) PyBuffer_Release(views->view + --views->count);
}

void views_free(Views *views) {
    views_release(views);
    free(views->view);
    views->view = NULL;
}

/* a buffer of some type and dimension; formats: the letters that are right */
static Py_buffer *open_view(Views *views, PyObject *array, const char *what, const char *formats, size_t item, int ndim,
                            int writable) {
    if (views->count == views->room) {
        PyErr_SetString(PyExc_RuntimeError, "more arrays than planned");
        return NULL;
    }
    Py_buffer *view = views->view + views->count;
    int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, view, flags) < 0) {
        PyErr_Format(PyExc_TypeError, "%s is not an array that can be used", what);
        return NULL;
    }
    views->count++;
    const char *format = view->format ? view->format : "B";
    if (*format == '<' || *format == '=') format++;
    if (view->ndim != ndim || (size_t)view->itemsize != item || !strchr(formats, format[0]) || format[1]) {
        PyErr_Format(PyExc_ValueError, "%s is of type %s with %d dimensions; expected %s with %d", what, view->format,
                     view->ndim, formats, ndim);
        return NULL;
    }
    return view;
}

static int has_size(const char *what, Py_ssize_t found, Py_ssize_t size) {
    if (size < 0 || found == size) return 1;
    PyErr_Format(PyExc_ValueError, "%s has %zd entries, expected %zd", what, found, size);
    return 0;
}

static int is_dense(const char *what, const Py_buffer *view) {
    if (view->shape[0] < 2 || view->strides[0] == view->itemsize) return 1;
    PyErr_Format(PyExc_ValueError, "%s is not contiguous", what);
    return 0;
}

double *doubles(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable) {
    Py_buffer *view = open_view(views, array, what, "d", sizeof(double), 1, writable);
    return view && has_size(what, view->shape[0], size) && is_dense(what, view) ? view->buf : NULL;
}

double *matrix(Views *views, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, ptrdiff_t *row_step,
               ptrdiff_t *column_step) {
    Py_buffer *view = open_view(views, array, what, "d", sizeof(double), 2, 0);
    if (!view) return NULL;
    if (view->shape[0] != rows || view->shape[1] != columns) {
        PyErr_Format(PyExc_ValueError, "%s has shape (%zd, %zd), expected (%zd, %zd)", what, view->shape[0],
                     view->shape[1], rows, columns);
        return NULL;
    }
    if (view->strides[0] % (Py_ssize_t)sizeof(double) || view->strides[1] % (Py_ssize_t)sizeof(double)) {
        PyErr_Format(PyExc_ValueError, "%s is not aligned", what);
        return NULL;
    }
    ptrdiff_t row = view->strides[0] / (Py_ssize_t)sizeof(double), column = view->strides[1] / (Py_ssize_t)sizeof(double);
    if (row_step) {
        *row_step = row;
        *column_step = column;
    } else if (rows * columns > 0 && !((columns == 1 || column == 1) && (rows == 1 || row == columns))) {
        PyErr_Format(PyExc_ValueError, "%s is not contiguous", what);
        return NULL;
    }
    return view->buf;
}

double *flat(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable) {
    if (views->count == views->room) {
        PyErr_SetString(PyExc_RuntimeError, "more arrays than planned");
        return NULL;
    }
    Py_buffer *view = views->view + views->count;
    if (PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)) < 0) {
        PyErr_Format(PyExc_TypeError, "%s is not a contiguous array", what);
        return NULL;
    }
    views->count++;
    if (!view->format || strcmp(view->format, "d")) {
        PyErr_Format(PyExc_ValueError, "%s is not of type d", what);
        return NULL;
    }
    return has_size(what, view->len / (Py_ssize_t)sizeof(double), size) ? view->buf : NULL;
}

const long long *indices(Views *views, PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below) {
    Py_buffer *view = open_view(views, array, what, "lq", sizeof(long long), 1, 0);
    if (!view || !has_size(what, view->shape[0], size) || !is_dense(what, view)) return NULL;
    const long long *found = view->buf;
    for (Py_ssize_t i = 0; i < view->shape[0]; i++)
        if (found[i] < 0 || found[i] >= below) {
            PyErr_Format(PyExc_IndexError, "%s has the index %lld, expected 0 to %zd", what, found[i], below - 1);
            return NULL;
        }
    return found;
}

void *bytes_of(Views *views, PyObject *array, const char *what, Py_ssize_t size) {
    Py_buffer *view = open_view(views, array, what, "b", 1, 1, 1);
    return view && has_size(what, view->shape[0], size) && is_dense(what, view) ? view->buf : NULL;
}
