/* Corners and crossing edges of solids that lie nearly flat on each other: the geometry of wbc/collision/corners.py and
   features.py, which are its reference and tell what is computed. */
#include "arrays.h"
#include "module.h"
#include "taking.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

enum { BOX = 1, CAPSULE, CYLINDER, CONVEX }; /* kinds with corners, as features.py numbers them */
#define CORNERS 4                            /* of a face, at most */
#define KEYS 10                              /* MOST of corners.py */
#define CROSSINGS 16
#define ACROSS (CORNERS * CORNERS) /* crossings of two faces, at most */

typedef struct {
    int kind;
    double size[3];
    const double *points; /* of a hull */
    Py_ssize_t count;
} Shape;

/* the corners of a shape that face a direction */
typedef struct {
    double points[CORNERS][3];
    long long keys[CORNERS];
    int near[CORNERS], count;
    double radius;
} Face;

static void put(Face *f, double x, double y, double z, long long key) {
    const double point[3] = {x, y, z};
    memcpy(f->points[f->count], point, sizeof point);
    f->keys[f->count++] = key;
}

static void box(const Shape *shape, const double n[3], Face *f) {
    int axis = 0, found[4], count = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(n[i]) > fabs(n[axis])) axis = i;
    for (int corner = 0; corner < 8; corner++)
        if (((corner >> (2 - axis)) & 1) == (n[axis] > 0.0)) found[count++] = corner;
    for (int i = 0; i < 4; i++) {
        const int corner = found[i < 2 ? i : 5 - i]; /* round the face */
        const double *s = shape->size;
        put(f, corner & 4 ? s[0] / 2 : -s[0] / 2, corner & 2 ? s[1] / 2 : -s[1] / 2, corner & 1 ? s[2] / 2 : -s[2] / 2,
            corner);
    }
}

static void cylinder(const Shape *shape, const double n[3], Face *f) {
    const double radius = shape->size[0], half = shape->size[1] / 2;
    if (fabs(n[2]) > 0.7) {
        const int top = n[2] > 0.0;
        const double z = top ? half : -half;
        put(f, radius, 0.0, z, top ? 4 : 0);
        put(f, 0.0, radius, z, top ? 5 : 1);
        put(f, -radius, 0.0, z, top ? 6 : 2);
        put(f, 0.0, -radius, z, top ? 7 : 3);
    } else {
        const double size = sqrt(n[0] * n[0] + n[1] * n[1]), x = n[0] / size * radius, y = n[1] / size * radius;
        put(f, x, y, -half, 8);
        put(f, x, y, half, 9);
    }
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* of a hull: of the corners within the band, those that are outermost in four directions, in order round the normal */
static void hull(const Shape *shape, const double n[3], double band, Face *f) {
    double top = -INFINITY, x[3], y[3], best[4];
    Py_ssize_t picked[4];
    int axis = 0;
    for (Py_ssize_t k = 0; k < shape->count; k++) top = fmax(top, dot(shape->points + 3 * k, n));
    for (int i = 1; i < 3; i++)
        if (fabs(n[i]) < fabs(n[axis])) axis = i;
    const double unit[3] = {axis == 0, axis == 1, axis == 2};
    cross(n, unit, x);
    const double size = sqrt(dot(x, x));
    for (int i = 0; i < 3; i++) x[i] /= size;
    cross(n, x, y);
    for (int way = 0; way < 4; way++) best[way] = -INFINITY, picked[way] = -1;
    for (Py_ssize_t k = 0; k < shape->count; k++) {
        const double *p = shape->points + 3 * k, height = dot(p, n), a = dot(p, x), b = dot(p, y);
        if (!(height > top - band)) continue;
        const double reach[4] = {a + height, b + height, -a + height, -b + height};
        for (int way = 0; way < 4; way++)
            if (picked[way] < 0 || reach[way] > best[way]) best[way] = reach[way], picked[way] = k;
    }
    for (int way = 0; way < 4; way++) {
        int known = picked[way] < 0;
        for (int before = 0; before < way; before++) known |= picked[before] == picked[way];
        if (known) continue;
        const double *p = shape->points + 3 * picked[way];
        put(f, p[0], p[1], p[2], picked[way] % KEYS);
    }
}

/* 0 for a shape that has none */
static int corners(const Shape *shape, const double n[3], double band, Face *f) {
    f->count = 0;
    f->radius = shape->kind == CAPSULE ? shape->size[0] : 0.0;
    switch (shape->kind) {
        case BOX: box(shape, n, f); break;
        case CAPSULE:
            put(f, 0.0, 0.0, -shape->size[1] / 2, 0);
            put(f, 0.0, 0.0, shape->size[1] / 2, 1);
            break;
        case CYLINDER: cylinder(shape, n, f); break;
        case CONVEX: hull(shape, n, band, f); break;
        default: return 0;
    }
    double top = -INFINITY;
    for (int i = 0; i < f->count; i++) top = fmax(top, dot(f->points[i], n));
    for (int i = 0; i < f->count; i++) f->near[i] = dot(f->points[i], n) > top - band;
    return f->count > 0;
}

/* start and way of two edges */
typedef struct {
    double edge[2][2][3];
} Crossing;

static int edges_of(const Face *f) { return f->count > 2 ? f->count : f->count - 1; }

/* the edges of two faces that cross, seen along the normal; how many */
static int crossings(const Face *one, const Face *other, const double n[3], const double limits[3], Crossing *found,
                     long long *keys) {
    const Face *faces[2] = {one, other};
    const int rows = edges_of(one), columns = edges_of(other);
    double gaps[ACROSS], least = INFINITY;
    Crossing all[ACROSS];
    int inner[ACROSS], count = 0;
    for (int k = 0; k < rows * columns; k++) {
        const int at[2] = {k / columns, k % columns};
        double turned[3], across[3], way[3], apart[3];
        for (int side = 0; side < 2; side++) {
            const Face *f = faces[side];
            const double *start = f->points[at[side]], *end = f->points[(at[side] + 1) % f->count];
            for (int i = 0; i < 3; i++) {
                all[k].edge[side][0][i] = start[i];
                all[k].edge[side][1][i] = end[i] - start[i];
            }
        }
        const double *p = all[k].edge[0][0], *d = all[k].edge[0][1], *q = all[k].edge[1][0], *e = all[k].edge[1][1];
        cross(n, d, turned);
        cross(n, e, across);
        for (int i = 0; i < 3; i++) way[i] = q[i] - p[i];
        const double area = dot(across, d), slant = limits[1], margin = limits[2];
        inner[k] = area * area > slant * slant * dot(d, d) * dot(e, e);
        if (!inner[k]) continue;
        const double s = dot(across, way) / area, t = dot(turned, way) / area;
        inner[k] = s > margin && s < 1 - margin && t > margin && t < 1 - margin;
        for (int i = 0; i < 3; i++) apart[i] = way[i] + t * e[i] - s * d[i];
        gaps[k] = dot(apart, n);
        if (inner[k]) least = fmin(least, gaps[k]);
    }
    for (int k = 0; k < rows * columns; k++)
        if (inner[k] && gaps[k] < least + limits[0]) {
            found[count] = all[k];
            keys[count++] = k % CROSSINGS;
        }
    return count;
}

/* (kind, size (3), points or None) */
static int take_shape(Views *views, PyObject *given, Shape *shape) {
    PyObject *points;
    double *s = shape->size;
    if (!PyTuple_Check(given) || !PyArg_ParseTuple(given, "i(ddd)O", &shape->kind, s, s + 1, s + 2, &points)) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a shape is a tuple of its kind, size and points");
        return 0;
    }
    shape->count = 0;
    shape->points = NULL;
    if (shape->kind != CONVEX) return 1;
    Py_ssize_t size = 0;
    shape->points = flat(views, points, "points", &size, 0);
    shape->count = size / 3;
    return shape->points != NULL;
}

typedef struct {
    long long *ball, *crossing; /* solid, solid, number within the pair's, and the pair: 4 each */
    double *centers, *radii, *edges, *thick, *normals;
} Found;

/* pairs_features(shapes, poses, pairs, normals, limits, balls, centers, radii, crossings, edges, thick, across):
   how many balls and crossings there are; see `features`. pairs: two solids each, 2 n. */
static PyObject *pairs_features(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[14];
    Views views = {.view = room, .room = 14};
    if (!enough("pairs_features", count, 12)) return NULL;
    int bad = 0, balls = 0, crossed = 0;
    const double *poses;
    const Py_ssize_t n = solids_of(&views, args[1], &poses, &bad), pairs = length(args[2], &bad) / 2;
    if (!bad && (!PyTuple_Check(args[0]) || PyTuple_Size(args[0]) != n)) {
        PyErr_Format(PyExc_ValueError, "shapes must be a tuple of %zd", n);
        bad = 1;
    }
    long long *of = indices(args[2], "pairs", 2 * pairs, n, &bad);
    const double *normals = numbers(&views, args[3], "normals", 3 * pairs, 0, &bad);
    const double *limits = numbers(&views, args[4], "limits", 3, 0, &bad);
    const Py_ssize_t most = 2 * CORNERS * pairs, more = ACROSS * pairs;
    Found found = {0};
    found.ball = integers(&views, args[5], "balls", 4 * most, &bad);
    found.centers = numbers(&views, args[6], "centers", 3 * most, 1, &bad);
    found.radii = numbers(&views, args[7], "radii", most, 1, &bad);
    found.crossing = integers(&views, args[8], "crossings", 4 * more, &bad);
    found.edges = numbers(&views, args[9], "edges", 12 * more, 1, &bad);
    found.thick = numbers(&views, args[10], "thick", 2 * more, 1, &bad);
    found.normals = numbers(&views, args[11], "across", 3 * more, 1, &bad);
    for (Py_ssize_t k = 0; !bad && k < pairs; k++) {
        Face faces[2];
        int flats = 0;
        const double *normal = normals + 3 * k;
        for (int side = 0; !bad && side < 2; side++) {
            const long long mine = of[2 * k + side], its = of[2 * k + 1 - side];
            const double *pose = poses + 16 * mine, sign = side ? -1.0 : 1.0;
            View own[1]; /* of a hull's points */
            Views held = {.view = own, .room = 1};
            Shape shape;
            Face *face = faces + flats;
            double local[3];
            int nears = 0;
            if (!take_shape(&held, PyTuple_GetItem(args[0], (Py_ssize_t)mine), &shape)) {
                bad = 1;
                break;
            }
            for (int i = 0; i < 3; i++) local[i] = sign * (normal[0] * pose[i] + normal[1] * pose[4 + i] + normal[2] * pose[8 + i]);
            const int any = corners(&shape, local, limits[0], face);
            views_release(&held);
            if (!any) continue;
            for (int i = 0; i < face->count; i++) {
                double at[3];
                for (int j = 0; j < 3; j++) at[j] = dot(pose + 4 * j, face->points[i]) + pose[4 * j + 3];
                memcpy(face->points[i], at, sizeof at);
                if (!face->near[i]) continue;
                nears++;
                const long long told[4] = {mine, its, 1 + side * KEYS + face->keys[i], k};
                memcpy(found.ball + 4 * balls, told, sizeof told);
                memcpy(found.centers + 3 * balls, at, sizeof at);
                found.radii[balls++] = face->radius;
            }
            flats += nears > 1;
        }
        if (bad || flats < 2) continue;
        Crossing all[ACROSS];
        long long keys[ACROSS];
        const int some = crossings(faces, faces + 1, normal, limits, all, keys);
        for (int i = 0; i < some; i++, crossed++) {
            const long long told[4] = {of[2 * k], of[2 * k + 1], 1 + 2 * KEYS + keys[i], k};
            memcpy(found.crossing + 4 * crossed, told, sizeof told);
            memcpy(found.edges + 12 * crossed, all + i, sizeof *all);
            memcpy(found.normals + 3 * crossed, normal, 3 * sizeof *normal);
            for (int side = 0; side < 2; side++) found.thick[2 * crossed + side] = faces[side].radius;
        }
    }
    PyMem_Free(of);
    views_release(&views);
    return bad ? NULL : Py_BuildValue("ii", balls, crossed);
}

static double within(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

/* the nearest points of segments p + s d and q + t e, s and t in [0, 1]: `segments` of closed_forms.py */
static void nearest(const double *p, const double *d, const double *q, const double *e, double parallel, double *x, double *y) {
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = p[i] - q[i];
    const double a = dot(d, d), b = dot(d, e), c = dot(d, r), g = dot(e, e), f = dot(e, r);
    const double safe = a > 0.0 ? a : 1.0, safe_too = g > 0.0 ? g : 1.0, across = a * g - b * b;
    const int slanted = across > parallel * a * g;
    double s = slanted ? within((b * f - c * g) / across) : (within(-c / safe) + within((b - c) / safe)) / 2;
    const double t = within((b * s + f) / safe_too);
    if (slanted || g == 0.0) s = within((b * t - c) / safe);
    for (int i = 0; i < 3; i++) {
        x[i] = p[i] + s * d[i];
        y[i] = q[i] + t * e[i];
    }
}

/* edges_passing(edges, thick, normals, parallel, distance, normal, first, second): see `passing` */
static PyObject *edges_passing(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[8];
    Views views = {.view = room, .room = 8};
    if (!enough("edges_passing", count, 8)) return NULL;
    int bad = 0;
    Py_ssize_t rows = 0;
    double *distance = flat(&views, args[4], "distance", &rows, 1);
    const double parallel = distance ? PyFloat_AsDouble(args[3]) : 0.0;
    if (!distance || PyErr_Occurred()) bad = 1;
    const double *edges = numbers(&views, args[0], "edges", 12 * rows, 0, &bad);
    const double *thick = numbers(&views, args[1], "thick", 2 * rows, 0, &bad);
    const double *normals = numbers(&views, args[2], "normals", 3 * rows, 0, &bad);
    double *normal = numbers(&views, args[5], "normal", 3 * rows, 1, &bad);
    double *points[2] = {numbers(&views, args[6], "first", 3 * rows, 1, &bad), numbers(&views, args[7], "second", 3 * rows, 1, &bad)};
    for (Py_ssize_t k = 0; !bad && k < rows; k++) {
        const double *edge = edges + 12 * k;
        double x[3], y[3], way[3], n[3];
        nearest(edge, edge + 3, edge + 6, edge + 9, parallel, x, y);
        for (int i = 0; i < 3; i++) way[i] = y[i] - x[i];
        const double size = sqrt(dot(way, way)), side = dot(way, normals + 3 * k) < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < 3; i++) n[i] = size > 1e-9 ? way[i] * (side / size) : normals[3 * k + i];
        distance[k] = side * size - thick[2 * k] - thick[2 * k + 1];
        for (int i = 0; i < 3; i++) {
            normal[3 * k + i] = n[i];
            points[0][3 * k + i] = x[i] + thick[2 * k] * n[i];
            points[1][3 * k + i] = y[i] - thick[2 * k + 1] * n[i];
        }
    }
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

/* a point, or a way, that moves with a solid */
static void carry(const double *was, const double *is, const double *turned, int way, double *x) {
    double from[3], to[3];
    for (int i = 0; i < 3; i++) from[i] = x[i] - (way ? 0.0 : was[4 * i + 3]);
    turn(turned, from, to);
    for (int i = 0; i < 3; i++) x[i] = to[i] + (way ? 0.0 : is[4 * i + 3]);
}

/* features_carried(centers, edges, first, second, poses, later, turn): centers and edges are written over; see
   `Features.carried` */
static PyObject *features_carried(PyObject *module, PyObject *const *args, Py_ssize_t count) {
    (void)module;
    View room[8];
    Views views = {.view = room, .room = 8};
    if (!enough("features_carried", count, 7)) return NULL;
    int bad = 0;
    const double *poses;
    const Py_ssize_t n = solids_of(&views, args[4], &poses, &bad), rows = length(args[2], &bad);
    const double *later = numbers(&views, args[5], "later", 16 * n, 0, &bad);
    const double *turned = numbers(&views, args[6], "turn", 9 * n, 0, &bad);
    Py_ssize_t balls = 0;
    double *centers = bad ? NULL : flat(&views, args[0], "centers", &balls, 1);
    if (!centers) bad = 1;
    balls /= 3;
    if (!bad && balls > rows) {
        PyErr_Format(PyExc_ValueError, "%zd balls are more than %zd features", balls, rows);
        bad = 1;
    }
    double *edges = numbers(&views, args[1], "edges", 12 * (rows - balls), 1, &bad);
    long long *first = indices(args[2], "first", rows, n, &bad), *second = indices(args[3], "second", rows, n, &bad);
    for (Py_ssize_t k = 0; !bad && k < rows; k++) {
        const long long of[2] = {first[k], second[k]};
        if (k < balls)
            carry(poses + 16 * of[0], later + 16 * of[0], turned + 9 * of[0], 0, centers + 3 * k);
        else
            for (int i = 0; i < 4; i++) {
                const long long whose = of[i / 2];
                carry(poses + 16 * whose, later + 16 * whose, turned + 9 * whose, i % 2, edges + 12 * (k - balls) + 3 * i);
            }
    }
    PyMem_Free(first);
    PyMem_Free(second);
    views_release(&views);
    if (bad) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"pairs_features", (PyCFunction)(void (*)(void))pairs_features, METH_FASTCALL, "Corners and crossings of pairs."},
    {"edges_passing", (PyCFunction)(void (*)(void))edges_passing, METH_FASTCALL, "Nearest points of edges that pass."},
    {"features_carried", (PyCFunction)(void (*)(void))features_carried, METH_FASTCALL, "Corners and edges a moment later."},
    {NULL, NULL, 0, NULL}};

int edges_register(PyObject *module) { return PyModule_AddFunctions(module, methods); }
