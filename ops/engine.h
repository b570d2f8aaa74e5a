/* The interface of engine libraries, which kernels/engine/interface.h describes. */
#include "kernels/engine/interface.h"
