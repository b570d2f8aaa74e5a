#pragma once
#include <ktape/ops/kernels/kernel_calls.h>

/// The convolutions of kernels/kernel_calls.h for any arguments, float or double as T: products of patches on
/// BLAS, a block of them at a time, or, depthwise, plain loops. Scratch memory is bounded by a quarter of a
/// megabyte, or 32 patches, per thread; the gradient of the kernel also needs a copy of the kernel per
/// thread.
namespace ktape::kernels {

template <class T>
void convolution(const ktape_convolution& c);
template <class T>
void convolution_backward_data(const ktape_convolution& c);
template <class T>
void convolution_backward_kernel(const ktape_convolution& c);

/// Convolves each channel by itself: as many groups as input channels and as output channels.
template <class T>
void depthwise(const ktape_convolution& c);
template <class T>
void depthwise_backward_data(const ktape_convolution& c);
template <class T>
void depthwise_backward_kernel(const ktape_convolution& c);

/// Returns whether the call is a strided 1 x 1 convolution of a single group of at most 32 input channels, as
/// in the shortcuts of residual networks.
bool is_strided_pointwise(const ktape_convolution& c);

/// Direct convolution, for such and for a single group of at most four input channels: a vector of filters
/// times one element of the input at a time. Products of matrices would move more than they compute.
bool suits_direct_convolution(const ktape_convolution& c);
template <class T>
void direct_convolution(const ktape_convolution& c);
template <class T>
void direct_convolution_backward_kernel(const ktape_convolution& c);

}  // namespace ktape::kernels
