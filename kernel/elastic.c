#include "elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int elastic_new(Tick *t, int tiers) {
    Elastic *e = &t->elastic;
    size_t many = (size_t)tiers, rows = (size_t)t->hierarchy.rows;
    double *room = calloc(4 * many + 5 * rows + 8, sizeof(double));
    if (!room) return 0;
    e->tiers = tiers;
    e->weight = room, e->reach = room + many, e->size = room + 2 * many;
    e->load = room + 3 * many, e->missed = room + 4 * many, e->start = e->missed + rows;
    e->shift = e->start + rows, e->own = e->shift + rows, e->unit = e->own + rows;
    for (int i = 0; i < tiers; i++) e->weight[i] = 1.0, e->reach[i] = INFINITY;
    e->tier_of = calloc(rows + 8, sizeof(int));
    for (int p = 0; e->tier_of && p < t->parts; p++)
        for (int i = 0; i < t->part[p].rows; i++) e->tier_of[t->first_row[p] + i] = t->part[p].tier + 1;
    return e->tier_of != NULL;
}

void elastic_free(Elastic *e) { free(e->weight), free(e->tier_of); }

void elastic_forget(Tick *t) {
    if (t->elastic.tiers) memset(t->elastic.missed, 0, 2 * (size_t)t->hierarchy.rows * sizeof(double)); /* and `start` */
}

static double own_root(const Tick *t, int row) { return t->root[row] > 0.0 ? t->root[row] : 1.0; }

/* What rows are measured by: the equations of a tier by the root mean square of their norms, a bound by its own norm, for it
   is the same bound however it is scaled. */
static void find_units(Tick *t) {
    Elastic *e = &t->elastic;
    const Hierarchy *h = &t->hierarchy;
    memset(e->size, 0, (size_t)e->tiers * sizeof(double));
    memset(e->load, 0, (size_t)e->tiers * sizeof(double)); /* counts, until the end */
    for (int row = 0; row < h->rows; row++) {
        int tier = e->tier_of[row] - 1;
        e->unit[row] = h->norm[row] / own_root(t, row);
        if (tier < 0 || h->lower[row] < h->upper[row]) continue;
        e->size[tier] += e->unit[row] * e->unit[row];
        e->load[tier] += 1.0;
    }
    for (int i = 0; i < e->tiers; i++) e->size[i] = e->size[i] > 0.0 ? sqrt(e->size[i] / e->load[i]) : 1.0;
    for (int row = 0; row < h->rows; row++)
        if (e->tier_of[row] && (!(h->lower[row] < h->upper[row]) || !(e->unit[row] > 0.0))) e->unit[row] = e->size[e->tier_of[row] - 1];
}

/* what the rows of a tier miss together, each in its unit */
static double length_of(const Tick *t, int tier, const double *missed) {
    const Elastic *e = &t->elastic;
    double squares = 0.0;
    for (int p = 0; p < t->parts; p++) {
        if (t->part[p].tier != tier) continue;
        for (int row = t->first_row[p]; row < t->first_row[p] + t->part[p].rows; row++) {
            double own = e->own[row] * missed[row] / e->unit[row];
            squares += own * own;
        }
    }
    return sqrt(squares);
}

void elastic_begin(Tick *t, int again) {
    Elastic *e = &t->elastic;
    Hierarchy *h = &t->hierarchy;
    if (!again) memcpy(e->start, e->missed, (size_t)h->rows * sizeof(double));
    memcpy(e->own, t->root, (size_t)h->rows * sizeof(double));
    find_units(t);
    for (int tier = 0; tier < e->tiers; tier++) {
        int bounded = e->reach[tier] < INFINITY;
        double share = bounded ? length_of(t, tier, e->start) / e->reach[tier] : 0.0;
        double kept = !bounded ? 0.0 : share > 1.0 ? 1.0 / share : 1.0; /* the pull's projection onto its ball */
        double yield = 1.0 / sqrt(1.0 + share * share), root = sqrt(e->weight[tier] * yield);
        for (int p = 0; p < t->parts; p++) {
            if (t->part[p].tier != tier) continue;
            for (int row = t->first_row[p]; row < t->first_row[p] + t->part[p].rows; row++) {
                double *a = h->A + (size_t)row * (size_t)h->ld, shift = kept * e->start[row], factor = root / e->unit[row];
                int equal = h->lower[row] == h->upper[row], sound = h->lower[row] <= h->upper[row];
                e->shift[row] = shift;
                for (int j = h->from[row]; j < h->to[row]; j++) a[j] *= factor;
                h->lower[row] = factor * (h->lower[row] + t->root[row] * (equal || shift > 0.0 ? shift : 0.0));
                h->upper[row] = factor * (h->upper[row] + t->root[row] * (equal || shift < 0.0 ? shift : 0.0));
                if (equal) h->upper[row] = h->lower[row];
                if (sound && h->lower[row] > h->upper[row]) h->lower[row] = h->upper[row] = 0.5 * (h->lower[row] + h->upper[row]);
                h->norm[row] *= factor;
                t->root[row] *= factor;
            }
        }
    }
}

void elastic_end(Tick *t, enum Status status) {
    Elastic *e = &t->elastic;
    const Hierarchy *h = &t->hierarchy;
    if (status >= STOPPED) { /* what was reached is no answer to learn from */
        memcpy(e->missed, e->start, (size_t)h->rows * sizeof(double));
        memset(e->load, 0, (size_t)e->tiers * sizeof(double));
        return;
    }
    for (int p = 0; p < t->parts; p++) {
        if (t->part[p].tier < 0) continue;
        for (int row = t->first_row[p]; row < t->first_row[p] + t->part[p].rows; row++) {
            double value = h->value[row], low = h->lower[row], high = h->upper[row];
            double missed = value < low ? low - value : value > high ? high - value : 0.0;
            e->missed[row] = t->root[row] > 0.0 ? missed / t->root[row] : 0.0;
        }
    }
    for (int tier = 0; tier < e->tiers; tier++)
        e->load[tier] = e->reach[tier] < INFINITY ? length_of(t, tier, e->missed) / e->reach[tier] : 0.0;
}

double elastic_tolerance(const Tick *t, int row) {
    return t->elastic.tier_of[row] ? t->root[row] * t->elastic.held : 0.0;
}

double elastic_worst(const Tick *t) {
    double worst = 0.0;
    for (int i = 0; i < t->elastic.tiers; i++) worst = fmax(worst, t->elastic.load[i]);
    return worst;
}

int elastic_rows(const Tick *t) {
    int rows = 0;
    for (int p = 0; p < t->parts; p++) rows += t->part[p].rows;
    return t->elastic.tiers ? rows : 0;
}

void elastic_read(const Tick *t, double *rows, double *loads) {
    const Elastic *e = &t->elastic;
    if (!e->tiers) return;
    for (int p = 0; p < t->parts; p++) {
        size_t count = (size_t)t->part[p].rows;
        memcpy(rows, e->missed + t->first_row[p], count * sizeof(double));
        rows += count;
    }
    memcpy(loads, e->load, (size_t)e->tiers * sizeof(double));
}

void elastic_write(Tick *t, const double *rows) {
    Elastic *e = &t->elastic;
    if (!e->tiers) return;
    for (int p = 0; p < t->parts; p++) {
        size_t count = (size_t)t->part[p].rows;
        memcpy(e->missed + t->first_row[p], rows, count * sizeof(double));
        rows += count;
    }
}

size_t elastic_size(const Tick *t) {
    return t->elastic.tiers ? 2 * (size_t)t->hierarchy.rows * sizeof(double) : 0; /* `missed` and `start` */
}

void elastic_save(const Tick *t, char *bytes) {
    if (t->elastic.tiers) memcpy(bytes, t->elastic.missed, elastic_size(t));
}

void elastic_load(Tick *t, const char *bytes) {
    if (t->elastic.tiers) memcpy(t->elastic.missed, bytes, elastic_size(t));
}
