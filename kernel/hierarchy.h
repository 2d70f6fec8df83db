/* Lexicographic least squares: levels of rows lower <= A y <= upper, highest priority first.

   Wanted is the y whose violations are least level by level, in the least-squares sense, and of these the one of least
   norm. The search is one active-set search over the whole hierarchy (Escande, Mansard, Wieber 2014; Dimitrov, Sherikov,
   Wieber 2015). One orthogonal factorisation from the right runs through the levels: A_k Q = [.. L_k 0] with
   Q = H_0 H_1 ..., a reflector for each direction that a level fixes, and y = Q w. Neither a basis of a null space nor a
   projector is ever formed; multipliers are found in the same coordinates w. What no inequality can change, the
   equalities of the levels down to the first that has inequalities (the "prefix"), is factorised once a solve.        */
#ifndef WBC_HIERARCHY_H
#define WBC_HIERARCHY_H

#include <stddef.h>

enum Status {
    OPTIMAL = 0, /* and every inequality holds */
    RELAXED = 1, /* optimal; some inequality could not hold */
    STOPPED = 2, /* by the bound on steps or time, or by a cycle that nothing broke: the best point so far */
    UNSOUND = 3  /* a number is not finite: `bad_row` says where */
};

#define FURTHEST 2 /* levels are taken apart so far by a guess: 0 to 2 */
#define AGAIN 50   /* after so many solves another way than the best is tried */

typedef struct {
    int column;     /* the first column that the level may fix */
    int rank;       /* how many it fixes */
    int count;      /* of its rows in the working set */
    int exact;      /* these are independent: whatever they are held at is met */
    int tall;       /* it fixes all that was free, by QR from the left, without reflectors */
    int formed;     /* its rows stand in T */
    int *order;     /* its rows in the order of the elimination */
    double *C;      /* unless exact: QR factorisation of its rows in its columns, column by column */
    double *tau;
    int *pivot;
    double *trail;  /* Q' of what its rows were to reach: behind `rank` stands what they miss */
} Level;

typedef struct {
    /* the problem: whoever solves writes it anew each time */
    int n, ld, rows, levels;
    int *start;     /* first row of each level, and `rows` */
    int *level_of;
    double *A, *lower, *upper;
    double *norm;   /* of each row before anything was eliminated from it: ranks are judged by it */
    int *from, *to; /* the columns of each row that are not zero */

    /* how it is solved */
    double rank_tolerance;
    int max_steps;
    double deadline; /* by `now()`, s */
    double keeping;  /* what keeping the first levels took lately, s: so much earlier is a search stopped */

    /* the answer */
    double *y, *value; /* and A y */
    signed char *side; /* what each row is held at: -1 lower, +1 upper, 0 not held. Kept: the next solve starts from it */
    double *multipliers; /* a line of `rows` for each level that pulls, see multipliers.c */
    int *pulling, pulls; /* these levels */
    int steps, guesses, bad_row;

    /* the working set */
    int *held, *held_count, *equalities, *equality_count; /* by level, each level's from its start on */
    int held_total;
    int *loose, loose_count; /* the inequality rows */
    double *low, *high, *target; /* bounds of the rows outside the set; what those in it are held at */
    signed char *before; /* the set of the last solve */
    double lasting;      /* how often, lately, that was the right one */
    int apart;           /* how far apart the guess took levels */
    double cost[FURTHEST + 1]; /* what a solve took lately that began so far apart, in steps; 0: not known */
    signed char since;   /* solves since another than the best was tried */

    /* the factorisation */
    Level *level;
    int prefix_level;   /* the first level that has inequalities; the equalities of those above it are done with */
    int prefix_columns; /* reflectors of the prefix */
    int prefix_end;     /* the first column that it leaves free */
    int prefix_rank;    /* of them, by the equalities of `prefix_level` */
    int prefix_clear;   /* whether that rank is clear */
    int *prefix_order;
    int reflectors;
    double *V, *tau, *w, *T, *P;
    unsigned char *prefixed; /* rows whose product with the prefix stands in P */

    /* where the search is */
    double length, *y_new, *value_new, *beyond, *size;
    int active_levels, active_rows; /* what the search looks at: all, or the first levels alone */

    /* room */
    double **line, *pull, *work, *pull_size, *missed;
    int *index, *left, left_count; /* rows that leave; those that left last */
    double *y_safe, *y_reached, *y_near;
    unsigned char *lenient, *settled, *stuck; /* rows that are held for a reason: as multipliers say, as leaving in vain has shown */
    double *slack; /* by which bounds are widened while a cycle is broken */
    unsigned long long *seen;
    int seen_count;
    struct Guess *guess; /* guess_room.h */
    void *memory;
} Hierarchy;

#define SEEN 256 /* so many working sets are remembered */

double now(void); /* s, of a clock that never goes back */

/* Lays out a hierarchy; 0 where memory is short. */
int hierarchy_new(Hierarchy *h, int n, int levels, const int *sizes);
void hierarchy_free(Hierarchy *h);
void hierarchy_forget(Hierarchy *h); /* the last active set */

#endif
