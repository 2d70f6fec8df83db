/* TickPlan: the rows of a controller's tasks laid out once for a set of contacts, solved tick by tick. */
#include "arrays.h"
#include "module.h"
#include "plan.h"
#include "elastic.h"

#include <math.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    Tick tick;
    Views views;
    Rows *rows;
    long long *picked; /* copies of the indices of the rows, three columns each */
} TickPlan;

#define VIEWS_A_PART 6
#define MOST_PARTS 100000
#define MOST_ROWS 10000000

static int as_int(PyObject *tuple, Py_ssize_t index, int below, const char *what) {
    PyObject *item = PyTuple_GetItem(tuple, index);
    long value = item ? PyLong_AsLong(item) : -1;
    if (!PyErr_Occurred() && (value < 0 || value >= below))
        PyErr_Format(PyExc_ValueError, "%s is %ld, expected 0 to %d", what, value, below - 1);
    return PyErr_Occurred() ? -1 : (int)value;
}

static int *actuated_of(PyObject *tuple, Py_ssize_t count, int nv) {
    int *found = PyMem_Calloc((size_t)count + 1, sizeof(int));
    for (Py_ssize_t i = 0; found && i < count; i++) {
        found[i] = as_int(tuple, i, nv, "the velocity of an actuator");
        for (Py_ssize_t j = 0; j < i && !PyErr_Occurred(); j++)
            if (found[j] == found[i]) PyErr_Format(PyExc_ValueError, "velocity %d has two actuators", found[i]);
        if (PyErr_Occurred()) {
            PyMem_Free(found);
            return NULL;
        }
    }
    return found ? found : (int *)PyErr_NoMemory();
}

static Part *parts_of(PyObject *tuple, Py_ssize_t count, int levels, int tiers, int *rows) {
    Part *found = PyMem_Calloc((size_t)count + 1, sizeof(Part));
    for (Py_ssize_t i = 0; found && i < count; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        if (!item || !PyTuple_Check(item) || PyTuple_Size(item) != 6) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a part is (level, rows, kind, kind, kind, tier + 1, or 0)");
        } else {
            found[i].level = as_int(item, 0, levels, "the level of a part");
            if (!PyErr_Occurred()) found[i].rows = as_int(item, 1, 100001, "the number of rows of a part");
            for (int b = 0; b < 3 && !PyErr_Occurred(); b++)
                found[i].kind[b] = (enum Kind)as_int(item, 2 + b, 3, "the kind of a block");
            if (!PyErr_Occurred()) found[i].tier = as_int(item, 5, tiers + 1, "the tier of a part, and one,") - 1;
            if (!PyErr_Occurred() && (*rows += found[i].rows) > MOST_ROWS)
                PyErr_Format(PyExc_ValueError, "a plan has more than %d rows", MOST_ROWS);
        }
        if (PyErr_Occurred()) {
            PyMem_Free(found);
            return NULL;
        }
    }
    return found ? found : (Part *)PyErr_NoMemory();
}

/* TickPlan(nv, nf, loops, actuated, scale, levels, parts, max_steps, rank_tolerance, tiers) */
static PyObject *new_tick_plan(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    int nv, nf, loops, levels, max_steps, tiers, rows = 0;
    double scale, rank_tolerance;
    PyObject *actuated_tuple, *parts_tuple;
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "a plan takes no keywords");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "iiiOdiOidi", &nv, &nf, &loops, &actuated_tuple, &scale, &levels, &parts_tuple,
                          &max_steps, &rank_tolerance, &tiers))
        return NULL;
    if (nv < 0 || nf < 0 || nv > 10000 || nf > 10000 || loops < 0 || loops > nf || levels < 1 || levels > 1000 || !(scale > 0.0) ||
        !(scale < INFINITY) || max_steps < 1 || tiers < 0 || tiers > 1000 || !(rank_tolerance > 0.0) || !PyTuple_Check(actuated_tuple) ||
        !PyTuple_Check(parts_tuple) || PyTuple_Size(parts_tuple) > MOST_PARTS) {
        PyErr_SetString(PyExc_ValueError, "a plan has up to 10000 accelerations and forces, 1 to 1000 levels, tuples of "
                                          "actuators and of up to 100000 parts");
        return NULL;
    }
    Py_ssize_t na = PyTuple_Size(actuated_tuple), count = PyTuple_Size(parts_tuple);
    int *actuated = actuated_of(actuated_tuple, na, nv);
    Part *parts = actuated ? parts_of(parts_tuple, count, levels, tiers, &rows) : NULL;
    TickPlan *self = parts ? (TickPlan *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0) : NULL;
    if (self) {
        self->rows = PyMem_Calloc((size_t)count + 1, sizeof(Rows));
        self->picked = PyMem_Calloc(3 * (size_t)rows + 1, sizeof(long long));
        if (!self->rows || !self->picked || !views_new(&self->views, (int)(10 + VIEWS_A_PART * count)) ||
            !tick_new(&self->tick, nv, nf, loops, (int)na, actuated, scale, levels, (int)count, parts, tiers)) {
            Py_CLEAR(self);
            PyErr_NoMemory();
        } else {
            self->tick.hierarchy.max_steps = max_steps;
            self->tick.hierarchy.rank_tolerance = rank_tolerance;
        }
    }
    PyMem_Free(actuated), PyMem_Free(parts);
    return (PyObject *)self;
}

static void free_tick_plan(PyObject *object) {
    TickPlan *self = (TickPlan *)object;
    PyTypeObject *type = Py_TYPE(object);
    tick_free(&self->tick);
    views_free(&self->views);
    PyMem_Free(self->rows), PyMem_Free(self->picked);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* the rows of a part out of (lower, upper, weights, weight, acceleration, force, torque, whose); 0 with an error set */
static int take_rows(TickPlan *self, int index, PyObject *tuple) {
    static const char *names[] = {"the acceleration block", "the force block", "the torque block"};
    const Part *part = self->tick.part + index;
    Rows *rows = self->rows + index;
    Views *v = &self->views;
    long long *picked = self->picked + 3 * (size_t)(self->tick.first_row[index] - self->tick.hierarchy.start[1]);
    int widths[3] = {self->tick.nv, self->tick.nf, self->tick.na};
    PyObject *item[7];
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 8) {
        PyErr_SetString(PyExc_TypeError, "rows are (lower, upper, weights, weight, acceleration, force, torque, whose)");
        return 0;
    }
    for (int i = 0; i < 7; i++) item[i] = PyTuple_GetItem(tuple, i);
    rows->weight = PyFloat_AsDouble(item[3]);
    if (PyErr_Occurred()) return 0;
    if (!(rows->weight >= 0.0 && rows->weight < INFINITY)) {
        PyErr_SetString(PyExc_ValueError, "a weight must be a finite number, zero or more");
        return 0;
    }
    rows->weights = NULL;
    if (!(rows->lower = doubles(v, item[0], "lower", part->rows, 0)) ||
        !(rows->upper = item[1] == item[0] ? rows->lower : doubles(v, item[1], "upper", part->rows, 0)) ||
        (item[2] != Py_None && !(rows->weights = doubles(v, item[2], "weights", part->rows, 0))))
        return 0;
    for (int b = 0; b < 3; b++) {
        Block *block = rows->block + b;
        PyObject *given = item[4 + b];
        block->kind = part->kind[b];
        if ((block->kind == NOTHING) != (given == Py_None)) {
            PyErr_Format(PyExc_ValueError, "%s is there, or not, against the plan", names[b]);
            return 0;
        }
        if (block->kind == MATRIX &&
            !(block->data = matrix(v, given, names[b], part->rows, widths[b], &block->row_step, &block->column_step)))
            return 0;
        if (block->kind == INDICES) {
            long long *copy = picked + (size_t)b * (size_t)part->rows;
            if (!copy_indices(given, names[b], part->rows, widths[b], copy)) return 0;
            block->indices = copy;
        }
    }
    return 1;
}

/* solve(M, h, J, L, bias, rows, seconds, tolerance, x, again) -> (status, steps, guesses, row at fault, greatest pull as a fraction of its bound)
   `again`: whether it is the tick of the last call once more. */
static PyObject *solve_tick(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    TickPlan *self = (TickPlan *)object;
    Tick *t = &self->tick;
    Hierarchy *all = &t->hierarchy;
    Views *v = &self->views;
    if (count != 10 || !PyTuple_Check(args[5]) || PyTuple_Size(args[5]) != t->parts) {
        PyErr_Format(PyExc_TypeError, "solve takes 10 arguments, the sixth a tuple of %d parts", t->parts);
        return NULL;
    }
    if (!views_enter(v, "a plan")) return NULL;
    double seconds = PyFloat_AsDouble(args[6]), tolerance = PyErr_Occurred() ? 0.0 : PyFloat_AsDouble(args[7]);
    int first = all->start[1], again = 0;
    ptrdiff_t row_step = 0, column_step = 0, down = 0, across = 0, loop_step = 0, loop_across = 0;
    const double *M, *h, *J, *L = NULL, *bias = NULL;
    double *x;
    PyObject *result = NULL;
    if (PyErr_Occurred()) goto done;
    if (!(M = matrix(v, args[0], "M", t->nv, t->nv, &down, &across)) || !(h = doubles(v, args[1], "h", t->nv, 0)) ||
        !(J = matrix(v, args[2], "J", t->nf, t->nv, &row_step, &column_step)) ||
        (t->loops && (!(L = matrix(v, args[3], "L", t->loops, t->nv, &loop_step, &loop_across)) ||
                      !(bias = doubles(v, args[4], "bias", t->loops, 0)))) ||
        !(x = doubles(v, args[8], "x", t->nv + t->nf + t->na, 1)) || (again = PyObject_IsTrue(args[9])) < 0)
        goto done;
    if (t->nv > 1 && !(down == t->nv && across == 1) && !(down == 1 && across == t->nv)) {
        PyErr_SetString(PyExc_ValueError, "M is not contiguous");
        goto done;
    }
    for (int i = 0; i < t->parts; i++)
        if (!take_rows(self, i, PyTuple_GetItem(args[5], i))) goto done;
    enum Status status;
    Py_BEGIN_ALLOW_THREADS
    all->deadline = seconds < INFINITY ? now() + seconds : INFINITY;
    const Solver *by = solver();
    by->dynamics(t, M, h, J, row_step, column_step);
    if (t->loops) tick_loops(t, L, loop_step, loop_across, bias);
    for (int i = 0; i < t->parts; i++) by->rows(t, i, self->rows + i);
    if (t->elastic.tiers) elastic_begin(t, again);
    status = by->solve(all);
    if (t->elastic.tiers) elastic_end(t, status);
    status = by->answer(t, status, tolerance, x);
    Py_END_ALLOW_THREADS
    result = Py_BuildValue("iiiid", (int)status, all->steps, all->guesses, all->bad_row - first, elastic_worst(t));
done:
    views_leave(v);
    return result;
}

/* lengths(l): by which the accelerations are measured, all above 0; see `tick.h` */
static PyObject *lengths_of_tick(PyObject *object, PyObject *given) {
    TickPlan *self = (TickPlan *)object;
    if (!views_enter(&self->views, "a plan")) return NULL;
    const double *lengths = doubles(&self->views, given, "lengths", self->tick.nv, 0);
    for (int i = 0; lengths && i < self->tick.nv; i++)
        if (!(lengths[i] > 0.0 && lengths[i] < INFINITY)) {
            PyErr_Format(PyExc_ValueError, "length %d is not a finite number above zero", i);
            lengths = NULL;
        }
    if (lengths) tick_lengths(&self->tick, lengths);
    views_leave(&self->views);
    if (!lengths) return NULL;
    Py_RETURN_NONE;
}

static PyObject *forget_tick(PyObject *object, PyObject *nothing) {
    (void)nothing;
    TickPlan *self = (TickPlan *)object;
    if (!views_enter(&self->views, "a plan")) return NULL;
    hierarchy_forget(&self->tick.hierarchy);
    elastic_forget(&self->tick);
    views_leave(&self->views);
    Py_RETURN_NONE;
}

static PyObject *forget_set_of_tick(PyObject *object, PyObject *nothing) {
    (void)nothing;
    TickPlan *self = (TickPlan *)object;
    if (!views_enter(&self->views, "a plan")) return NULL;
    hierarchy_forget(&self->tick.hierarchy);
    views_leave(&self->views);
    Py_RETURN_NONE;
}

/* what a hierarchy remembers, then the pulls */
static PyObject *memory_of_tick(PyObject *object, PyObject *nothing) {
    (void)nothing;
    TickPlan *self = (TickPlan *)object;
    Py_ssize_t size = 0;
    char *bytes = NULL;
    PyObject *first = memory_of_hierarchy(&self->tick.hierarchy, &self->views), *whole = NULL;
    if (!first) return NULL;
    if (PyBytes_AsStringAndSize(first, &bytes, &size) == 0 && views_enter(&self->views, "a plan")) {
        const size_t pulls = elastic_size(&self->tick);
        whole = PyBytes_FromStringAndSize(NULL, size + (Py_ssize_t)pulls);
        char *all = whole ? PyBytes_AsString(whole) : NULL;
        if (all) memcpy(all, bytes, (size_t)size), elastic_save(&self->tick, all + size);
        views_leave(&self->views);
    }
    Py_DECREF(first);
    return whole;
}

static PyObject *recall_tick(PyObject *object, PyObject *memory) {
    TickPlan *self = (TickPlan *)object;
    const Py_ssize_t pulls = (Py_ssize_t)elastic_size(&self->tick);
    Py_ssize_t size = 0;
    char *bytes = NULL;
    if (PyBytes_AsStringAndSize(memory, &bytes, &size) < 0) return NULL;
    PyObject *first = PyBytes_FromStringAndSize(bytes, size < pulls ? 0 : size - pulls);
    PyObject *done = first ? recall_hierarchy(&self->tick.hierarchy, &self->views, first) : NULL;
    Py_XDECREF(first);
    if (done && views_enter(&self->views, "a plan")) {
        elastic_load(&self->tick, bytes + size - pulls);
        views_leave(&self->views);
    } else Py_CLEAR(done);
    return done;
}

/* elastic(weights, reaches, held): of the tiers; what a bound may be missed by */
static PyObject *elastic_of_tick(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    TickPlan *self = (TickPlan *)object;
    Elastic *e = &self->tick.elastic;
    if (count != 3) {
        PyErr_Format(PyExc_TypeError, "elastic takes 3 arguments, not %zd", count);
        return NULL;
    }
    if (!views_enter(&self->views, "a plan")) return NULL;
    double held = PyFloat_AsDouble(args[2]);
    const double *weights = PyErr_Occurred() ? NULL : doubles(&self->views, args[0], "weights", e->tiers, 0);
    const double *reaches = weights ? doubles(&self->views, args[1], "reaches", e->tiers, 0) : NULL;
    int good = reaches && held >= 0.0 && held < INFINITY;
    for (int i = 0; good && i < e->tiers; i++)  good = weights[i] > 0.0 && weights[i] < INFINITY && reaches[i] > 0.0;
    if (good && e->tiers) {
        memcpy(e->weight, weights, (size_t)e->tiers * sizeof(double));
        memcpy(e->reach, reaches, (size_t)e->tiers * sizeof(double));
        e->held = held;
    } else if (!good && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "weights and reaches are numbers above zero, and what is held a finite one");
    views_leave(&self->views);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

/* pulls(rows, loads): writes what the parts' rows missed, in their order, and the pull of each tier as a fraction of its bound */
static PyObject *pulls_of_tick(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    TickPlan *self = (TickPlan *)object;
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "pulls takes 2 arguments, not %zd", count);
        return NULL;
    }
    if (!views_enter(&self->views, "a plan")) return NULL;
    double *rows = doubles(&self->views, args[0], "rows", elastic_rows(&self->tick), 1);
    double *loads = rows ? doubles(&self->views, args[1], "loads", self->tick.elastic.tiers, 1) : NULL;
    if (loads) elastic_read(&self->tick, rows, loads);
    views_leave(&self->views);
    if (!loads) return NULL;
    Py_RETURN_NONE;
}

/* adopt(rows): continues with what rows of another plan missed */
static PyObject *adopt_pulls(PyObject *object, PyObject *given) {
    TickPlan *self = (TickPlan *)object;
    if (!views_enter(&self->views, "a plan")) return NULL;
    const double *rows = doubles(&self->views, given, "rows", elastic_rows(&self->tick), 0);
    if (rows) elastic_write(&self->tick, rows);
    views_leave(&self->views);
    if (!rows) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"solve", (PyCFunction)(void (*)(void))solve_tick, METH_FASTCALL, "Solve a tick."},
    {"lengths", lengths_of_tick, METH_O, "The lengths by which accelerations that turn are measured."},
    {"elastic", (PyCFunction)(void (*)(void))elastic_of_tick, METH_FASTCALL, "How levels that yield pull."},
    {"pulls", (PyCFunction)(void (*)(void))pulls_of_tick, METH_FASTCALL, "The pulls after the last solve."},
    {"adopt", adopt_pulls, METH_O, "Continue with the pulls of another plan."},
    {"forget", forget_tick, METH_NOARGS, "Forget the last active set, and the pulls."},
    {"forget_set", forget_set_of_tick, METH_NOARGS, "Forget the last active set."},
    {"memory", memory_of_tick, METH_NOARGS, "What is remembered from solve to solve."},
    {"recall", recall_tick, METH_O, "Take up what a plan of the same sizes remembers."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, new_tick_plan}, {Py_tp_dealloc, free_tick_plan}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"wbc._kernel.TickPlan", sizeof(TickPlan), 0, Py_TPFLAGS_DEFAULT, slots};

int tick_plan_register(PyObject *module) {
    PyObject *type = PyType_FromSpec(&spec);
    if (!type) return -1;
    int failed = PyModule_AddObjectRef(module, "TickPlan", type);
    Py_DECREF(type);
    return failed;
}
