/* Python's own header, for every version from 3.11 on. */
#ifndef WBC_INTERPRETER_H
#define WBC_INTERPRETER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* From 3.12 on None lives for ever, and headers no longer count who holds it, for earlier versions neither. A kernel
   that is built there and runs in 3.11 would use None up, and end the process. */
#undef Py_RETURN_NONE
#define Py_RETURN_NONE return Py_NewRef(Py_None)

#endif
