/* The dynamics of a tree of rigid parts, in one pass outwards and one inwards: what wbc/dynamics/numpy.py computes.

   Twists, their rates for v̇ = 0, screws and inertias are all in the world's axes about one common point, the origin of
   the base. A screw is fixed in the part that it moves, so its rate is V x S; what a joint adds to the rate of the
   twist of its part is V x (S v). */
#include <math.h>
#include <string.h>

#include "arrays.h"
#include "module.h"
#include "terms.h"
#include "vectors.h"

enum { REVOLUTE, PRISMATIC, TRANSLATION, SPHERICAL, KINDS };

typedef struct {
    Py_ssize_t parent, q, v; /* parent -1: the world itself */
    int kind, nv;
    double R[9], p[3], axis[3]; /* the joint in the parent's node, and the axis in the node */
    double mass, com[3], inertia[9];
} Node;

/* How a node moves: this is the layout of the rows that Python sees. */
typedef struct {
    double R[9], p[3], twist[6], rate[6];
} Motion;

enum { MOTION = sizeof(Motion) / sizeof(double) };

/* Of a node with all that it carries: mass, mass times lever, inertia about the common point; force and moment. */
typedef struct {
    double mass, moment[3], inertia[9], force[6];
} Carried;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count, nq, nv;
    Node *nodes;
    Carried *carried;
    double *armature, *M, *h, *momenta; /* (nv,), (nv, nv), (nv,), and of what a unit of each velocity moves, (nv, 6) */
    double gravity[3];
    View motion, screws, origin; /* Python's: (count, MOTION), (nv, 6), (3,) */
    int ready, whole;            /* whether there is a state, and M and h of it */
    Passive passive;
} Tree;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* --- outwards: kinematics -------------------------------------------------------------------------------------- */

/* exp(angle axis), by Rodrigues' formula. */
static void rotation_about(const double a[3], double angle, double R[9]) {
    const double c = cos(angle), s = sin(angle), d = 1.0 - c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = d * a[i] * a[j] + (i == j ? c : 0.0);
    R[1] -= s * a[2];
    R[2] += s * a[1];
    R[3] += s * a[2];
    R[5] -= s * a[0];
    R[6] -= s * a[1];
    R[7] += s * a[0];
}

/* The rotation of a unit quaternion w, x, y, z. */
static void rotation_of(const double c[4], double R[9]) {
    const double w = c[0], x = c[1], y = c[2], z = c[3];
    const double found[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                             2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                             2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, found, sizeof found);
}

static void place_node(const Node *node, const Motion *parent, const double *q, Motion *at) {
    double joint[9], turned[9], step[3] = {0.0, 0.0, 0.0}, moved[3];
    multiply(parent->R, node->R, joint);
    turn(parent->R, node->p, at->p);
    for (int i = 0; i < 3; i++) at->p[i] += parent->p[i];
    switch (node->kind) {
        case REVOLUTE:
            rotation_about(node->axis, q[0], turned);
            multiply(joint, turned, at->R);
            return;
        case SPHERICAL:
            rotation_of(q, turned);
            multiply(joint, turned, at->R);
            return;
        case PRISMATIC:
            for (int i = 0; i < 3; i++) step[i] = node->axis[i] * q[0];
            break;
        default:
            memcpy(step, q, sizeof step);
    }
    turn(joint, step, moved);
    for (int i = 0; i < 3; i++) at->p[i] += moved[i];
    memcpy(at->R, joint, sizeof joint);
}

/* The screws of a node's joint, which add to its twist, and the twist's rate. */
static void move_node(const Node *node, const double origin[3], const double *v, double *screws, Motion *at) {
    double own[6] = {0.0}, arm[3], turned[3], bent[3];
    for (int i = 0; i < 3; i++) arm[i] = at->p[i] - origin[i];
    for (int k = 0; k < node->nv; k++) {
        double *S = screws + 6 * k, axis[3];
        if (node->nv == 1)
            turn(at->R, node->axis, axis);
        else
            for (int i = 0; i < 3; i++) axis[i] = at->R[3 * i + k];
        if (node->kind == REVOLUTE || node->kind == SPHERICAL) {
            cross(arm, axis, S);
            memcpy(S + 3, axis, sizeof axis);
        } else {
            memcpy(S, axis, sizeof axis);
            memset(S + 3, 0, sizeof axis);
        }
        for (int i = 0; i < 6; i++) own[i] += S[i] * v[k];
    }
    for (int i = 0; i < 6; i++) at->twist[i] += own[i];
    const double *u = at->twist, *w = at->twist + 3;
    cross(w, own, turned);
    cross(u, own + 3, bent);
    for (int i = 0; i < 3; i++) at->rate[i] += turned[i] + bent[i];
    cross(w, own + 3, turned);
    for (int i = 0; i < 3; i++) at->rate[3 + i] += turned[i];
}

static void move_tree(Tree *self, const double *q, const double *v) {
    Motion *motion = (Motion *)self->motion.data;
    double *origin = self->origin.data;
    for (Py_ssize_t n = 1; n < self->count; n++) {
        const Node *node = &self->nodes[n];
        const Motion *parent = &motion[node->parent];
        Motion *at = &motion[n];
        place_node(node, parent, q + node->q, at);
        if (n == 1) memcpy(origin, at->p, sizeof at->p);
        memcpy(at->twist, parent->twist, sizeof at->twist);
        memcpy(at->rate, parent->rate, sizeof at->rate);
        move_node(node, origin, v + node->v, self->screws.data + 6 * node->v, at);
    }
    self->ready = 1;
    self->whole = 0;
}

/* --- inwards: M, h and momentum -------------------------------------------------------------------------------- */

/* A node's own mass and inertia about the common point, and the force and moment that its motion for v̇ = 0 needs. */
static void weigh_node(const Node *node, const Motion *at, const double origin[3], Carried *own) {
    double r[3], turned[9], I[9], Rt[9], a[3], part[3], spun[3], L[3];
    turn(at->R, node->com, r);
    for (int i = 0; i < 3; i++) r[i] += at->p[i] - origin[i];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Rt[3 * i + j] = at->R[3 * j + i];
    multiply(at->R, node->inertia, turned);
    multiply(turned, Rt, I);
    const double *w = at->twist + 3, *alpha = at->rate + 3, square = dot(r, r);
    /* the acceleration of the centre of mass */
    cross(w, r, part);
    for (int i = 0; i < 3; i++) part[i] += at->twist[i];
    cross(w, part, a);
    cross(alpha, r, part);
    for (int i = 0; i < 3; i++) own->force[i] = node->mass * (a[i] + part[i] + at->rate[i]);
    /* the rate of the angular momentum about it, and the moment about the common point */
    turn(I, w, L);
    cross(w, L, spun);
    turn(I, alpha, part);
    cross(r, own->force, a);
    for (int i = 0; i < 3; i++) own->force[3 + i] = spun[i] + part[i] + a[i];
    own->mass = node->mass;
    for (int i = 0; i < 3; i++) {
        own->moment[i] = node->mass * r[i];
        for (int j = 0; j < 3; j++)
            own->inertia[3 * i + j] = I[3 * i + j] + node->mass * ((i == j ? square : 0.0) - r[i] * r[j]);
    }
}

static void add_carried(const Carried *from, Carried *to) {
    to->mass += from->mass;
    for (int i = 0; i < 3; i++) to->moment[i] += from->moment[i];
    for (int i = 0; i < 9; i++) to->inertia[i] += from->inertia[i];
    for (int i = 0; i < 6; i++) to->force[i] += from->force[i];
}

/* The columns of M and the entries of h that belong to a node's joint. */
static void project_node(Tree *self, Py_ssize_t n) {
    const Node *node = &self->nodes[n];
    const Carried *carried = &self->carried[n];
    const Py_ssize_t nv = self->nv;
    const double *g = self->gravity, *c = carried->moment;
    double weight[6], *screws = self->screws.data;
    for (int i = 0; i < 3; i++) weight[i] = carried->mass * g[i];
    cross(c, g, weight + 3);
    for (Py_ssize_t k = node->v; k < node->v + node->nv; k++) {
        const double *S = screws + 6 * k;
        double *momentum = self->momenta + 6 * k, part[3], angular[3], force = 0.0;
        cross(S + 3, c, part);
        for (int i = 0; i < 3; i++) momentum[i] = carried->mass * S[i] + part[i];
        turn(carried->inertia, S + 3, angular);
        cross(c, S, part);
        for (int i = 0; i < 3; i++) momentum[3 + i] = angular[i] + part[i];
        for (int i = 0; i < 6; i++) force += S[i] * (carried->force[i] - weight[i]);
        self->h[k] = force;
        for (const Node *above = node; above->parent >= 0; above = &self->nodes[above->parent])
            for (Py_ssize_t j = above->v; j < above->v + above->nv; j++) {
                const double *T = screws + 6 * j;
                self->M[k * nv + j] = self->M[j * nv + k] = dot(T, momentum) + dot(T + 3, momentum + 3);
            }
        self->M[k * nv + k] += self->armature[k];
    }
}

/* M, h without passive forces, and momenta: once a state. Entries of M that are zero for any state were never set. */
static void weigh_tree(Tree *self) {
    const Motion *motion = (const Motion *)self->motion.data;
    if (self->whole) return;
    memset(&self->carried[0], 0, sizeof self->carried[0]);
    for (Py_ssize_t n = 1; n < self->count; n++)
        weigh_node(&self->nodes[n], &motion[n], self->origin.data, &self->carried[n]);
    for (Py_ssize_t n = self->count - 1; n > 0; n--) {
        project_node(self, n);
        add_carried(&self->carried[n], &self->carried[self->nodes[n].parent]);
    }
    self->whole = 1;
}

/* --- methods ---------------------------------------------------------------------------------------------------- */

static int check_ready(const Tree *self) {
    if (!self->ready) PyErr_SetString(PyExc_RuntimeError, "the tree has no state yet");
    return self->ready ? 0 : -1;
}

PyDoc_STRVAR(tree_update_doc, "update(q, v): writes how all nodes move to the arrays that the tree was made with.");

static PyObject *tree_update(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    Tree *self = (Tree *)object;
    View room[2];
    Views views = {.view = room, .room = 2};
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "update needs q and v");
        return NULL;
    }
    const double *q = doubles(&views, arguments[0], "q", self->nq, 0);
    const double *v = q ? doubles(&views, arguments[1], "v", self->nv, 0) : NULL;
    if (v) move_tree(self, q, v);
    views_release(&views);
    if (!v) return NULL;
    Py_RETURN_NONE;
}

/* M, h and the motion of the centre of mass in the state of the last update, to a block of memory. */
static void read_tree(Tree *self, const double *q, const double *v, double *out) {
    const Py_ssize_t nv = self->nv;
    weigh_tree(self);
    const Block block = block_at(out, nv);
    const Carried *all = &self->carried[0];
    memcpy(block.M, self->M, (size_t)(nv * nv) * sizeof *block.M);
    memcpy(block.h, self->h, (size_t)nv * sizeof *block.h);
    passive_subtract(&self->passive, q, v, block.h);
    for (int i = 0; i < 3; i++) {
        for (Py_ssize_t k = 0; k < nv; k++) block.J[i * nv + k] = self->momenta[6 * k + i] / all->mass;
        block.com[i] = all->moment[i] / all->mass + self->origin.data[i];
        block.bias[i] = all->force[i] / all->mass;
    }
}

PyDoc_STRVAR(tree_read_doc,
             "read(q, v, out): writes M (nv, nv), h (nv) and, of the centre of mass, the Jacobian (3, nv), the\n"
             "position (3) and the bias (3), in the state of the last update, which was q and v.");

static PyObject *tree_read(PyObject *object, PyObject *const *arguments, Py_ssize_t count) {
    Tree *self = (Tree *)object;
    View room[3];
    Views views = {.view = room, .room = 3};
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "read needs q, v and the output");
        return NULL;
    }
    if (check_ready(self) < 0) return NULL;
    const double *q = doubles(&views, arguments[0], "q", self->nq, 0);
    const double *v = q ? doubles(&views, arguments[1], "v", self->nv, 0) : NULL;
    double *out = v ? doubles(&views, arguments[2], "the output", block_size(self->nv), 1) : NULL;
    if (out) read_tree(self, q, v, out);
    views_release(&views);
    if (!out) return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(tree_momentum_doc,
             "momentum(out): writes the matrix of the momentum about the centre of mass, (6, nv), and its bias (6).");

static PyObject *tree_momentum(PyObject *object, PyObject *array) {
    Tree *self = (Tree *)object;
    const Py_ssize_t nv = self->nv;
    View out;
    if (check_ready(self) < 0 || view_take_vector(&out, array, "the output", 6 * nv + 6, 1) < 0) return NULL;
    weigh_tree(self);
    const Carried *all = &self->carried[0];
    double lever[3], moved[3];
    for (int i = 0; i < 3; i++) lever[i] = all->moment[i] / all->mass;
    for (Py_ssize_t k = 0; k < nv; k++) {
        const double *momentum = self->momenta + 6 * k;
        cross(lever, momentum, moved);
        for (int i = 0; i < 3; i++) {
            out.data[i * nv + k] = momentum[i];
            out.data[(3 + i) * nv + k] = momentum[3 + i] - moved[i];
        }
    }
    cross(lever, all->force, moved);
    for (int i = 0; i < 3; i++) {
        out.data[6 * nv + i] = all->force[i];
        out.data[6 * nv + 3 + i] = all->force[3 + i] - moved[i];
    }
    view_release(&out);
    Py_RETURN_NONE;
}

/* --- making one ------------------------------------------------------------------------------------------------- */

/* A node from (parent, kind, rotation, position, axis, q index, v index, mass, com, inertia). */
static int read_node(Node *node, PyObject *given, Py_ssize_t number, Py_ssize_t nq, Py_ssize_t nv) {
    PyObject *R, *p, *axis, *com, *inertia;
    if (!PyTuple_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a node must be a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(given, "niOOOnndOO", &node->parent, &node->kind, &R, &p, &axis, &node->q, &node->v,
                          &node->mass, &com, &inertia))
        return -1;
    if (node->parent < 0 || node->parent >= number || node->kind < 0 || node->kind >= KINDS) {
        PyErr_Format(PyExc_ValueError, "node %zd has parent %zd and kind %d", number, node->parent, node->kind);
        return -1;
    }
    node->nv = node->kind == REVOLUTE || node->kind == PRISMATIC ? 1 : 3;
    const Py_ssize_t coordinates = node->kind == SPHERICAL ? 4 : node->nv;
    if (node->q < 0 || node->q > nq - coordinates || node->v < 0 || node->v > nv - node->nv) {
        PyErr_Format(PyExc_IndexError, "node %zd stands at %zd of q and %zd of v", number, node->q, node->v);
        return -1;
    }
    return copy_numbers(R, "the rotation of a node", 3, 3, node->R) < 0 ||
                   copy_numbers(p, "the position of a node", 3, 1, node->p) < 0 ||
                   copy_numbers(axis, "the axis of a node", 3, 1, node->axis) < 0 ||
                   copy_numbers(com, "the centre of mass of a node", 3, 1, node->com) < 0 ||
                   copy_numbers(inertia, "the inertia of a node", 3, 3, node->inertia) < 0
               ? -1
               : 0;
}

static int allocate_tree(Tree *self) {
    const size_t count = (size_t)self->count, nv = (size_t)self->nv;
    self->nodes = PyMem_Calloc(count, sizeof *self->nodes);
    self->carried = PyMem_Calloc(count, sizeof *self->carried);
    self->armature = PyMem_Calloc(nv + 1, sizeof *self->armature);
    self->M = PyMem_Calloc(nv * nv + 1, sizeof *self->M);
    self->h = PyMem_Calloc(nv + 1, sizeof *self->h);
    self->momenta = PyMem_Calloc(6 * nv + 1, sizeof *self->momenta);
    if (self->nodes && self->carried && self->armature && self->M && self->h && self->momenta) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Holds the arrays that Python reads the motion from; node 0 rests at the world's origin. */
static int take_arrays(Tree *self, PyObject *motion, PyObject *screws, PyObject *origin) {
    if (view_take(&self->motion, motion, "the motion", 1) < 0 || view_take(&self->screws, screws, "the screws", 1) < 0 ||
        view_take_vector(&self->origin, origin, "the origin", 3, 1) < 0)
        return -1;
    const View *m = &self->motion, *s = &self->screws;
    if (m->rows != self->count || m->columns != MOTION || m->row != MOTION || m->column != 1 ||
        s->rows != self->nv || s->columns != 6 || (self->nv > 0 && (s->row != 6 || s->column != 1))) {
        PyErr_Format(PyExc_ValueError, "motion and screws must be contiguous, of shapes (%zd, %d) and (%zd, 6)",
                     self->count, (int)MOTION, self->nv);
        return -1;
    }
    memset(m->data, 0, (size_t)(self->count * MOTION) * sizeof *m->data);
    for (int i = 0; i < 3; i++) m->data[4 * i] = 1.0;
    return 0;
}

static void tree_dealloc(PyObject *object) {
    Tree *self = (Tree *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyMem_Free(self->nodes);
    PyMem_Free(self->carried);
    PyMem_Free(self->armature);
    PyMem_Free(self->M);
    PyMem_Free(self->h);
    PyMem_Free(self->momenta);
    view_release(&self->motion);
    view_release(&self->screws);
    view_release(&self->origin);
    passive_free(&self->passive);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(tree_doc,
             "Tree(nq, nv, nodes, armature, gravity, passive, motion, screws, origin)\n--\n\n"
             "The dynamics of a tree of rigid parts.\n\n"
             "nodes: a tuple, without the world, which is node 0: of each the parent, the kind of its joint (0 revolute,\n"
             "1 prismatic, 2 translation, 3 spherical), rotation and position of the joint in the parent, the axis, where\n"
             "it stands in q and v, mass, centre of mass and the inertia about it.\n"
             "armature: shape (nv,). gravity: shape (3,). passive: (damping, friction, speeds, springs), or None.\n"
             "motion: written by `update`: of each node, the world too, rotation, position, twist and its rate for\n"
             "v̇ = 0, about `origin`, shape (n, 24). screws: shape (nv, 6). origin: shape (3,).");

static PyObject *tree_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *nodes, *armature, *gravity, *passive, *motion, *screws, *origin;
    Py_ssize_t nq, nv;
    if (keywords != NULL && PyDict_Size(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "Tree takes no arguments by keyword");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "nnO!OOOOOO", &nq, &nv, &PyTuple_Type, &nodes, &armature, &gravity, &passive,
                          &motion, &screws, &origin))
        return NULL;
    if (nq < 0 || nv < 0 || nq > (1 << 20) || nv > (1 << 14)) {
        PyErr_Format(PyExc_ValueError, "nq = %zd, nv = %zd are no sizes of a robot", nq, nv);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Tree *self = (Tree *)allocate(type, 0); /* all zero */
    if (self == NULL) return NULL;
    self->nq = nq;
    self->nv = nv;
    self->count = 1 + PyTuple_Size(nodes);
    if (allocate_tree(self) < 0 || copy_numbers(armature, "the armature", nv, 1, self->armature) < 0 ||
        copy_numbers(gravity, "gravity", 3, 1, self->gravity) < 0 ||
        passive_read(&self->passive, passive, nq, nv) < 0 || take_arrays(self, motion, screws, origin) < 0)
        goto failed;
    self->nodes[0].parent = -1;
    for (Py_ssize_t n = 1; n < self->count; n++)
        if (read_node(&self->nodes[n], PyTuple_GetItem(nodes, n - 1), n, nq, nv) < 0) goto failed;
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

static PyMethodDef tree_methods[] = {
    {"update", (PyCFunction)(void (*)(void))tree_update, METH_FASTCALL, tree_update_doc},
    {"read", (PyCFunction)(void (*)(void))tree_read, METH_FASTCALL, tree_read_doc},
    {"momentum", tree_momentum, METH_O, tree_momentum_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tree_slots[] = {
    {Py_tp_doc, (void *)tree_doc},         {Py_tp_new, (void *)tree_new},
    {Py_tp_dealloc, (void *)tree_dealloc}, {Py_tp_methods, tree_methods},
    {0, NULL},
};

static PyType_Spec tree_spec = {"wbc._kernel.Tree", sizeof(Tree), 0, Py_TPFLAGS_DEFAULT, tree_slots};

int tree_register(PyObject *module) {
    PyObject *type = PyType_FromSpec(&tree_spec);
    const int added = type == NULL ? -1 : PyModule_AddObjectRef(module, "Tree", type);
    Py_XDECREF(type);
    return added;
}
