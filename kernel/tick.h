/* One tick of a controller: rows of tasks in x = (a, f, tau) in, the lexicographic optimum out.

   The unknowns are y = (l a, f / s): l is 1 for what moves, and a length of the robot for what turns. tau follows from the
   actuated rows of the equation of motion, M a + h = S' tau + J' f; its other rows are the first level, which nothing is
   traded against. So are the rows of closed loops, L a = -bias, whose forces are the last of f. Rows may be combined
   beforehand, where tau is not of single joints: M is not symmetric then. */
#ifndef WBC_TICK_H
#define WBC_TICK_H

#include "hierarchy.h"

/* what a block of columns is made of */
enum Kind { NOTHING = 0, MATRIX = 1, INDICES = 2 };

/* what a row is: an equation; or a bound, which may have no width, on forces and torques or on motion */
enum Sort { EQUATION = 0, LOAD = 1, MOTION = 2 };

typedef struct {
    enum Kind kind;
    const double *data;          /* MATRIX: entry (i, j) at i * row_step + j * column_step */
    ptrdiff_t row_step, column_step;
    const long long *indices;    /* INDICES: the entry that each row picks */
} Block;

typedef struct {
    int level, rows;
    int tier;                    /* of its pulls: see `Elastic`; -1: it has none */
    enum Kind kind[3];           /* of the columns of a, f, tau */
} Part;                          /* the rows of a task, as planned */

typedef struct {
    const double *lower, *upper, *weights; /* weights NULL: all 1 */
    double weight;                         /* of the task */
    Block block[3];
} Rows;                          /* the rows of a task in a tick */

/* Pulls of bounded size, see elastic.h; `tiers` is 0 where levels are solved as they are. */
typedef struct {
    int tiers;
    double *weight, *reach;      /* of each tier: of squared residuals; the residual at which its pull is at its bound */

    double *size, *unit;         /* root mean square norm of the equations of each tier; what each row is measured by */
    double *missed, *start;      /* of each row: by how much it missed what it demanded; in this tick, in the one before */
    double *shift;               /* of each row: its multiplier, as a residual: `start`, projected onto the ball of its tier */
    double *own;                 /* of each row: the root of its own weight */
    double held;                 /* a bound that is missed by less counts as held, in its unit */
    int *tier_of;                /* of each row: its tier + 1, or 0 */
    double *load;                /* of each tier: its pull as a share of its bound */
} Elastic;

typedef struct {
    Hierarchy hierarchy;
    Elastic elastic;
    int nv, nf, na, loops, parts; /* loops: how many of f hold loops closed */
    double scale;                /* s */
    double *length, *unit;       /* of each unknown: l and 1; 1 / l and s, by which y is multiplied for a and f */
    int *actuated, *unactuated;
    Part *part;
    int *first_row;              /* of each part in the hierarchy */
    double *K, *h;               /* the equation of motion, K y + h = S' tau, with rows of `ld` */
    double *root;                /* of each row's weight */
    unsigned char *sort;         /* of each row: see `Sort` */
} Tick;

int tick_new(Tick *t, int nv, int nf, int loops, int na, const int *actuated, double scale, int levels, int parts,
             const Part *part, int tiers);
void tick_free(Tick *t);

/* Lengths l of the accelerations, all above 0; before, they are 1. */
void tick_lengths(Tick *t, const double *lengths);

/* Writes the rows of closed loops, behind those of the equation of motion. */
void tick_loops(Tick *t, const double *L, ptrdiff_t row_step, ptrdiff_t column_step, const double *bias);

/* The solver, compiled for a kind of processor. */
typedef struct {
    /* a hierarchy whose rows were written */
    enum Status (*solve)(Hierarchy *h);
    /* the equation of motion: M by rows, and J with its steps between rows and columns */
    void (*dynamics)(Tick *t, const double *M, const double *h, const double *J, ptrdiff_t row_step, ptrdiff_t column_step);
    /* the rows of a part */
    void (*rows)(Tick *t, int part, const Rows *rows);
    /* x, and whether what is OPTIMAL is RELAXED, as some inequality is violated. `tolerance` is what forces and torques may
       be beyond their bounds, N and N m. */
    enum Status (*answer)(const Tick *t, enum Status status, double tolerance, double *x);
    double (*norm)(const double *row, int n);
} Solver;

extern const Solver solver_plain; /* for any processor */
extern const Solver solver_wide;  /* for one with AVX2 */
const Solver *solver(void);       /* the one for this processor */
void solver_choose(int plain);    /* the plain one, whatever the processor */

#endif
