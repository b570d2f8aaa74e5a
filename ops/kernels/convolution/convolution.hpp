#pragma once
#include <ktape/ops/kernels/kernel_calls.h>

/// The convolutions of kernels/kernel_calls.h for any arguments, float or double as T: products of patches on
/// BLAS, a block of patches at a time, or, depthwise, plain loops. Scratch memory is bounded by a quarter of
/// a megabyte, or 32 patches, per thread; the gradient of the kernel also needs a copy of the kernel per
/// thread.
namespace ktape::kernels {

template <class T>
void convolution(const ktape_convolution& c);
template <class T>
void convolution_backward_data(const ktape_convolution& c);
template <class T>
void convolution_backward_kernel(const ktape_convolution& c);

/// Convolves each channel separately: there are as many groups as input channels and as output channels.
template <class T>
void depthwise(const ktape_convolution& c);
template <class T>
void depthwise_backward_data(const ktape_convolution& c);
template <class T>
void depthwise_backward_kernel(const ktape_convolution& c);

/// Returns whether the call is a strided 1 x 1 convolution of a single group of at most 32 input channels, as
/// in the shortcuts of residual networks.
bool is_strided_pointwise(const ktape_convolution& c);

/// Returns whether the direct convolution suits the call: a strided 1 x 1 convolution, or a single group of
/// at most four input channels. The direct convolution multiplies a vector of filters by one element of the
/// input at a time; for such shapes, matrix products would spend more time moving data than computing.
bool suits_direct_convolution(const ktape_convolution& c);
template <class T>
void direct_convolution(const ktape_convolution& c);
template <class T>
void direct_convolution_backward_kernel(const ktape_convolution& c);

}  // namespace ktape::kernels
