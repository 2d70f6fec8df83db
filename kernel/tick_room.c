/* The memory of a tick, and the rows of closed loops in it. */
#include "elastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int tick_new(Tick *t, int nv, int nf, int loops, int na, const int *actuated, double scale, int levels, int parts,
             const Part *part, int tiers) {
    memset(t, 0, sizeof *t);
    t->nv = nv, t->nf = nf, t->na = na, t->loops = loops, t->parts = parts, t->scale = scale;
    int *sizes = calloc((size_t)levels + 1, sizeof(int));
    t->actuated = calloc((size_t)nv + 1, sizeof(int));
    t->unactuated = calloc((size_t)nv + 1, sizeof(int));
    t->part = calloc((size_t)parts + 1, sizeof(Part));
    t->first_row = calloc((size_t)parts + 1, sizeof(int));
    unsigned char *driven = calloc((size_t)nv + 1, 1);
    int made = 0;
    if (sizes && t->actuated && t->unactuated && t->part && t->first_row && driven) {
        for (int i = 0; i < na; i++) driven[t->actuated[i] = actuated[i]] = 1;
        for (int i = 0; i < nv; i++)
            if (!driven[i]) t->unactuated[sizes[0]++] = i;
        sizes[0] += loops;
        memcpy(t->part, part, (size_t)parts * sizeof(Part));
        for (int i = 0; i < parts; i++) sizes[part[i].level + 1] += part[i].rows;
        made = hierarchy_new(&t->hierarchy, nv + nf, levels + 1, sizes);
    }
    if (made) {
        Hierarchy *h = &t->hierarchy;
        t->K = calloc((size_t)nv * (size_t)h->ld + 8, sizeof(double));
        t->h = calloc((size_t)nv + 8, sizeof(double));
        t->root = calloc((size_t)h->rows + 8, sizeof(double));
        t->sort = calloc((size_t)h->rows + 8, 1);
        t->length = calloc((size_t)(nv + nf) + 8, sizeof(double));
        t->unit = calloc((size_t)(nv + nf) + 8, sizeof(double));
        made = t->K && t->h && t->root && t->sort && t->length && t->unit;
        if (made) tick_lengths(t, NULL);
    }
    if (made) { /* parts of a level stand in it in the order in which they came */
        memset(sizes, 0, (size_t)levels * sizeof(int));
        for (int i = 0; i < parts; i++) {
            t->first_row[i] = t->hierarchy.start[part[i].level + 1] + sizes[part[i].level];
            sizes[part[i].level] += part[i].rows;
        }
    }
    made = made && (!tiers || elastic_new(t, tiers));
    free(sizes), free(driven);
    if (!made) tick_free(t);
    return made;
}

void tick_free(Tick *t) {
    hierarchy_free(&t->hierarchy);
    elastic_free(&t->elastic);
    free(t->actuated), free(t->unactuated), free(t->part), free(t->first_row);
    free(t->K), free(t->h), free(t->root), free(t->sort), free(t->length), free(t->unit);
    memset(t, 0, sizeof *t);
}

void tick_lengths(Tick *t, const double *lengths) {
    for (int j = 0; j < t->nv + t->nf; j++) {
        t->length[j] = j < t->nv && lengths ? lengths[j] : 1.0;
        t->unit[j] = j < t->nv ? 1.0 / t->length[j] : t->scale;
    }
}

void tick_loops(Tick *t, const double *L, ptrdiff_t row_step, ptrdiff_t column_step, const double *bias) {
    Hierarchy *h = &t->hierarchy;
    for (int i = 0; i < t->loops; i++) {
        int row = t->nv - t->na + i;
        const double *source = L + i * row_step;
        double *a = h->A + (size_t)row * (size_t)h->ld, square = 0.0;
        memset(a, 0, (size_t)h->n * sizeof(double));
        for (int j = 0; j < t->nv; j++) {
            a[j] = t->unit[j] * source[j * column_step];
            square += a[j] * a[j];
        }
        h->lower[row] = h->upper[row] = -bias[i];
        h->norm[row] = sqrt(square);
        h->from[row] = 0, h->to[row] = t->nv;
    }
}
