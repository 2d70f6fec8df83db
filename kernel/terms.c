/* M, h and the motion of the centre of mass in one call, out of the memory that Pinocchio keeps them in. */
#include "terms.h"

#include <math.h>
#include <string.h>

#include "module.h"

/* --- passive forces ------------------------------------------------------------------------------------------ */

/* A copy of an array of that size; NULL, with an exception set, if it is none. */
static double *copy_array(PyObject *array, Py_ssize_t size, const char *name) {
    double *copy = PyMem_Malloc((size_t)(size + 1) * sizeof *copy);
    if (copy == NULL) {
        PyErr_NoMemory();
    } else if (copy_numbers(array, name, size, 1, copy) < 0) {
        PyMem_Free(copy);
        copy = NULL;
    }
    return copy;
}

static int read_springs(Passive *passive, PyObject *given, Py_ssize_t nq) {
    const size_t count = (size_t)PyTuple_Size(given);
    passive->spring_q = PyMem_Calloc(count + 1, sizeof *passive->spring_q);
    passive->spring_v = PyMem_Calloc(count + 1, sizeof *passive->spring_v);
    passive->stiffness = PyMem_Calloc(count + 1, sizeof *passive->stiffness);
    passive->rest = PyMem_Calloc(count + 1, sizeof *passive->rest);
    if (!passive->spring_q || !passive->spring_v || !passive->stiffness || !passive->rest) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t k = 0; k < count; k++) {
        PyObject *spring = PyTuple_GetItem(given, (Py_ssize_t)k);
        Py_ssize_t q, v;
        if (!PyTuple_Check(spring)) {
            PyErr_SetString(PyExc_TypeError, "a spring must be a tuple (q index, v index, stiffness, rest)");
            return -1;
        }
        if (!PyArg_ParseTuple(spring, "nndd", &q, &v, &passive->stiffness[k], &passive->rest[k])) return -1;
        if (q < 0 || q >= nq || v < 0 || v >= passive->nv) {
            PyErr_Format(PyExc_IndexError, "a spring at %zd of q and %zd of v, of sizes %zd and %zd", q, v, nq,
                         passive->nv);
            return -1;
        }
        passive->spring_q[k] = q;
        passive->spring_v[k] = v;
    }
    passive->springs = (Py_ssize_t)count;
    return 0;
}

int passive_read(Passive *passive, PyObject *given, Py_ssize_t nq, Py_ssize_t nv) {
    PyObject *damping, *friction, *speeds, *springs;
    memset(passive, 0, sizeof *passive);
    passive->nv = nv;
    if (given == Py_None) return 0;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "passive forces must be a tuple (damping, friction, speeds, springs)");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "OOOO!", &damping, &friction, &speeds, &PyTuple_Type, &springs)) return -1;
    passive->damping = copy_array(damping, nv, "the damping");
    if (passive->damping == NULL) return -1;
    passive->friction = copy_array(friction, nv, "the friction");
    if (passive->friction == NULL) return -1;
    if (view_take_vector(&passive->speed, speeds, "the speeds", nv, 0) < 0) return -1;
    return read_springs(passive, springs, nq);
}

void passive_free(Passive *passive) {
    PyMem_Free(passive->damping);
    PyMem_Free(passive->friction);
    view_release(&passive->speed);
    PyMem_Free(passive->spring_q);
    PyMem_Free(passive->spring_v);
    PyMem_Free(passive->stiffness);
    PyMem_Free(passive->rest);
}

void passive_subtract(const Passive *passive, const double *q, const double *v, double *h) {
    if (passive->damping == NULL) return;
    for (Py_ssize_t i = 0; i < passive->nv; i++) h[i] += passive->damping[i] * v[i];
    for (Py_ssize_t i = 0; i < passive->nv; i++)
        if (passive->friction[i] != 0.0) h[i] += passive->friction[i] * tanh(v[i] / view_at(&passive->speed, i, 0));
    for (Py_ssize_t k = 0; k < passive->springs; k++)
        h[passive->spring_v[k]] += passive->stiffness[k] * (q[passive->spring_q[k]] - passive->rest[k]);
}

/* --- terms --------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* of the memory that is read */
    View M, h, com, A, A_rate;
    Py_ssize_t nq, nv;
    double mass;
    Passive passive;
} Terms;

static void fill(const Terms *self, const double *q, const double *v, const Block *out) {
    const Py_ssize_t nv = self->nv;
    for (Py_ssize_t i = 0; i < nv; i++) {
        if (self->M.row == 1) /* by columns, and symmetric; the output may be a part of the same memory */
            memmove(out->M + i * nv, self->M.data + i * self->M.column, (size_t)nv * sizeof *out->M);
        else
            for (Py_ssize_t j = 0; j < nv; j++) out->M[i * nv + j] = view_at(&self->M, i, j);
        out->h[i] = view_at(&self->h, i, 0);
    }
    passive_subtract(&self->passive, q, v, out->h);
    double rate[3] = {0.0, 0.0, 0.0};
    const double per_mass = 1.0 / self->mass;
    for (Py_ssize_t j = 0; j < nv; j++)
        for (int i = 0; i < 3; i++) {
            out->J[i * nv + j] = view_at(&self->A, i, j) * per_mass;
            rate[i] += view_at(&self->A_rate, i, j) * v[j];
        }
    for (int i = 0; i < 3; i++) {
        out->com[i] = view_at(&self->com, i, 0);
        out->bias[i] = rate[i] * per_mass;
    }
}

PyDoc_STRVAR(terms_read_doc,
             "read(q, v, out): writes M (nv, nv), h (nv) and, of the centre of mass, the Jacobian (3, nv), the\n"
             "position (3) and the bias (3).");

static PyObject *terms_read(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    const Terms *self = (const Terms *)object;
    View room[3];
    Views views = {.view = room, .room = 3};
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "read needs q, v and the output");
        return NULL;
    }
    const double *q = doubles(&views, arguments[0], "q", self->nq, 0);
    const double *v = q ? doubles(&views, arguments[1], "v", self->nv, 0) : NULL;
    double *out = v ? doubles(&views, arguments[2], "the output", block_size(self->nv), 1) : NULL;
    if (out) {
        const Block block = block_at(out, self->nv);
        fill(self, q, v, &block);
    }
    views_release(&views);
    if (!out) return NULL;
    Py_RETURN_NONE;
}

static void terms_dealloc(PyObject *object) {
    Terms *self = (Terms *)object;
    PyTypeObject *type = Py_TYPE(object);
    view_release(&self->M);
    view_release(&self->h);
    view_release(&self->com);
    view_release(&self->A);
    view_release(&self->A_rate);
    passive_free(&self->passive);
    Py_XDECREF(self->owner);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(terms_doc,
             "Terms(owner, nq, mass, M, h, com, A, A_rate, passive)\n--\n\n"
             "Reads whole-body quantities out of a backend's memory.\n\n"
             "owner: kept alive as long as this is.\n"
             "M: symmetric, shape (nv, nv); h: without passive forces, shape (nv,); com: shape (3,).\n"
             "A, A_rate: of the momentum and its time derivative, linear rows first, shape (6, nv).\n"
             "passive: (damping, friction, speeds, ((q index, v index, stiffness, rest), ...)), or None; speeds may change, the rest is copied.");

static PyObject *terms_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *owner, *M, *h, *com, *A, *A_rate, *passive;
    Py_ssize_t nq;
    double mass;
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "Terms takes no arguments by keyword");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OndOOOOOO", &owner, &nq, &mass, &M, &h, &com, &A, &A_rate, &passive)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Terms *self = (Terms *)allocate(type, 0); /* all zero */
    if (self == NULL) return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->nq = nq;
    self->mass = mass;
    if (view_take(&self->h, h, "h", 0) < 0) goto failed;
    const Py_ssize_t nv = self->nv = self->h.rows;
    if (nq < 0 || nq > (1 << 20) || nv > (1 << 14)) {
        PyErr_Format(PyExc_ValueError, "nq = %zd, nv = %zd are no sizes of a robot", nq, nv);
        goto failed;
    }
    if (view_take_shaped(&self->M, M, "M", nv, nv) < 0 || view_take_shaped(&self->com, com, "com", 3, 1) < 0 ||
        view_take_shaped(&self->A, A, "A", 6, nv) < 0 || view_take_shaped(&self->A_rate, A_rate, "A_rate", 6, nv) < 0)
        goto failed;
    if (passive_read(&self->passive, passive, nq, nv) < 0) goto failed;
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyMethodDef terms_methods[] = {
    {"read", (PyCFunction)(void (*)(void))terms_read, METH_FASTCALL, terms_read_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot terms_slots[] = {
    {Py_tp_doc, (void *)terms_doc},         {Py_tp_new, (void *)terms_new},
    {Py_tp_dealloc, (void *)terms_dealloc}, {Py_tp_methods, terms_methods},
    {0, NULL},
};

static PyType_Spec terms_spec = {"wbc._kernel.Terms", sizeof(Terms), 0, Py_TPFLAGS_DEFAULT, terms_slots};

int terms_register(PyObject *module) {
    PyObject *type = PyType_FromSpec(&terms_spec);
    const int added = type == NULL ? -1 : PyModule_AddObjectRef(module, "Terms", type);
    Py_XDECREF(type);
    return added;
}
