/* Who holds whom back, and who has no reason to: the multipliers of the working set.

   From the lowest level up: the residual r of level k pulls with g = -A_k' r; what level j above it takes of the pull is
   lambda = C (C'C)^-1 g_j in the columns of j, and g - A_j' lambda is left for the levels above. A level's own multiplier is
   its residual. The level past the last is the implicit one, min 1/2 |y|^2.                                            */
#include "hierarchy.h"

/* lambda of the level's rows, in its order, for a pull in the coordinates w */
static void shares_of(Hierarchy *h, const Level *level, const double *pull, double *lambda) {
    const double *g = pull + level->column;
    int m = level->count, r = level->rank;
    if (level->exact) {
        memcpy(lambda, g, (size_t)r * sizeof(double));
        for (int i = r - 1; i >= 0; i--) {
            const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
            lambda[i] /= t[i];
            add(-lambda[i], t, lambda, i);
        }
        return;
    }
    for (int j = 0; j < r; j++) {
        const double *column = level->C + (size_t)j * m;
        lambda[j] = (g[level->pivot[j]] - dot(column, lambda, j)) / column[j];
    }
    memset(lambda + r, 0, (size_t)(m - r) * sizeof(double));
    apply_q(level->C, level->tau, m, r, lambda, 0);
}

/* the level's own residual, cleared of rounding row by row, as a new pull; whether there is any */
static int pull_of(Hierarchy *h, const Level *level, int k) {
    double own = 0.0, *residual = h->work;
    for (int i = 0; i < level->count; i++) {
        int row = level->order[i];
        double r = h->value_new[row] - h->target[row];
        residual[i] = fabs(r) > NEGLIGIBLE * (fabs(h->target[row]) + h->size[row]) ? r : 0.0;
        own += fabs(residual[i]) * h->norm[row];
    }
    if (!(own > 0.0)) return 0;
    double *g = h->pull + (size_t)h->pulls * h->ld, *line = h->multipliers + (size_t)h->pulls * h->rows;
    memset(g, 0, (size_t)h->n * sizeof(double));
    memset(line, 0, (size_t)h->rows * sizeof(double));
    for (int i = 0; i < level->count; i++) {
        int row = level->order[i];
        add(-(h->value_new[row] - h->target[row]), h->T + (size_t)row * h->ld, g, h->n);
        line[row] = residual[i];
    }
    h->pulling[h->pulls] = k;
    h->pull_size[h->pulls++] = own;
    return 1;
}

void find_multipliers(Hierarchy *h) {
    h->pulls = 0;
    if (!h->held_total) return;
    if (h->length > NEGLIGIBLE * (1.0 + h->length)) {
        for (int i = 0; i < h->n; i++) h->pull[i] = -h->w[i];
        memset(h->multipliers, 0, (size_t)h->rows * sizeof(double));
        h->pulling[0] = h->active_levels;
        h->pull_size[0] = h->length;
        h->pulls = 1;
    }
    for (int k = h->active_levels - 1; k >= 0; k--) {
        Level *level = h->level + k;
        if (!level->count) continue;
        if (!level->formed) form_level(h, k);
        if (level->rank)
            for (int p = 0; p < h->pulls; p++) {
                double *g = h->pull + (size_t)p * h->ld, *lambda = h->work;
                shares_of(h, level, g, lambda);
                for (int i = 0; i < level->count; i++) {
                    int row = level->order[i];
                    h->multipliers[(size_t)p * h->rows + row] = lambda[i];
                    if (k) add(-lambda[i], h->T + (size_t)row * h->ld, g, level->column);
                }
            }
        if (!level->exact) pull_of(h, level, k);
    }
}

/* a held row's multiplier, positive where the row is held for a reason, as a share of what pulls */
static double share_of(const Hierarchy *h, int p, int row) {
    return h->multipliers[(size_t)p * h->rows + row] * h->side[row] * h->norm[row] / h->pull_size[p];
}

/* Walks the levels that pull, highest first: a row that an earlier one holds for a reason is settled; of the others those
   that this one would push off leave. Ordinarily all rows of the level itself leave at once, or the one that is pushed
   most; a careful search takes the first row alone, so that no cycle can close (Bland's rule). */
int leaving_rows(Hierarchy *h, int careful) {
    find_multipliers(h);
    memset(h->settled, 0, (size_t)h->rows);
    for (int p = h->pulls - 1; p >= 0; p--) {
        int k = h->pulling[p], own = 0, worst = -1, first = -1;
        double most = 0.0;
        for (int j = 0; j <= k && j < h->active_levels; j++)
            for (int i = 0; i < h->held_count[j]; i++) {
                int row = h->held[h->start[j] + i];
                double share = share_of(h, p, row);
                if (share >= -SIGNIFICANT || h->settled[row]) continue;
                if (share < most) most = share, worst = row;
                if (first < 0 || row < first) first = row;
                if (j == k) h->index[own++] = row;
            }
        if (worst >= 0) {
            if (own && !careful) return own;
            h->index[0] = careful ? first : worst;
            return 1;
        }
        for (int j = 0; j <= k && j < h->active_levels; j++)
            for (int i = 0; i < h->held_count[j]; i++) {
                int row = h->held[h->start[j] + i];
                if (share_of(h, p, row) > SETTLED) h->settled[row] = 1;
            }
    }
    return 0;
}
