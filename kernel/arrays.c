#include "arrays.h"

#include <stdint.h>
#include <string.h>

/* What entries are called in the buffer protocol, how long they are, and what a message calls them. */
typedef struct {
    const char *letters;
    size_t size; /* a power of two */
    const char *name;
} Kind;

static const Kind DOUBLES = {"d", sizeof(double), "doubles"};
static const Kind INDICES = {"lq", sizeof(long long), "integers of 64 bits"};
static const Kind BYTES = {"b", 1, "signed bytes"};

/* --- one array --------------------------------------------------------------------------------------------------- */

void view_release(View *view) {
    if (view->buffer.obj != NULL) PyBuffer_Release(&view->buffer);
    view->buffer.obj = NULL;
}

static int is_of_kind(const Py_buffer *b, const Kind *kind) {
    const char *format = b->format ? b->format : "B";
    if (*format == '@' || *format == '=' || (PY_LITTLE_ENDIAN && *format == '<')) format++;
    return (size_t)b->itemsize == kind->size && *format && !format[1] && (*format == kind->letters[0] || *format == kind->letters[1]);
}

/* An array may start anywhere in memory, and step by anything: no processor has to bear that. */
static int is_aligned(const Py_buffer *b, size_t size) {
    size_t off = (size_t)(uintptr_t)b->buf;
    for (int i = 0; i < b->ndim; i++) off |= (size_t)b->strides[i];
    return !(off & (size - 1));
}

/* by a known number: a division by any other takes long */
static Py_ssize_t in_entries(Py_ssize_t bytes, const Kind *kind) {
    return kind->size == sizeof(double) ? bytes / (Py_ssize_t)sizeof(double) : bytes;
}

/* `dimensions`: the most that it may have; 0: any, of a contiguous array */
static int take(View *view, PyObject *array, const char *what, const Kind *kind, int dimensions, int writable) {
    static double nothing[1]; /* what an empty array without an address has for one */
    Py_buffer *b = &view->buffer;
    int flags = PyBUF_FORMAT | (dimensions ? PyBUF_STRIDES : PyBUF_C_CONTIGUOUS) | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(array, b, flags) < 0) {
        b->obj = NULL;
        PyErr_Format(PyExc_TypeError, "%s is not an array that can be %s", what, writable ? "written to" : "read");
        return -1;
    }
    if (!is_of_kind(b, kind) || (dimensions && (b->ndim < 1 || b->ndim > dimensions))) {
        PyErr_Format(PyExc_TypeError, "%s has entries of type '%s' and %d dimensions, expected %s and %d", what,
                     b->format ? b->format : "B", b->ndim, kind->name, dimensions ? dimensions : b->ndim);
        view_release(view);
        return -1;
    }
    if (!is_aligned(b, kind->size)) {
        PyErr_Format(PyExc_ValueError, "%s is not aligned", what);
        view_release(view);
        return -1;
    }
    view->data = b->buf ? b->buf : nothing;
    view->rows = b->ndim ? b->shape[0] : 1;
    view->row = b->ndim ? in_entries(b->strides[0], kind) : 0;
    view->columns = b->ndim == 2 ? b->shape[1] : 1;
    view->column = b->ndim == 2 ? in_entries(b->strides[1], kind) : 0;
    return 0;
}

/* a contiguous vector */
static int take_vector(View *view, PyObject *array, const char *what, const Kind *kind, Py_ssize_t size, int writable) {
    if (take(view, array, what, kind, 1, writable) < 0) return -1;
    if (view->rows != size)
        PyErr_Format(PyExc_ValueError, "%s has %zd entries, expected %zd", what, view->rows, size);
    else if (size > 1 && view->row != 1)
        PyErr_Format(PyExc_ValueError, "%s is not contiguous", what);
    else
        return 0;
    view_release(view);
    return -1;
}

int view_take(View *view, PyObject *array, const char *what, int writable) {
    return take(view, array, what, &DOUBLES, 2, writable);
}

int view_take_shaped(View *view, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns) {
    if (view_take(view, array, what, 0) < 0) return -1;
    if (view->rows == rows && view->columns == columns) return 0;
    PyErr_Format(PyExc_ValueError, "%s has shape (%zd, %zd), expected (%zd, %zd)", what, view->rows, view->columns, rows,
                 columns);
    view_release(view);
    return -1;
}

int view_take_vector(View *view, PyObject *array, const char *what, Py_ssize_t size, int writable) {
    return take_vector(view, array, what, &DOUBLES, size, writable);
}

int copy_numbers(PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, double *out) {
    View view;
    if (view_take_shaped(&view, array, what, rows, columns) < 0) return -1;
    for (Py_ssize_t i = 0; i < rows; i++)
        for (Py_ssize_t j = 0; j < columns; j++) out[i * columns + j] = view_at(&view, i, j);
    view_release(&view);
    return 0;
}

int copy_indices(PyObject *array, const char *what, Py_ssize_t size, Py_ssize_t below, long long *out) {
    View view;
    if (take_vector(&view, array, what, &INDICES, size, 0) < 0) return 0;
    memcpy(out, view.data, (size_t)size * sizeof *out);
    view_release(&view);
    for (Py_ssize_t i = 0; i < size; i++)
        if (out[i] < 0 || out[i] >= below) {
            PyErr_Format(PyExc_IndexError, "%s has the index %lld, expected 0 to %zd", what, out[i], below - 1);
            return 0;
        }
    return 1;
}

/* --- the arrays of a call ---------------------------------------------------------------------------------------- */

int views_new(Views *views, int room) {
    views->view = PyMem_Calloc((size_t)room, sizeof(View));
    views->count = views->busy = 0;
    views->room = views->view ? room : 0;
    return views->view != NULL;
}

void views_release(Views *views) {
    while (views->count) view_release(views->view + --views->count);
}

void views_free(Views *views) {
    views_release(views);
    PyMem_Free(views->view);
    views->view = NULL;
}

int views_enter(Views *views, const char *what) {
    if (views->busy) PyErr_Format(PyExc_RuntimeError, "%s is used by two threads, or by itself, at once", what);
    return !PyErr_Occurred() && (views->busy = 1);
}

void views_leave(Views *views) {
    views_release(views);
    views->busy = 0;
}

/* the view to take next; it counts once it is taken */
static View *next_view(Views *views) {
    if (views->count < views->room) return views->view + views->count;
    PyErr_SetString(PyExc_RuntimeError, "more arrays than planned");
    return NULL;
}

double *doubles(Views *views, PyObject *array, const char *what, Py_ssize_t size, int writable) {
    View *view = next_view(views);
    if (!view || take_vector(view, array, what, &DOUBLES, size, writable) < 0) return NULL;
    views->count++;
    return view->data;
}

double *matrix(Views *views, PyObject *array, const char *what, Py_ssize_t rows, Py_ssize_t columns, ptrdiff_t *row_step,
               ptrdiff_t *column_step) {
    View *view = next_view(views);
    if (!view || view_take_shaped(view, array, what, rows, columns) < 0) return NULL;
    views->count++;
    if (view->buffer.ndim != 2) {
        PyErr_Format(PyExc_ValueError, "%s is a vector, expected a matrix", what);
        return NULL;
    }
    *row_step = view->row;
    *column_step = view->column;
    return view->data;
}

double *flat(Views *views, PyObject *array, const char *what, Py_ssize_t *size, int writable) {
    View *view = next_view(views);
    if (!view || take(view, array, what, &DOUBLES, 0, writable) < 0) return NULL;
    views->count++;
    *size = view->buffer.len / (Py_ssize_t)sizeof(double);
    return view->data;
}

signed char *bytes_of(Views *views, PyObject *array, const char *what, Py_ssize_t size) {
    View *view = next_view(views);
    if (!view || take_vector(view, array, what, &BYTES, size, 1) < 0) return NULL;
    views->count++;
    return (signed char *)view->data;
}

long long *integers_of(Views *views, PyObject *array, const char *what, Py_ssize_t size) {
    View *view = next_view(views);
    if (!view || take_vector(view, array, what, &INDICES, size, 1) < 0) return NULL;
    views->count++;
    return (long long *)(void *)view->data;
}
