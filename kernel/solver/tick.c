#include "../elastic.h"
#include "../tick.h"
#include "inside.h"

#define GRADE 1e-9 /* a row is violated beyond this share of |row| (1 + |y|) */

static void tick_dynamics(Tick *t, const double *M, const double *h, const double *J, ptrdiff_t row_step, ptrdiff_t column_step) {
    Hierarchy *all = &t->hierarchy;
    int nv = t->nv, nf = t->nf, ld = all->ld;
    for (int i = 0; i < nv; i++) {
        double *k = t->K + (size_t)i * ld;
        for (int j = 0; j < nv; j++) k[j] = t->unit[j] * M[(size_t)i * nv + j];
        for (int j = 0; j < nf; j++) k[nv + j] = -t->unit[nv + j] * J[j * row_step + i * column_step];
    }
    memcpy(t->h, h, (size_t)nv * sizeof(double));
    for (int i = 0; i < nv - t->na; i++) { /* divided by the mass, so that all rows are of one size */
        const double *k = t->K + (size_t)t->unactuated[i] * ld;
        double *a = all->A + (size_t)i * ld;
        for (int j = 0; j < all->n; j++) a[j] = k[j] / t->scale;
        all->lower[i] = all->upper[i] = -h[t->unactuated[i]] / t->scale;
        all->norm[i] = sqrt(dot(a, a, all->n));
        all->from[i] = 0, all->to[i] = all->n;
    }
}

/* the columns of a block, `width` from `a` on, each times its factor */
static void put_block(const Block *block, int row, double *a, int width, const double *factor) {
    if (block->kind == MATRIX) {
        const double *source = block->data + row * block->row_step;
        if (block->column_step == 1) /* a compiler makes lanes of it */
            for (int j = 0; j < width; j++) a[j] = factor[j] * source[j];
        else
            for (int j = 0; j < width; j++) a[j] = factor[j] * source[j * block->column_step];
        return;
    }
    memset(a, 0, (size_t)width * sizeof(double));
    if (block->kind == INDICES) a[block->indices[row]] = factor[block->indices[row]];
}

/* adds the torques of a row, by the actuated rows of the equation of motion; gives what h adds */
static double put_torque(const Tick *t, const Block *block, int row, double *a) {
    int n = t->hierarchy.n, ld = t->hierarchy.ld;
    if (block->kind == INDICES) {
        int k = t->actuated[block->indices[row]];
        add(1.0, t->K + (size_t)k * ld, a, n);
        return t->h[k];
    }
    double shift = 0.0;
    const double *source = block->data + row * block->row_step;
    for (int j = 0; j < t->na; j++) {
        double factor = source[j * block->column_step];
        if (factor == 0.0) continue;
        add(factor, t->K + (size_t)t->actuated[j] * ld, a, n);
        shift += factor * t->h[t->actuated[j]];
    }
    return shift;
}

static void tick_rows(Tick *t, int part, const Rows *rows) {
    Hierarchy *h = &t->hierarchy;
    const Part *planned = t->part + part;
    int nv = t->nv, nf = t->nf, n = h->n;
    int acceleration = planned->kind[0] != NOTHING, force = planned->kind[1] != NOTHING;
    int torque = planned->kind[2] != NOTHING;
    for (int i = 0; i < planned->rows; i++) {
        int row = t->first_row[part] + i;
        double *a = h->A + (size_t)row * h->ld, shift = 0.0;
        h->from[row] = acceleration || torque ? 0 : nv;
        h->to[row] = force || torque ? n : nv;
        put_block(&rows->block[0], i, a, nv, t->unit);
        put_block(&rows->block[1], i, a + nv, nf, t->unit + nv);
        if (torque) shift = put_torque(t, &rows->block[2], i, a);
        double low = rows->lower[i] - shift, high = rows->upper[i] - shift;
        double root = rows->weight * (rows->weights ? rows->weights[i] : 1.0);
        if (root != 1.0) {
            root = sqrt(root);
            if (root == 0.0) low = -INFINITY, high = INFINITY;
            else {
                for (int j = 0; j < n; j++) a[j] *= root;
                low *= root, high *= root;
            }
        }
        if (!force && !torque && planned->kind[0] == INDICES) h->from[row] = (int)rows->block[0].indices[i];
        if (!acceleration && !torque && planned->kind[1] == INDICES) h->from[row] = nv + (int)rows->block[1].indices[i];
        if (acceleration + force + torque == 1 && !torque && planned->kind[force] == INDICES) h->to[row] = h->from[row] + 1;
        if (!acceleration && !force && !torque) h->from[row] = h->to[row] = 0;
        t->root[row] = root;
        t->sort[row] = rows->lower == rows->upper ? EQUATION : force || torque ? LOAD : MOTION;
        h->lower[row] = low, h->upper[row] = high;
        h->norm[row] = sqrt(dot(a, a, n));
    }
}

static enum Status tick_answer(const Tick *t, enum Status status, double tolerance, double *x) {
    const Hierarchy *h = &t->hierarchy;
    int n = h->n, first = h->start[1], relaxed = 0;
    for (int j = 0; j < n; j++) x[j] = t->unit[j] * h->y[j];
    for (int i = 0; i < t->na; i++) {
        int k = t->actuated[i];
        x[n + i] = dot(t->K + (size_t)k * h->ld, h->y, n) + t->h[k];
    }
    double reach = 1.0 + sqrt(dot(h->y, h->y, n));
    for (int i = first; i < h->rows && !relaxed; i++) {
        if (t->sort[i] == EQUATION) continue; /* a bound of no width is a bound */
        double over = h->value[i] - h->upper[i], under = h->lower[i] - h->value[i], allowed = GRADE * h->norm[i] * reach;
        double load = t->sort[i] == LOAD ? tolerance * t->root[i] : INFINITY;
        if (t->elastic.tiers) {
            double shift = t->root[i] * t->elastic.shift[i];
            if (shift < 0.0) over += shift; /* its bounds were shifted */
            if (shift > 0.0) under -= shift;
            double held = elastic_tolerance(t, i);
            allowed = fmax(allowed, held), load = fmax(load, held);
        }
        double beyond = over > under ? over : under;
        relaxed = beyond > allowed || beyond > load;
    }
    return status == OPTIMAL && relaxed ? RELAXED : status;
}
