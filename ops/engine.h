/* The interface of engine libraries, which kernels/kernel_calls.h describes. */
#include "kernels/kernel_calls.h"
