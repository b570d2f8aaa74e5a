#ifndef KTAPE_ENGINE_H
#define KTAPE_ENGINE_H
#include <stdint.h>

/* The table of heavy kernels, and how a shared library replaces some of them. C, so that an engine may be
 * written in any language; the structs only ever grow at their end, with a new version of the entry.
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
 * It is loaded at the first use of a kernel or of `K::backend()`, checked, and stays loaded. An error lists
 * every entry that is missing, unknown or of another version. */

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel. `arguments` points to the struct named at the entry. Returns 1 when it has computed all results,
 * and 0, having written nothing, to leave the call to the built-in kernel. It must not throw and may be
 * called from several threads at once, also from within an OpenMP parallel region. Arrays are dense and
 * row-major, aligned to 4 bytes or more; results overlap nothing else. */
typedef int32_t (*ktape_kernel)(const void* arguments);

enum { KTAPE_FLOAT16 = 1, KTAPE_FLOAT32 = 2, KTAPE_FLOAT64 = 3 };

/* "matmul": c = a b, or c += a b with `accumulate`: (rows x inner) times (inner x columns). float32 and
 * float64. A matrix that is transposed lies in memory as (columns x rows); a stride counts elements from row
 * to row there. Products of a few elements do not come here. */
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
 * The first computes y; given y's gradient in y, the second computes that of x, and the third that of the
 * kernel, each in place of the tensor itself. float32 and float64. One or two spatial dimensions are the last
 * ones, with extents of 1 in front. The groups divide both channels; with as many groups as channels the
 * convolution is depthwise. The kernel of a model that predicts comes with a memo, where an engine may keep
 * what it made of it for the next call: a copy in a layout of its own, say. Several threads may use it at
 * once. */
#define KTAPE_CONVOLUTION_VERSION 2
typedef struct ktape_convolution {
  int32_t dtype;
  int64_t batch, groups, input_channels, output_channels;
  int64_t input[3], window[3], output[3]; /* spatial extents of x, kernel and y */
  int64_t strides[3], dilation[3];
  int64_t padding[3]; /* in front; what is needed behind follows from the extents */
  void* x;            /* (batch, input..., input_channels) */
  void* kernel;       /* (window..., input_channels / groups, output_channels) */
  void* y;            /* (batch, output..., output_channels) */
  /* Since version 2, of the kernel, or NULL: what was made of it, NULL at first, and what will be called with
   * it before the kernel changes or goes. An engine knows its own memos by the latter, and leaves others'. */
  void** memo;
  void (**destroy_memo)(void* memo);
} ktape_convolution;

/* "pooling": y is the largest element (NaN is larger than any number), or with `average` the mean, of x in
 * the window at each output position; cells outside x do not count. The position in its window (row-major) of
 * the largest element, the first of equal ones, goes to `index`, unless that is NULL. "pooling_backward":
 * given y's gradient in y, and for the maximum the index, that of x, in place of the tensor itself. float16,
 * float32 and float64; dimensions as in ktape_convolution. */
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
 * dx from y and dy. float16, float32 and float64. */
#define KTAPE_SOFTMAX_VERSION 1
typedef struct ktape_softmax {
  int32_t dtype;
  int64_t outer, axis, inner;
  const void* x;
  void* y;
  const void* dy;
  void* dx;
} ktape_softmax;

/* What batch normalization does to x, (outer, channels, inner). "batch_moments": mean and variance (of the
 * population) of each channel c in first and second. "batch_slopes": first[c] is the sum of g over the
 * channel, second[c] that of g * (x - centre[c]). "batch_affine": y = g * scale[c] + (x - centre[c]) *
 * slope[c] + offset[c], without the first term when g is NULL and without the others when x is. float16,
 * float32 and float64. */
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

#define KTAPE_ENGINE_VERSION 1 /* of the two structs of this part */
typedef struct ktape_engine {
  int32_t version;
  const char* name; /* what K::backend() says */
  const ktape_engine_entry* entries;
  int64_t entry_count;
} ktape_engine;

/* What an engine library exports. The result lives as long as the library. */
const ktape_engine* ktape_get_engine(void);

#ifdef __cplusplus
}
#endif
#endif
