/* Directions that a level is about to lose: it asks less of them, continuously.

   Near a singularity the rows of a level have a tiny singular value in what the levels above leave free: held exactly, they
   take huge accelerations from all that is below; dropped, they jump. Here such a direction leaves the level's rows and
   becomes a row of its own, soft for every level below: level j then finds least

       |A_j y - b_j|^2 + n_j^2 |(g y - c) / lambda|^2,

   with g, c the direction's part of its level, relative to the size of the task's rows, n_j the size of level j's rows, and
   lambda = max(MOST, e) l (1 - a (1 - l)) with l = 1 - (sigma / e)^2 for a singular value sigma below e, and a below. So it is
   held as ever where sigma reaches e, yields to what is below as sigma falls, and is free where it is lost; and the last,
   implicit level makes damped least squares of it. Only the rows A_j y are passed down as fixed: what is soft stays free.

   e is `soften`; or, up to FURTHER times that, the singular value at which what is asked of the direction would take
   BEYOND times all that can be given (`load`). What can't be had is thus given up over a way that is as long as the demand
   is large: within `soften` alone an arm that is told to reach too far would swing about its straight pose for ever.

   Nor is there much time to lose a direction that is run along: near a singularity joints become fast without end. So e is
   also, up to the same, as far as the fastest joint gets along the direction within AHEAD, if what is asked for makes it
   faster still; what brakes is held. The more is asked, the more of that counts, but little more soon: a task whose
   direction yields asks for more in each tick, and would lose it at once. A velocity counts that the level's rows have as
   well: legs that swing run along directions of a base that rests. What is lost so fast must yield slowly at first, or
   torques would jump: a = 1 - e' / e, with the e' that it would have at rest.

   Directions are found once a solve and from the equations alone, so that what is searched is one fixed problem.        */
#include "inside.h"

#define MOST 0.03    /* lambda where a direction is lost */
#define REFUGE 1e-13 /* weight of the way that a soft row goes in directions that a level does not care for: next to none */
#define ROUNDED 1e-13 /* of a refuge: so much more, and N is positive definite by rounding too */
#define BLOCK 8      /* singular vectors that are looked for together */
#define ROUNDS 10    /* of inverse iteration: directions three times as strong have fallen to rounding by then */
#define MORE 40      /* where directions further from lost count: those beside them are less far apart */
#define FIRST 5      /* so many rounds tell how far apart they are */
#define NEAR 0.5     /* squared: a value that may be below the limit once it is known better */
#define LEFT 1e-16   /* share of other directions that may be left in one */
#define FURTHER 10.0 /* how much further a direction may be from lost that is softened as too much is asked of it */
#define BEYOND 4.0   /* so much of what can be given is too much */
#define AHEAD 0.05   /* s: so far ahead it is looked how far a direction is run along */
#define GROWS 0.2    /* s: half of that counts where what is asked doubles the velocity in this time */

/* ---- which directions are weak --------------------------------------------------------------------------------- */

/* A bound on 1 / (the least singular value of the level's rows, each over the size of its task's rows): |R^-1| by Frobenius,
   or by its largest sums of lines and columns, whichever is less. The latter is 1 for a posture of any number of joints. */
static double inverse_size(Hierarchy *h, const Level *level) {
    int r = level->rank;
    double total = 0.0, most = 0.0, widest = 0.0, longest = 0.0, *x = h->work, *line = h->soft->Y;
    for (int i = 0; i < level->count; i++)
        if (h->scale[level->order[i]] > most) most = h->scale[level->order[i]];
    memset(line, 0, (size_t)r * sizeof(double));
    for (int j = 0; j < r; j++) { /* column j of the inverse: its entries from..to - 1 */
        int from = level->exact ? j : 0, to = level->exact ? r : j + 1;
        if (level->exact) {
            for (int i = j; i < r; i++) {
                const double *t = h->T + (size_t)level->order[i] * h->ld + level->column;
                double rest = i == j ? h->scale[level->order[i]] : -dot(t + j, x + j, i - j);
                x[i] = rest / t[i];
            }
        } else {
            memset(x, 0, (size_t)j * sizeof(double));
            x[j] = most;
            for (int i = j; i >= 0; i--) {
                const double *column = level->C + (size_t)i * level->count;
                x[i] /= column[i];
                add(-x[i], column, x, i);
            }
        }
        total += dot(x + from, x + from, to - from);
        double sum = 0.0;
        for (int i = from; i < to; i++) {
            double size = fabs(x[i]);
            sum += size;
            line[i] += size;
        }
        if (!(sum <= longest)) longest = sum;
    }
    for (int i = 0; i < r; i++)
        if (!(line[i] <= widest)) widest = line[i];
    return sqrt(fmin(total, widest * longest));
}

/* the level's rows, each over the size of its task's rows, in its columns: column by column, m x r */
static void normalised_columns(Hierarchy *h, const Level *level, double *W) {
    int m = level->count;
    for (int i = 0; i < m; i++) {
        int row = level->order[i];
        const double *t = h->T + (size_t)row * h->ld + level->column;
        double scale = h->scale[row] > 0.0 ? 1.0 / h->scale[row] : 0.0;
        for (int j = 0; j < level->rank; j++) W[(size_t)j * m + i] = scale * t[j];
    }
}

/* x = (R'R)^-1 x for R above the diagonal of W, m x r column by column */
static void invert_twice(const double *W, int m, int r, double *x) {
    for (int j = 0; j < r; j++) x[j] = (x[j] - dot(W + (size_t)j * m, x, j)) / W[(size_t)j * m + j];
    for (int j = r - 1; j >= 0; j--) {
        x[j] /= W[(size_t)j * m + j];
        add(-x[j], W + (size_t)j * m, x, j);
    }
}

/* `size`: how long each line was, without its part along those before it */
static void orthonormal_lines(double *X, int lines, int r, double *size) {
    for (int i = 0; i < lines; i++) {
        double *x = X + (size_t)i * r;
        for (int again = 0; again < 2; again++)
            for (int j = 0; j < i; j++) add(-dot(x, X + (size_t)j * r, r), X + (size_t)j * r, x, r);
        double norm = size[i] = sqrt(dot(x, x, r));
        for (int j = 0; j < r; j++) x[j] = norm > 0.0 ? x[j] / norm : i == j;
    }
}

/* turns pairs of lines of X until the lines of Y = X R' are orthogonal (one-sided Jacobi): Y then has the singular values */
static void diagonalise(double *X, double *Y, int lines, int r) {
    for (int sweep = 0; sweep < 12; sweep++) {
        double off = 0.0;
        for (int i = 0; i < lines; i++)
            for (int j = i + 1; j < lines; j++) {
                double *a = Y + (size_t)i * r, *b = Y + (size_t)j * r;
                double aa = dot(a, a, r), bb = dot(b, b, r), ab = dot(a, b, r);
                if (!(fabs(ab) > 1e-15 * sqrt(aa * bb))) continue;
                if (fabs(ab) > off * sqrt(aa * bb)) off = fabs(ab) / sqrt(aa * bb);
                double zeta = (bb - aa) / (2.0 * ab), t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
                for (int both = 0; both < 2; both++) {
                    double *p = (both ? X : Y) + (size_t)i * r, *q = (both ? X : Y) + (size_t)j * r;
                    for (int k = 0; k < r; k++) {
                        double u = p[k], v = q[k];
                        p[k] = c * u - s * v, q[k] = s * u + c * v;
                    }
                }
            }
        if (off < 1e-14) return;
    }
}

/* How many rounds of inverse iteration those singular vectors take whose value is below a limit: in each round what is left
   of others in them falls by the square of the ratio of values. `grown`: how the lines grew in the last one, by 1 / value^2. */
static int rounds_for(const double *grown, int lines, double limit, int most) {
    double weakest = NEAR / (limit * limit), last = INFINITY, wanted = INFINITY;
    for (int i = 0; i < lines; i++) {
        if (grown[i] < last) last = grown[i];
        if (grown[i] > weakest && grown[i] < wanted) wanted = grown[i];
    }
    if (!(wanted < INFINITY)) return 0; /* there are none */
    double ratio = last / wanted; /* of squares */
    double rounds = ratio < 1.0 ? log(LEFT) / log(ratio) : most;
    return rounds < most ? (int)rounds + 1 : most;
}

/* The weakest right singular vectors of the level's normalised rows, lines of X, and their singular values; gives how many
   there are. Those with values below the limit are accurate. By block inverse iteration on the triangle of a QR
   factorisation. */
static int weakest(Hierarchy *h, const Level *level, int rounds, double limit, double *X, double *sigma) {
    struct Soft *s = h->soft;
    int m = level->count, r = level->rank, lines = r < BLOCK ? r : BLOCK;
    double *W = s->W, *Y = s->Y;
    normalised_columns(h, level, W);
    factor_columns(W, s->tau, s->pivot, m, r, 0.0, 0);
    for (int i = 0; i < lines; i++)
        for (int j = 0; j < r; j++) X[(size_t)i * r + j] = (i == j % lines) + 0.1 * ((i + 1) * (j + 3) % 7 - 3);
    orthonormal_lines(X, lines, r, sigma);
    for (int round = 1; round <= rounds && lines < r; round++) {
        for (int i = 0; i < lines; i++) invert_twice(W, m, r, X + (size_t)i * r);
        orthonormal_lines(X, lines, r, sigma);
        if (round >= FIRST && round >= rounds_for(sigma, lines, limit, rounds)) break;
    }
    for (int i = 0; i < lines; i++)
        for (int j = 0; j < r; j++) {
            double sum = 0.0;
            for (int k = j; k < r; k++) sum += W[(size_t)k * m + j] * X[(size_t)i * r + k];
            Y[(size_t)i * r + j] = sum;
        }
    diagonalise(X, Y, lines, r);
    for (int i = 0; i < lines; i++) sigma[i] = sqrt(dot(Y + (size_t)i * r, Y + (size_t)i * r, r));
    return lines;
}

/* ---- how much is asked of them --------------------------------------------------------------------------------- */

static double most_load(Hierarchy *h) {
    double most = 0.0;
    if (h->soft->most_load >= 0.0) return h->soft->most_load;
    for (int i = 0; i < h->loads; i++) {
        double load = h->load_share[i] * sqrt(dot(h->load[i], h->load[i], h->n));
        if (load > most) most = load;
    }
    return h->soft->most_load = most < INFINITY ? most : 0.0;
}

/* whether the level's own step may take more of some load than can be given: most often it is short enough to be sure */
static int asks_much(Hierarchy *h, const Level *level) {
    const double *w = h->w + level->column;
    return h->loads && sqrt(dot(w, w, level->rank)) * most_load(h) > BEYOND;
}

/* v, of the level's columns, as a direction of y */
static const double *direction_of(Hierarchy *h, const Level *level, const double *v) {
    double *y = h->y_new;
    memset(y, 0, (size_t)h->ld * sizeof(double));
    memcpy(y + level->column, v, (size_t)level->rank * sizeof(double));
    int last = level->tall ? level->column : level->column + level->rank;
    for (int j = (last < h->reflectors ? last : h->reflectors) - 1; j >= 0; j--) reflect(h, j, &y, 1);
    return y;
}

/* the singular value at which what is asked of a direction y would take BEYOND times what can be given */
static double demand_of(Hierarchy *h, const double *y, double asked, double sigma) {
    double most = 0.0;
    for (int i = 0; i < h->loads; i++) {
        double load = h->load_share[i] * fabs(dot(h->load[i], y, h->n));
        if (load > most) most = load;
    }
    return sigma * fabs(asked) * most / BEYOND;
}

/* ---- how fast they are run along ------------------------------------------------------------------------------- */

/* how fast the fastest joint is where y is run along with a velocity of 1, rad/s or m/s */
static double fastest_joint(const Hierarchy *h, const double *y) {
    double fastest = 0.0;
    for (int i = 0; i < h->joints; i++) {
        double speed = h->joint ? fabs(dot(h->joint + (size_t)i * h->n, y, h->n)) : h->turn[i] * fabs(y[i]);
        if (speed > fastest) fastest = speed;
    }
    return fastest;
}

/* How far a direction of length 1 gets within AHEAD by its velocity, where what is asked of it goes the same way: half of it
   where that doubles the velocity within GROWS, and 0 where nothing is asked. Counted is what its fastest joint turns: legs
   that share a direction are as near to lost as one of them. */
static double run_of(double velocity, double asked, double fastest) {
    double far = AHEAD * velocity, further = AHEAD * GROWS * asked;
    return velocity * asked > 0.0 ? fastest * fastest * far * further / fabs(far + further) : 0.0;
}

/* at most so far does any direction of the level get */
static double furthest_run(const Hierarchy *h, const Level *level) {
    const double *w = h->w + level->column;
    return run_of(h->moves, sqrt(dot(w, w, level->rank)), h->fastest);
}

/* the velocity of the level's rows along v, of its columns, over what is left of the direction */
static double velocity_of_rows(Hierarchy *h, const Level *level, const double *v) {
    double squares = 0.0, found = 0.0;
    for (int i = 0; i < level->count; i++) {
        int row = level->order[i];
        if (!(h->scale[row] > 0.0)) continue;
        double u = dot(h->T + (size_t)row * h->ld + level->column, v, level->rank) / h->scale[row];
        double rate = h->rate ? h->rate[row] : dot(row_of(h, h->A, row), h->velocity, h->n);
        squares += u * u, found += u * rate / h->scale[row];
    }
    return squares > 0.0 ? found / squares : 0.0;
}

/* ---- from a level's rows to soft rows -------------------------------------------------------------------------- */

/* Takes a weak direction v, of the level's columns, out of its rows, and makes a soft row of it. */
static void make_soft(Hierarchy *h, Level *level, int k, const double *v, double sigma, double share, double at_rest) {
    struct Soft *s = h->soft;
    int m = level->count, q = s->count++, n = h->n;
    double *g = s->row + (size_t)q * h->ld, *u = h->work, length = 0.0, bound = 0.0;
    memset(g, 0, (size_t)h->ld * sizeof(double));
    for (int i = 0; i < m; i++) {
        int row = level->order[i];
        const double *t = h->T + (size_t)row * h->ld + level->column;
        u[i] = h->scale[row] > 0.0 ? dot(t, v, level->rank) / h->scale[row] : 0.0;
        length += u[i] * u[i];
    }
    length = sqrt(length);
    s->about[q] = level->order[0];
    double most = 0.0;
    for (int i = 0; i < m; i++) {
        int row = level->order[i];
        u[i] /= length;
        if (fabs(u[i]) > most) most = fabs(u[i]), s->about[q] = row;
        if (!(h->scale[row] > 0.0)) continue;
        add(u[i] / h->scale[row], row_of(h, h->A, row), g, n);
        bound += u[i] * h->target[row] / h->scale[row];
    }
    s->level[q] = k, s->sigma[q] = sigma, s->bound[q] = bound, s->length[q] = sqrt(dot(g, g, n));
    s->share[q] = share;
    double lost = 1.0 - (sigma / share) * (sigma / share), early = 1.0 - at_rest / share;
    s->lambda[q] = (share > MOST ? share : MOST) * lost * (1.0 - early * (1.0 - lost));
    for (int i = 0; i < m; i++) { /* what is left of the rows */
        int row = level->order[i];
        double part = u[i] * h->scale[row];
        add(-part, g, row_of(h, h->A, row), n);
        h->target[row] = h->lower[row] = h->upper[row] = h->target[row] - part * bound;
        if (h->norm[row] < h->scale[row]) h->norm[row] = h->scale[row]; /* rounding of its size is left of a small one */
        h->from[row] = 0, h->to[row] = n;
        h->prefixed[row] = 0;
    }
}

/* Softens a level that was just factorised with its equalities alone. Gives whether it must be factorised again. */
static int soften_level(Hierarchy *h, int k) {
    struct Soft *s = h->soft;
    Level *level = h->level + k;
    double sigma[BLOCK], share[BLOCK], at_rest[BLOCK];
    /* a bound of no width counts as an equation in a search, but is nothing to give up: where there are bounds none is */
    if (!level->rank || h->equality_count[k] < h->start[k + 1] - h->start[k]) return 0;
    int much = asks_much(h, level), any = 0;
    double limit = fmin(FURTHER * h->soften, 1.0), furthest = much ? limit : fmin(limit, furthest_run(h, level));
    if (!(inverse_size(h, level) * fmax(furthest, h->soften) > 1.0)) return 0;
    int early = furthest > h->soften, found = weakest(h, level, early ? MORE : ROUNDS, fmax(furthest, h->soften), s->X, sigma);
    for (int i = 0; i < found; i++) {
        share[i] = at_rest[i] = h->soften;
        if (!(early && sigma[i] < furthest)) continue;
        const double *v = s->X + (size_t)i * level->rank, *y = direction_of(h, level, v);
        double asked = dot(v, h->w + level->column, level->rank);
        double fastest = h->moves > 0.0 ? fastest_joint(h, y) : 0.0;
        double run = h->moves > 0.0 ? run_of(dot(h->velocity, y, h->n), asked, fastest) : 0.0;
        if (run > h->soften) run = fmin(run, run_of(velocity_of_rows(h, level, v), asked, fastest));
        if (much) at_rest[i] = fmax(h->soften, fmin(limit, demand_of(h, y, asked, sigma[i])));
        share[i] = fmax(at_rest[i], fmin(limit, run));
    }
    while (s->count < SOFT_MOST) { /* the weakest first: where there are too many the strongest stay */
        int least = -1;
        for (int i = 0; i < found; i++)
            if (sigma[i] < share[i] * (1.0 - 1e-9) && (least < 0 || sigma[i] < sigma[least])) least = i;
        if (least < 0) break;
        make_soft(h, level, k, s->X + (size_t)least * level->rank, sigma[least], share[least], at_rest[least]);
        sigma[least] = INFINITY;
        any = 1;
    }
    return any;
}

/* ---- soft rows in an inner step -------------------------------------------------------------------------------- */

/* the soft rows in the coordinates w, as far as the reflectors first .. last - 1 lead */
static void reflect_soft(Hierarchy *h, int first, int last) {
    for (int j = first; j < last; j++) reflect(h, j, h->soft->line, h->soft->count);
}

static void begin_soft(Hierarchy *h, int last) {
    struct Soft *s = h->soft;
    memcpy(s->turned, s->row, (size_t)s->count * h->ld * sizeof(double));
    for (int i = 0; i < s->count; i++) s->line[i] = s->turned + (size_t)i * h->ld;
    reflect_soft(h, 0, last);
}

/* L L' = N in place, N of q rows */
static void cholesky(double *N, int q) {
    for (int i = 0; i < q; i++)
        for (int j = 0; j <= i; j++) {
            double rest = N[i * SOFT_MOST + j] - dot(N + i * SOFT_MOST, N + j * SOFT_MOST, j);
            N[i * SOFT_MOST + j] = i == j ? sqrt(rest > 0.0 ? rest : 1e-300) : rest / N[j * SOFT_MOST + j];
        }
}

static void solve_lower(const double *L, int q, double *x) {
    for (int i = 0; i < q; i++) x[i] = (x[i] - dot(L + i * SOFT_MOST, x, i)) / L[i * SOFT_MOST + i];
}

static void solve_upper(const double *L, int q, double *x) {
    for (int i = q - 1; i >= 0; i--) {
        x[i] /= L[i * SOFT_MOST + i];
        add(-x[i], L + i * SOFT_MOST, x, i);
    }
}

/* how many of the soft rows count for level k, its own and those of the levels above: they were made in this order */
static int soft_down_to(const Hierarchy *h, int k) {
    int q = 0;
    while (q < h->soft->count && h->soft->level[q] <= k) q++;
    return q;
}

/* N = Lambda^2 + G G' / refuge for the soft rows' columns from `end` on: what they weigh at level k when those are free to
   serve them. In its own level a direction counts like a row of it, but less as it is lost: where limits leave the level
   too little for all its rows, it must not fall behind the others at once. */
static void weigh_soft(Hierarchy *h, int q, int end, int k, double *N) {
    struct Soft *s = h->soft;
    for (int i = 0; i < q; i++)
        for (int j = 0; j <= i; j++) {
            double refuge = k == h->levels ? 1.0 : REFUGE;
            double shared = end < h->n ? dot(s->line[i] + end, s->line[j] + end, h->n - end) : 0.0;
            double own = s->level[i] == k ? s->share[i] / s->sigma[i] : s->lambda[i];
            N[i * SOFT_MOST + j] = shared / refuge + (i == j ? own * own + ROUNDED * shared / refuge : 0.0);
        }
    cholesky(N, q);
}

/* the mean size of a level's rows */
static double size_of_level(const Hierarchy *h, int k) {
    double squares = 0.0;
    int count = 0;
    for (int i = h->start[k]; i < h->start[k + 1]; i++) squares += h->scale[i] * h->scale[i], count += h->scale[i] > 0.0;
    return count ? sqrt(squares / count) : 0.0;
}

/* The level's columns of w with soft rows beside its own: least squares of both. Its own rows come in as they stand after
   `solve_columns`: a triangle where they are exact, else R. */
static void solve_with_soft(Hierarchy *h, Level *level, int k) {
    struct Soft *s = h->soft;
    int q = soft_down_to(h, k), m = level->count, r = level->rank, c = level->column, all = r + q;
    int end = level->tall ? h->n : c + r;
    double n = size_of_level(h, k), *E = s->E, *rest = s->rest, *N = s->N + (size_t)k * SOFT_MOST * SOFT_MOST;
    weigh_soft(h, q, end, k, N);
    for (int j = 0; j < r; j++) {
        double *column = E + (size_t)j * all;
        if (level->exact)
            for (int i = 0; i < r; i++) column[i] = i < j ? 0.0 : h->T[(size_t)level->order[i] * h->ld + c + j];
        else
            for (int i = 0; i < r; i++) column[i] = 0.0;
        for (int i = 0; i < q; i++) column[r + i] = n * s->line[i][c + j];
        solve_lower(N, q, column + r);
    }
    if (!level->exact)
        for (int j = 0; j < r; j++) memcpy(E + (size_t)level->pivot[j] * all, level->C + (size_t)j * m, (size_t)(j + 1) * sizeof(double));
    memcpy(rest, level->trail, (size_t)r * sizeof(double)); /* exact: what the rows are to reach; else Q' of it */
    for (int i = 0; i < q; i++) rest[r + i] = n * (s->bound[i] - dot(s->line[i], h->w, c));
    solve_lower(N, q, rest + r);
    factor_columns(E, s->tau, s->pivot, all, r, 0.0, 1);
    apply_q(E, s->tau, all, r, rest, 1);
    for (int j = r - 1; j >= 0; j--) {
        const double *column = E + (size_t)j * all;
        double found = rest[j] / column[j];
        h->w[c + s->pivot[j]] = found;
        add(-found, column, rest, j);
    }
    double *pull = s->pull + (size_t)k * SOFT_MOST; /* rho: what each soft row pulls with */
    for (int i = 0; i < q; i++) pull[i] = n * (dot(s->line[i], h->w, c + r) - s->bound[i]);
    solve_lower(N, q, pull);
    solve_upper(N, q, pull);
    for (int i = 0; i < q; i++) pull[i] *= n;
}

/* what is free at the end: damped least squares of the soft rows */
static void finish_soft(Hierarchy *h, int end) {
    struct Soft *s = h->soft;
    int q = s->count;
    double *N = s->N + (size_t)h->levels * SOFT_MOST * SOFT_MOST, *pull = s->pull + (size_t)h->levels * SOFT_MOST;
    weigh_soft(h, q, end, h->levels, N);
    for (int i = 0; i < q; i++) pull[i] = dot(s->line[i], h->w, end) - s->bound[i];
    solve_lower(N, q, pull);
    solve_upper(N, q, pull);
    for (int i = 0; i < q; i++) add(-pull[i], s->line[i] + end, h->w + end, h->n - end);
}
