/* A guess of the active set: one weighted QP, by a dual active-set method (Goldfarb and Idnani 1983).

   The equalities of the levels, each level some orders of magnitude below the one above, are one least-squares problem |W (w - w_eq)|^2
   whose W is block triangular as it stands: the factorisation of the levels. A row g' w of an inequality costs one
   substitution, d = W^-T g; what is left is min 1/2 |u|^2 with D u <= e. The equalities of the prefix are kept exactly,
   and all inequalities where they can be: where some contradict each other, one of the lowest level among them is set
   aside. The search then proves the guess, or repairs it.                                                             */
#include "../guess_room.h"
#include "inside.h"

#define ASTRAY 1e6     /* a guess that is violated by so many times more than at its start has lost its way */
#define MEETS 1e-9     /* a row is met within this share of its norm */
#define SLIGHT 1e-8    /* of the worst violation on the way: a row that depends on others is off by so much by rounding */

/* How far the levels' weights are apart: the more, the better is the guess, and the less do numbers tell rows apart. */
struct Weights {
    double root;      /* of the weights of one level and the one above */
    double least;     /* root of the least weight: numbers do not tell more levels apart */
    double dependent; /* a row that adds less than this share of itself depends on those before it */
};
static const struct Weights WEIGHTS[] = {{1e-3, 1e-5, 1e-7}, {1e-5, 1e-8, 1e-10}, {1e-7, 1e-12, 1e-12}};

static double *line_of(struct Guess *s, double *matrix, int i) { return matrix + (size_t)i * s->ld; }
static double *triangle_of(struct Guess *s, int i) { return s->R + (size_t)i * (size_t)(s->size + 1); }
static double *column_of_block(Hierarchy *h, int k, int j) {
    return h->guess->B + (size_t)h->start[k] * h->guess->ld + (size_t)j * h->level[k].count;
}

/* ---- W and its inverse ----------------------------------------------------------------------------------------- */

static void lay_out_blocks(Hierarchy *h, const struct Weights *weights) {
    struct Guess *s = h->guess;
    int first = h->prefix_end, below = 0, nth = 0;
    for (int k = h->prefix_level + 1; k < h->active_levels; k++) below += h->level[k].rank > 0;
    double root = weights->root; /* where there are many levels they share what numbers can tell apart */
    if (below > 1) root = fmax(root, pow(weights->least, 1.0 / (below - 1)));
    s->dependent = weights->dependent;
    s->last = fmax(pow(root, below), weights->least);
    for (int k = h->prefix_level + 1; k < h->active_levels; k++) {
        Level *level = h->level + k;
        if (!level->rank) continue;
        double least = INFINITY; /* the smallest row still outweighs the levels below */
        for (int i = 0; i < level->count; i++) {
            double norm = h->norm[level->order[i]];
            if (norm > 0.0) least = fmin(least, norm);
        }
        s->root[k] = fmax(pow(root, nth++), weights->least) / least;
        for (int j = 0; j < level->column - first; j++) {
            double *b = column_of_block(h, k, j);
            for (int i = 0; i < level->count; i++) b[i] = h->T[(size_t)level->order[i] * h->ld + first + j];
            if (!level->exact) apply_q(level->C, level->tau, level->count, level->rank, b, 1);
        }
    }
}

static int end_of_levels(const Hierarchy *h) {
    int end = h->prefix_end;
    for (int k = h->prefix_level + 1; k < h->active_levels; k++)
        if (h->level[k].rank) end = h->level[k].column + h->level[k].rank;
    return end;
}

/* d = W^-T g; g is used up */
static void whiten(Hierarchy *h, double *g, double *d) {
    struct Guess *s = h->guess;
    int first = h->prefix_end;
    for (int j = end_of_levels(h); j < h->n; j++) d[j] = g[j] / s->last;
    for (int k = h->active_levels - 1; k > h->prefix_level; k--) {
        Level *level = h->level + k;
        int r = level->rank;
        if (!r) continue;
        double *x = d + level->column;
        if (level->exact) {
            memcpy(x, g + level->column, (size_t)r * sizeof(double));
            for (int i = r - 1; i >= 0; i--) {
                const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
                x[i] /= t[i];
                add(-x[i], t, x, i);
            }
        } else {
            for (int j = 0; j < r; j++) {
                const double *column = level->C + (size_t)j * level->count;
                x[j] = (g[level->column + level->pivot[j]] - dot(column, x, j)) / column[j];
            }
        }
        for (int j = 0; j < level->column - first; j++) g[first + j] -= dot(column_of_block(h, k, j), x, r);
        for (int j = 0; j < r; j++) x[j] /= s->root[k];
    }
}

/* w = W^-1 u */
static void unwhiten(Hierarchy *h, const double *u, double *w) {
    struct Guess *s = h->guess;
    int first = h->prefix_end;
    for (int k = h->prefix_level + 1; k < h->active_levels; k++) {
        Level *level = h->level + k;
        int r = level->rank;
        if (!r) continue;
        double *x = w + level->column, *rest = s->x;
        for (int j = 0; j < r; j++) rest[j] = u[level->column + j] / s->root[k];
        for (int j = 0; j < level->column - first; j++) add(-w[first + j], column_of_block(h, k, j), rest, r);
        if (level->exact) {
            for (int i = 0; i < r; i++) {
                const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
                x[i] = (rest[i] - dot(t, x, i)) / t[i];
            }
        } else {
            for (int j = r - 1; j >= 0; j--) {
                const double *column = level->C + (size_t)j * level->count;
                double found = rest[j] / column[j];
                x[level->pivot[j]] = found;
                add(-found, column, rest, j);
            }
        }
    }
    for (int j = end_of_levels(h); j < h->n; j++) w[j] = u[j] / s->last;
}

/* ---- the active rows ------------------------------------------------------------------------------------------- */

/* whether row i adds enough of its own to those before it */
static int is_independent(Hierarchy *h, int i) {
    struct Guess *s = h->guess;
    const double *d = line_of(s, s->D, i) + h->prefix_end;
    double rest = triangle_of(s, i)[i] / s->dependent;
    return rest * rest > dot(d, d, h->n - h->prefix_end);
}

/* orthonormalises row i against those before it, by Gram-Schmidt, again where little was left; 0 where it depends on them */
static int orthonormalise(Hierarchy *h, int i) {
    struct Guess *s = h->guess;
    int first = h->prefix_end, f = h->n - first;
    double *q = line_of(s, s->Q, i), *r = triangle_of(s, i), before, rest;
    memcpy(q, line_of(s, s->D, i) + first, (size_t)f * sizeof(double));
    memset(r, 0, (size_t)i * sizeof(double));
    rest = dot(q, q, f);
    for (int again = 0; again < 2; again++) {
        before = rest;
        for (int j = 0; j < i; j++) {
            double c = dot(q, line_of(s, s->Q, j), f);
            r[j] += c;
            add(-c, line_of(s, s->Q, j), q, f);
        }
        rest = dot(q, q, f);
        if (rest > 0.5 * before) break;
    }
    r[i] = sqrt(rest);
    double scale = rest > 0.0 ? 1.0 / r[i] : 0.0;
    for (int j = 0; j < f; j++) q[j] *= scale;
    return is_independent(h, i);
}

/* puts a row last, without taking it in yet; 0 where the equalities that are kept exactly have fixed it */
static int propose(Hierarchy *h, int row, int side) {
    struct Guess *s = h->guess;
    double *d = line_of(s, s->D, s->count), *g = s->g;
    int first = h->prefix_end;
    memcpy(g, prefixed_row(h, row), (size_t)h->n * sizeof(double));
    for (int j = h->prefix_end; j < h->reflectors; j++) reflect(h, j, &g, 1);
    if (!(dot(g + first, g + first, h->n - first) > pow(h->rank_tolerance * h->norm[row], 2))) return 0;
    whiten(h, g, d);
    if (side < 0)
        for (int j = first; j < h->n; j++) d[j] = -d[j];
    s->row[s->count] = row;
    s->side[s->count] = side;
    s->bound[s->count] = side > 0 ? h->upper[row] - s->value_start[row] : s->value_start[row] - h->lower[row];
    return 1;
}

/* makes R, of `count` rows, a triangle again once row `at` was taken out: turns the lines of Q by pairs */
static void turn_back(Hierarchy *h, int at, int count) {
    struct Guess *s = h->guess;
    int f = h->n - h->prefix_end;
    for (int j = at; j < count; j++) {
        double *p = line_of(s, s->Q, j), *q = line_of(s, s->Q, j + 1), *r = triangle_of(s, j) + j;
        double length = sqrt(r[0] * r[0] + r[1] * r[1]), cosine = 1.0, sine = 0.0;
        if (length > 0.0) cosine = r[0] / length, sine = r[1] / length;
        for (int i = j; i < count; i++) {
            double *x = triangle_of(s, i) + j, a = x[0], b = x[1];
            x[0] = cosine * a + sine * b, x[1] = cosine * b - sine * a;
        }
        for (int i = 0; i < f; i++) {
            double a = p[i], b = q[i];
            p[i] = cosine * a + sine * b, q[i] = cosine * b - sine * a;
        }
    }
}

/* takes an active row out; `behind` rows stand behind the active ones and move up as well */
static void drop(Hierarchy *h, int at, int behind) {
    struct Guess *s = h->guess;
    s->active[s->row[at]] = 0;
    for (int i = at + 1; i < s->count + behind; i++) {
        memcpy(line_of(s, s->D, i - 1), line_of(s, s->D, i), (size_t)h->n * sizeof(double));
        memcpy(triangle_of(s, i - 1), triangle_of(s, i), (size_t)(i + 1) * sizeof(double));
        s->row[i - 1] = s->row[i];
        s->side[i - 1] = s->side[i];
        s->bound[i - 1] = s->bound[i];
        s->lambda[i - 1] = s->lambda[i];
    }
    s->count--;
    turn_back(h, at, s->count + behind);
}

/* the multipliers of the active rows as they stand; the one that pulls most is dropped, until none does */
static void settle(Hierarchy *h) {
    struct Guess *s = h->guess;
    while (s->count) {
        int n = s->count, worst = -1;
        double most = 0.0, *x = s->lambda;
        for (int i = 0; i < n; i++) x[i] = (-s->bound[i] - dot(triangle_of(s, i), x, i)) / triangle_of(s, i)[i];
        for (int i = n - 1; i >= 0; i--) {
            x[i] /= triangle_of(s, i)[i];
            add(-x[i], triangle_of(s, i), x, i);
        }
        for (int i = 0; i < n; i++)
            if (x[i] < most) most = x[i], worst = i;
        if (worst < 0) return;
        drop(h, worst, 0);
    }
}

/* what the active rows make of the point: into y_new, and value_new of the inequalities */
static void move(Hierarchy *h) {
    struct Guess *s = h->guess;
    int first = h->prefix_end, n = h->n;
    memset(s->u + first, 0, (size_t)(n - first) * sizeof(double));
    for (int i = 0; i < s->count; i++) add(-s->lambda[i], line_of(s, s->D, i) + first, s->u + first, n - first);
    unwhiten(h, s->u, h->w);
    for (int j = first; j < n; j++) h->w[j] += s->w_start[j];
    point_of(h);
    for (int k = 0; k < h->loose_count; k++) {
        int row = h->loose[k];
        if (row < h->active_rows) h->value_new[row] = value_of(h, row, h->y_new);
    }
}

/* the row that is violated most, relative to its norm; -1: none */
static int most_violated(const Hierarchy *h, int *side, double *violation) {
    const struct Guess *s = h->guess;
    int pick = -1;
    double most = MEETS;
    for (int k = 0; k < h->loose_count; k++) {
        int row = h->loose[k];
        double over = h->value_new[row] - h->upper[row], under = h->lower[row] - h->value_new[row];
        double by = over > under ? over : under;
        if (by <= most * h->norm[row] || s->active[row] || s->set_aside[row] || row >= h->active_rows) continue;
        if (!(h->norm[row] > 0.0)) continue;
        most = by / h->norm[row], pick = row, *side = over > under ? 1 : -1, *violation = by;
    }
    return pick;
}

/* The proposed row and active ones can't all hold: sets aside one of the lowest level, the proposed one where it is among
   these. The multipliers have moved towards taking the proposed one in: they are computed anew in any case. */
static void give_up_one(Hierarchy *h, const double *share) {
    struct Guess *s = h->guess;
    int victim = s->count, level = h->level_of[s->row[victim]];
    for (int i = 0; i < s->count; i++)
        if (share[i] < -1e-9 && h->level_of[s->row[i]] > level) victim = i, level = h->level_of[s->row[i]];
    s->set_aside[s->row[victim]] = 1;
    if (victim < s->count) drop(h, victim, 0);
    settle(h);
}

/* takes the proposed row in, and drops those that it relieves; where rows contradict each other one is set aside */
static void take_in(Hierarchy *h, double violation) {
    struct Guess *s = h->guess;
    double lambda = 0.0, *share = s->across;
    int independent = orthonormalise(h, s->count), row = s->row[s->count];
    if (!independent && violation <= SLIGHT * s->worst * h->norm[row]) {
        s->set_aside[row] = 1; /* where more rows meet than there are directions it would drive out those that are right */
        return;
    }
    for (;;) {
        int n = s->count, relieved = -1;
        double *r = triangle_of(s, n), across = r[n] * r[n], partial = INFINITY;
        memcpy(share, r, (size_t)n * sizeof(double));
        for (int i = n - 1; i >= 0; i--) {
            share[i] /= triangle_of(s, i)[i];
            add(-share[i], triangle_of(s, i), share, i);
        }
        for (int i = 0; i < n; i++)
            if (share[i] > 0.0 && s->lambda[i] < partial * share[i]) partial = s->lambda[i] / share[i], relieved = i;
        double full = independent && n < h->n - h->prefix_end ? violation / across : INFINITY;
        double t = partial < full ? partial : full;
        if (!(t < INFINITY)) {
            give_up_one(h, share);
            return;
        }
        for (int i = 0; i < n; i++) s->lambda[i] -= t * share[i];
        lambda += t;
        if (full <= partial) {
            s->active[s->row[n]] = 1;
            s->lambda[s->count++] = lambda;
            return;
        }
        if (independent) violation -= t * across;
        drop(h, relieved, 1);
        independent = is_independent(h, s->count);
    }
}

/* From the solution of the equalities: holds what it finds, and gives whether it found anything; else all is as before.
   It begins with the rows that `start` holds. `apart`: which of WEIGHTS. */
static int guess_active_set(Hierarchy *h, int apart, const signed char *start) {
    struct Guess *s = h->guess;
    const struct Weights *weights = WEIGHTS + apart;
    memcpy(h->y, h->y_new, (size_t)h->n * sizeof(double));
    if (h->prefix_end == h->n) return 1; /* nothing is left to choose */
    s->count = 0;
    memset(s->set_aside, 0, (size_t)h->rows);
    memset(s->active, 0, (size_t)h->rows);
    memcpy(s->w_start, h->w, (size_t)h->n * sizeof(double));
    memcpy(s->value_start, h->value_new, (size_t)h->active_rows * sizeof(double));
    lay_out_blocks(h, weights);
    for (int i = 0; i < h->active_rows && s->count < h->n - h->prefix_end; i++) {
        if (!start[i]) continue;
        if (!propose(h, i, start[i]) || !orthonormalise(h, s->count)) continue;
        s->active[i] = 1;
        s->count++;
    }
    settle(h);
    double first = 0.0;
    s->worst = 0.0;
    for (int round = 0; round < 2 * h->n + 50; round++) { /* one that goes on is of no use */
        int side = 0;
        double violation = 0.0;
        h->guesses++;
        move(h);
        int row = most_violated(h, &side, &violation);
        if (row < 0) break;
        if (!round) first = violation / h->norm[row];
        s->worst = fmax(s->worst, violation / h->norm[row]);
        if (!(violation < ASTRAY * (1.0 + first) * h->norm[row])) {
            memcpy(h->w, s->w_start, (size_t)h->n * sizeof(double));
            memcpy(h->value_new, s->value_start, (size_t)h->active_rows * sizeof(double));
            memcpy(h->y_new, h->y, (size_t)h->n * sizeof(double));
            return 0;
        }
        if (now() > h->deadline) break;
        if (propose(h, row, side)) take_in(h, violation);
        else s->set_aside[row] = 1;
    }
    for (int i = 0; i < s->count; i++) hold(h, s->row[i], s->side[i]);
    for (int i = 0; i < h->active_rows; i++) {
        if (!s->set_aside[i] || h->side[i]) continue;
        double over = h->value_new[i] - h->upper[i], under = h->lower[i] - h->value_new[i];
        if (fmax(over, under) > SLIGHT * s->worst * h->norm[i]) hold(h, i, over > under ? 1 : -1);
    }
    memcpy(h->y, h->y_new, (size_t)h->n * sizeof(double));
    return 1;
}
