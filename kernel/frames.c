/* Poses, Jacobians, biases and velocities of several frames in one call, and the check of a state.

   A backend keeps the motion of its nodes in memory that stays where it is. `Frames` takes hold of it once and reads
   it whenever it is asked. Conventions are those of the package: mixed Jacobians, classical accelerations. */
#include <math.h>
#include <string.h>

#include "arrays.h"
#include "module.h"
#include "vectors.h"

static void read_vector(const View *view, double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = view_at(view, i, 0);
}

/* --- frames -------------------------------------------------------------------------------------------------- */

enum { MOST_VELOCITIES = 1 << 14, MOST_FRAMES = 1 << 20 };

enum { POSITION, ROTATION, LINEAR, ANGULAR, LINEAR_RATE, ANGULAR_RATE, ORIGIN, VIEWS };

static const char *const NAMES[VIEWS] = {
    "the position of a node",          "the rotation of a node",           "the linear velocity of a node",
    "the angular velocity of a node",  "the linear acceleration of a node", "the angular acceleration of a node",
    "the origin of a node's twists",
};

typedef struct {
    double rotation[9], offset[3]; /* of the frame in its node */
    int moves;                     /* whether it is on a node that can move: the rest is only then there */
    View node[VIEWS];
    Py_ssize_t count;
    Py_ssize_t *columns; /* of the Jacobian: the velocities that move it */
} Frame;

typedef struct {
    PyObject_HEAD
    PyObject *owner; /* of the memory that is read */
    View J;
    int local; /* whether velocities and accelerations are in the node's own axes, there; else as J's columns are */
    Py_ssize_t nv, count;
    Frame *frames;
} Frames;

/* How a frame moves, in the world's axes. */
typedef struct {
    double R[9], p[3];
    double arm[3]; /* from the point that the Jacobian's columns are about to the frame's origin */
    double velocity[6], bias[6];
} Motion;

/* The velocity and the classical acceleration of a point at an arm from where the twist and its rate are given. */
static void move_to(const double arm[3], const double v[3], const double w[3], const double a[3], const double alpha[3],
                    double velocity[3], double acceleration[3]) {
    double turned[3], centripetal[3], tangential[3];
    cross(w, arm, turned);
    for (int i = 0; i < 3; i++) velocity[i] = v[i] + turned[i];
    cross(w, velocity, centripetal);
    cross(alpha, arm, tangential);
    for (int i = 0; i < 3; i++) acceleration[i] = a[i] + tangential[i] + centripetal[i];
}

static void frame_motion(const Frames *self, const Frame *frame, Motion *motion) {
    if (!frame->moves) {
        memset(motion, 0, sizeof *motion);
        memcpy(motion->R, frame->rotation, sizeof frame->rotation);
        memcpy(motion->p, frame->offset, sizeof frame->offset);
        return;
    }
    double W[9], at[3], origin[3], v[3], w[3], a[3], alpha[3], reach[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) W[3 * i + j] = view_at(&frame->node[ROTATION], i, j);
    read_vector(&frame->node[POSITION], at);
    read_vector(&frame->node[ORIGIN], origin);
    read_vector(&frame->node[LINEAR], v);
    read_vector(&frame->node[ANGULAR], w);
    read_vector(&frame->node[LINEAR_RATE], a);
    read_vector(&frame->node[ANGULAR_RATE], alpha);
    multiply(W, frame->rotation, motion->R);
    turn(W, frame->offset, reach);
    for (int i = 0; i < 3; i++) {
        motion->p[i] = at[i] + reach[i];
        motion->arm[i] = motion->p[i] - origin[i];
    }
    if (self->local) {
        double velocity[3], bias[3];
        move_to(frame->offset, v, w, a, alpha, velocity, bias);
        turn(W, velocity, motion->velocity);
        turn(W, w, motion->velocity + 3);
        turn(W, bias, motion->bias);
        turn(W, alpha, motion->bias + 3);
    } else {
        move_to(motion->arm, v, w, a, alpha, motion->velocity, motion->bias);
        memcpy(motion->velocity + 3, w, sizeof w);
        memcpy(motion->bias + 3, alpha, sizeof alpha);
    }
}

/* Writes the Jacobian of a frame by rows: three of them, of its origin, or all six. */
static void frame_jacobian(const Frames *self, const Frame *frame, const double arm[3], int rows, double *out) {
    const Py_ssize_t nv = self->nv, row = self->J.row;
    memset(out, 0, (size_t)(rows * nv) * sizeof *out);
    for (Py_ssize_t k = 0; k < frame->count; k++) {
        const Py_ssize_t j = frame->columns[k];
        const double *S = self->J.data + j * self->J.column;
        const double w[3] = {S[3 * row], S[4 * row], S[5 * row]};
        double turned[3];
        cross(w, arm, turned);
        for (int i = 0; i < 3; i++) out[i * nv + j] = S[i * row] + turned[i];
        if (rows == 6)
            for (int i = 0; i < 3; i++) out[(3 + i) * nv + j] = w[i];
    }
}

PyDoc_STRVAR(frames_motion_doc, "motion(out): writes J (6 n, nv), poses (n, 4, 4), biases (6 n), velocities (6 n).");

static PyObject *frames_motion(PyObject *object, PyObject *array) {
    const Frames *self = (const Frames *)object;
    View out;
    if (view_take_vector(&out, array, "the output", self->count * (6 * self->nv + 28), 1) < 0) return NULL;
    double *J = out.data, *pose = J + self->count * 6 * self->nv, *bias = pose + 16 * self->count,
           *velocity = bias + 6 * self->count;
    for (Py_ssize_t n = 0; n < self->count; n++) {
        Motion motion;
        frame_motion(self, &self->frames[n], &motion);
        frame_jacobian(self, &self->frames[n], motion.arm, 6, J + n * 6 * self->nv);
        for (int i = 0; i < 3; i++) {
            memcpy(pose + 16 * n + 4 * i, motion.R + 3 * i, 3 * sizeof *pose);
            pose[16 * n + 4 * i + 3] = motion.p[i];
        }
        for (int i = 0; i < 4; i++) pose[16 * n + 12 + i] = i == 3;
        memcpy(bias + 6 * n, motion.bias, sizeof motion.bias);
        memcpy(velocity + 6 * n, motion.velocity, sizeof motion.velocity);
    }
    view_release(&out);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(frames_points_doc, "points(out): writes J (3 n, nv), positions (3 n) and biases (3 n) of the origins.");

static PyObject *frames_points(PyObject *object, PyObject *array) {
    const Frames *self = (const Frames *)object;
    View out;
    if (view_take_vector(&out, array, "the output", self->count * (3 * self->nv + 6), 1) < 0) return NULL;
    double *J = out.data, *position = J + self->count * 3 * self->nv, *bias = position + 3 * self->count;
    for (Py_ssize_t n = 0; n < self->count; n++) {
        Motion motion;
        frame_motion(self, &self->frames[n], &motion);
        frame_jacobian(self, &self->frames[n], motion.arm, 3, J + n * 3 * self->nv);
        memcpy(position + 3 * n, motion.p, sizeof motion.p);
        memcpy(bias + 3 * n, motion.bias, 3 * sizeof *bias);
    }
    view_release(&out);
    Py_RETURN_NONE;
}

/* The pose of a frame in its node, shape (4, 4). */
static int read_pose(Frame *frame, PyObject *array) {
    double pose[16];
    if (copy_numbers(array, "the pose of a frame", 4, 4, pose) < 0) return -1;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) frame->rotation[3 * i + j] = pose[4 * i + j];
        frame->offset[i] = pose[4 * i + 3];
    }
    return 0;
}

static int read_columns(Frame *frame, PyObject *columns, Py_ssize_t nv) {
    if (!PyTuple_Check(columns)) {
        PyErr_SetString(PyExc_TypeError, "the columns of a frame must be a tuple of integers");
        return -1;
    }
    frame->count = PyTuple_Size(columns);
    frame->columns = PyMem_Malloc((size_t)(frame->count + 1) * sizeof *frame->columns);
    if (frame->columns == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < frame->count; k++) {
        const Py_ssize_t j = PyLong_AsSsize_t(PyTuple_GetItem(columns, k));
        if (j == -1 && PyErr_Occurred()) return -1;
        if (j < 0 || j >= nv) {
            PyErr_Format(PyExc_IndexError, "column %zd of a frame is not below nv = %zd", j, nv);
            return -1;
        }
        frame->columns[k] = j;
    }
    return 0;
}

/* A frame from (pose, columns, node); node is None where nothing moves it. */
static int read_frame(Frame *frame, PyObject *given, Py_ssize_t nv) {
    PyObject *pose, *columns, *node;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a frame must be a tuple (pose, columns, node)");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "OOO", &pose, &columns, &node)) return -1;
    if (read_pose(frame, pose) < 0 || read_columns(frame, columns, nv) < 0) return -1;
    if (node == Py_None) return 0;
    if (!PyTuple_Check(node) || PyTuple_Size(node) != VIEWS) {
        PyErr_Format(PyExc_TypeError, "a node must be a tuple of %d arrays", (int)VIEWS);
        return -1;
    }
    for (int i = 0; i < VIEWS; i++)
        if (view_take_shaped(&frame->node[i], PyTuple_GetItem(node, i), NAMES[i], 3, i == ROTATION ? 3 : 1) < 0)
            return -1;
    frame->moves = 1;
    return 0;
}

static void frames_dealloc(PyObject *object) {
    Frames *self = (Frames *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (Py_ssize_t n = 0; self->frames != NULL && n < self->count; n++) {
        for (int i = 0; i < VIEWS; i++) view_release(&self->frames[n].node[i]);
        PyMem_Free(self->frames[n].columns);
    }
    PyMem_Free(self->frames);
    view_release(&self->J);
    Py_XDECREF(self->owner);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(frames_doc,
             "Frames(owner, J, local, frames)\n--\n\n"
             "Reads how frames move out of a backend's memory.\n\n"
             "owner: kept alive as long as this is.\n"
             "J: the twists that a unit of each velocity gives, about a node's `origin`, world axes, shape (6, nv).\n"
             "local: whether the nodes' twists and their rates are in their own axes at their own origins; else they\n"
             "are in the world's axes at `origin`. Rates are spatial accelerations for v̇ = 0.\n"
             "frames: a tuple of (pose in the node, columns of J, node); a node is None, where nothing moves it, or\n"
             "(position, rotation, linear and angular velocity, linear and angular acceleration, origin).");

static PyObject *frames_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *owner, *J, *frames;
    int local;
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "Frames takes no arguments by keyword");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "OOpO!", &owner, &J, &local, &PyTuple_Type, &frames)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Frames *self = (Frames *)allocate(type, 0); /* all zero */
    if (self == NULL) return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->local = local;
    if (view_take(&self->J, J, "J", 0) < 0) goto failed;
    if (self->J.rows != 6 || self->J.buffer.ndim != 2) {
        PyErr_SetString(PyExc_ValueError, "J must have six rows");
        goto failed;
    }
    self->nv = self->J.columns;
    if (self->nv > MOST_VELOCITIES || PyTuple_Size(frames) > MOST_FRAMES) { /* the sizes of outputs must be numbers */
        PyErr_Format(PyExc_ValueError, "%zd frames of %zd velocities are none of a robot", PyTuple_Size(frames), self->nv);
        goto failed;
    }
    self->frames = PyMem_Calloc((size_t)PyTuple_Size(frames) + 1, sizeof *self->frames);
    if (self->frames == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    self->count = PyTuple_Size(frames);
    for (Py_ssize_t n = 0; n < self->count; n++)
        if (read_frame(&self->frames[n], PyTuple_GetItem(frames, n), self->nv) < 0) goto failed;
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyMethodDef frames_methods[] = {
    {"motion", frames_motion, METH_O, frames_motion_doc},
    {"points", frames_points, METH_O, frames_points_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot frames_slots[] = {
    {Py_tp_doc, (void *)frames_doc},         {Py_tp_new, (void *)frames_new},
    {Py_tp_dealloc, (void *)frames_dealloc}, {Py_tp_methods, frames_methods},
    {0, NULL},
};

static PyType_Spec frames_spec = {"wbc._kernel.Frames", sizeof(Frames), 0, Py_TPFLAGS_DEFAULT, frames_slots};

/* --- states -------------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    Py_ssize_t nq, nv, count;
    Py_ssize_t *quaternions; /* where each starts in q */
    double tolerance;
} States;

/* Copies a vector of that size; 0 if it is no such vector of doubles, or not finite. No exception is left. */
static int copy_checked(PyObject *array, Py_ssize_t size, double *out) {
    View view;
    if (!PyObject_CheckBuffer(array) || view_take(&view, array, "the state", 0) < 0) {
        PyErr_Clear();
        return 0;
    }
    int good = view.buffer.ndim == 1 && view.rows == size;
    double sum = 0.0;
    for (Py_ssize_t i = 0; good && i < size; i++) {
        out[i] = view.data[i * view.row];
        sum += out[i] * out[i];
    }
    view_release(&view);
    return good && isfinite(sum);
}

/* Normalises the quaternions of a configuration; 0 if one is too far from a unit quaternion for that. */
static int normalise(const States *self, double *q) {
    for (Py_ssize_t k = 0; k < self->count; k++) {
        double *c = q + self->quaternions[k];
        const double norm = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]);
        const double error = fabs(norm - 1.0);
        if (!(error <= self->tolerance)) return 0;
        if (error > 1e-15)
            for (int i = 0; i < 4; i++) c[i] /= norm;
    }
    return 1;
}

PyDoc_STRVAR(states_take_doc,
             "take(q, v, out): copies q, then v, to `out` and normalises quaternions.\n\n"
             "False where they are not two vectors of finite doubles with unit quaternions: `out` is then of no use.");

static PyObject *states_take(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    const States *self = (const States *)object;
    View out;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "take needs q, v and the output");
        return NULL;
    }
    if (view_take_vector(&out, arguments[2], "the output", self->nq + self->nv, 1) < 0) return NULL;
    const int good = copy_checked(arguments[0], self->nq, out.data) &&
                     copy_checked(arguments[1], self->nv, out.data + self->nq) && normalise(self, out.data);
    view_release(&out);
    return PyBool_FromLong(good);
}

static void states_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyMem_Free(((States *)object)->quaternions);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(states_doc,
             "States(nq, nv, quaternions, tolerance)\n--\n\n"
             "Checks and copies states.\n\n"
             "quaternions: a tuple of where they start in q.\n"
             "tolerance: how far from one the norm of a quaternion may be.");

static PyObject *states_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    Py_ssize_t nq, nv;
    PyObject *quaternions;
    double tolerance;
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "States takes no arguments by keyword");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "nnO!d", &nq, &nv, &PyTuple_Type, &quaternions, &tolerance)) return NULL;
    if (nq < 0 || nv < 0 || nq > (1 << 24) || nv > (1 << 24)) {
        PyErr_Format(PyExc_ValueError, "nq = %zd, nv = %zd are no sizes of a state", nq, nv);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    States *self = (States *)allocate(type, 0); /* all zero */
    if (self == NULL) return NULL;
    self->nq = nq;
    self->nv = nv;
    self->tolerance = tolerance;
    self->count = PyTuple_Size(quaternions);
    self->quaternions = PyMem_Malloc((size_t)(self->count + 1) * sizeof *self->quaternions);
    if (self->quaternions == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    for (Py_ssize_t k = 0; k < self->count; k++) {
        const Py_ssize_t start = PyLong_AsSsize_t(PyTuple_GetItem(quaternions, k));
        if (start == -1 && PyErr_Occurred()) goto failed;
        if (start < 0 || start > nq - 4) {
            PyErr_Format(PyExc_IndexError, "no quaternion can start at %zd of nq = %zd", start, nq);
            goto failed;
        }
        self->quaternions[k] = start;
    }
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyMethodDef states_methods[] = {
    {"take", (PyCFunction)(void (*)(void))states_take, METH_FASTCALL, states_take_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot states_slots[] = {
    {Py_tp_doc, (void *)states_doc},         {Py_tp_new, (void *)states_new},
    {Py_tp_dealloc, (void *)states_dealloc}, {Py_tp_methods, states_methods},
    {0, NULL},
};

static PyType_Spec states_spec = {"wbc._kernel.States", sizeof(States), 0, Py_TPFLAGS_DEFAULT, states_slots};

int frames_register(PyObject *module) {
    PyType_Spec *const specs[] = {&frames_spec, &states_spec};
    const char *const names[] = {"Frames", "States"};
    for (int i = 0; i < 2; i++) {
        PyObject *type = PyType_FromSpec(specs[i]);
        if (type == NULL || PyModule_AddObjectRef(module, names[i], type) < 0) {
            Py_XDECREF(type);
            return -1;
        }
        Py_DECREF(type);
    }
    return 0;
}
