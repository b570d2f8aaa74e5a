#ifndef KTAPE_ENGINE_H
#define KTAPE_ENGINE_H
#include <stdint.h>

/* The table of heavy kernels, some of which a shared library can replace. The interface is C, so that an
 * engine may be written in any language. A later version of an entry only adds members at the end of its
 * struct.
 *
 * A library becomes the backend when `KERAS_BACKEND` or the `backend` of keras.json names it, by a path or by
 * a name that the loader finds ("libmine.so"). It exports one function, `ktape_get_engine`, whose result
 * lists every entry of the table:
 *
 *     static int32_t matmul(const void* arguments) {
 *       const ktape_matmul* call = arguments;
 *       if (call->dtype != KTAPE_FLOAT32) return 0;
 *       ... computes call->c ...
 *       return 1;
 *     }
 *     static const ktape_engine_entry entries[] = {
 *       {"matmul", KTAPE_MATMUL_VERSION, matmul},
 *       {"convolution", KTAPE_CONVOLUTION_VERSION, NULL},
 *       ...
 *     };
 *     static const ktape_engine engine = {KTAPE_ENGINE_VERSION, "mine", entries,
 *                                         sizeof entries / sizeof entries[0]};
 *     const ktape_engine* ktape_get_engine(void) { return &engine; }
 *
 * The library is loaded and checked at the first use of a kernel or of `K::backend()`, and stays loaded. An
 * error lists every entry that is missing, unknown or of another version. */

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel. `arguments` points to the struct that is described at the entry. The kernel returns 1 after
 * computing all results, or 0 without writing anything, to leave the call to the built-in kernel. A kernel
 * must not throw. Several threads may call a kernel at once, also from within an OpenMP parallel region.
 * Arrays are dense and row-major, aligned to 4 bytes or more; results do not overlap other arrays. */
typedef int32_t (*ktape_kernel)(const void* arguments);

/* The types of elements. Libraries get float32 and float64: half precision is converted to float32 before. */
enum { KTAPE_FLOAT16 = 1, KTAPE_FLOAT32 = 2, KTAPE_FLOAT64 = 3, KTAPE_BFLOAT16 = 4 };

/* "matmul": c = a b, or c += a b with `accumulate`: (rows x inner) times (inner x columns). float32 and
 * float64. A transposed matrix is stored as (columns x rows). A stride is the distance of two stored rows, in
 * elements. Small products never reach the engine. */
#define KTAPE_MATMUL_VERSION 1
typedef struct ktape_matmul {
  int32_t dtype, accumulate;
  int64_t rows, columns, inner;
  const void* a;
  int64_t a_stride;
  const void* b;
  int64_t b_stride;
  int32_t a_transposed, b_transposed;
  void* c; /* its rows are `columns` elements apart */
} ktape_matmul;

/* "convolution", "convolution_backward_data", "convolution_backward_kernel": with positions outside x
 * counting as zeros and i over the input channels of c's group,
 *
 *     y[n, o, c] = sum over k, i of x[n, o * strides + k * dilation - padding, i] * kernel[k, i, c].
 *
 * "convolution" computes y. The other two kernels get the gradient of y in y: "convolution_backward_data"
 * stores the gradient of x in x, "convolution_backward_kernel" stores the gradient of the kernel in kernel.
 * float32 and float64. With one or two spatial dimensions, the extents before them are 1. `groups` divides
 * the numbers of input and output channels; with one group for each channel the convolution is depthwise. In
 * inference a kernel has a memo, in which an engine may store data for later calls, such as a copy of the
 * kernel in another layout. Several threads may use a memo at once. */
#define KTAPE_CONVOLUTION_VERSION 2
typedef struct ktape_convolution {
  int32_t dtype;
  int64_t batch, groups, input_channels, output_channels;
  int64_t input[3], window[3], output[3]; /* spatial extents of x, kernel and y */
  int64_t strides[3], dilation[3];
  int64_t padding[3]; /* before the first element; the padding at the end follows */
  void* x;            /* (batch, input..., input_channels) */
  void* kernel;       /* (window..., input_channels / groups, output_channels) */
  void* y;            /* (batch, output..., output_channels) */
  /* Since version 2: the memo of the kernel (NULL until an engine stores one), and the function that destroys
   * the memo before the kernel changes or is destroyed. Both pointers are NULL without a place for a memo. An
   * engine recognizes its memos by destroy_memo and must not change the memos of other engines. */
  void** memo;
  void (**destroy_memo)(void* memo);
} ktape_convolution;

/* "pooling": y is, at each output position, the largest element (NaN is larger than any number) or, with
 * `average`, the mean of x in the window; cells outside x do not count. For the maximum, `index` gets the
 * position of the largest element in its window (row-major; the first of equal elements), unless `index` is
 * NULL. "pooling_backward" gets the gradient of y in y and, for the maximum, the index, and stores the
 * gradient of x in x. float32 and float64; dimensions as in ktape_convolution. */
#define KTAPE_POOLING_VERSION 1
typedef struct ktape_pooling {
  int32_t dtype, average;
  int64_t batch, channels;
  int64_t input[3], window[3], output[3], strides[3], padding[3];
  void* x;     /* (batch, input..., channels) */
  void* y;     /* (batch, output..., channels) */
  void* index; /* as y: uint8 when a window has at most 256 cells, int32 otherwise */
} ktape_pooling;

/* "softmax": y = exp(x) / sum(exp(x)) over the middle dimension of (outer, axis, inner). "softmax_backward":
 * dx from y and dy. float32 and float64. */
#define KTAPE_SOFTMAX_VERSION 1
typedef struct ktape_softmax {
  int32_t dtype;
  int64_t outer, axis, inner;
  const void* x;
  void* y;
  const void* dy;
  void* dx;
} ktape_softmax;

/* The steps of batch normalization of x, (outer, channels, inner). "batch_moments" stores the mean and the
 * population variance of each channel c in first[c] and second[c]. "batch_slopes" stores the sum of g over
 * the channel in first[c], and the sum of g * (x - centre[c]) in second[c]. "batch_affine" computes y = g *
 * scale[c] + (x - centre[c]) * slope[c] + offset[c], without the first term if g is NULL, and without the
 * other terms if x is NULL. float32 and float64. */
#define KTAPE_BATCH_NORMALIZATION_VERSION 1
typedef struct ktape_batch_normalization {
  int32_t dtype;
  int64_t outer, channels, inner;
  const void *x, *g;
  const void *centre, *scale, *slope, *offset; /* a float for each channel, or for float64 a double */
  double *first, *second;
  void* y;
} ktape_batch_normalization;

typedef struct ktape_engine_entry {
  const char* name;
  int32_t version;
  ktape_kernel function; /* NULL keeps the built-in kernel */
} ktape_engine_entry;

#define KTAPE_ENGINE_VERSION 1 /* the version of ktape_engine_entry and ktape_engine */
typedef struct ktape_engine {
  int32_t version;
  const char* name; /* the result of K::backend() */
  const ktape_engine_entry* entries;
  int64_t entry_count;
} ktape_engine;

/* The function that an engine library exports. The result must live as long as the library. */
const ktape_engine* ktape_get_engine(void);

#ifdef __cplusplus
}
#endif
#endif
