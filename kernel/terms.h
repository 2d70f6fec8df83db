/* Passive joint forces, and the block of memory that whole-body quantities are written to. */
#ifndef WBC_TERMS_H
#define WBC_TERMS_H
#include "arrays.h"

/* Dampers, Coulomb friction and springs in the joints: what wbc/dynamics/passive.py computes. */
typedef struct {
    Py_ssize_t nv;
    double *damping, *friction; /* by velocity, shape (nv,); NULL where there are no passive forces */
    View speed;                 /* Python's, (nv,): over which friction turns from one direction to the other */
    Py_ssize_t springs;
    Py_ssize_t *spring_q, *spring_v;
    double *stiffness, *rest;
} Passive;

/* Reads (damping, friction, speeds, ((q index, v index, stiffness, rest), ...)), or None where there are none. */
int passive_read(Passive *passive, PyObject *given, Py_ssize_t nq, Py_ssize_t nv);

void passive_free(Passive *passive);

/* Subtracts the passive forces in a state from h. */
void passive_subtract(const Passive *passive, const double *q, const double *v, double *h);

/* Where things stand in the block: M (nv, nv), h (nv), J of the centre of mass (3, nv), its position and its bias. */
typedef struct {
    double *M, *h, *J, *com, *bias;
} Block;

static inline Py_ssize_t block_size(Py_ssize_t nv) { return nv * nv + 4 * nv + 6; }

static inline Block block_at(double *data, Py_ssize_t nv) {
    double *h = data + nv * nv, *J = h + nv, *com = J + 3 * nv;
    return (Block){data, h, J, com, com + 3};
}

#endif
