#pragma once
#include <ktape/ops/kernels/engine/interface.h>

/// The convolutions of kernels/engine/interface.h for any arguments, float or double as T: products of
/// patches on BLAS, a block of them at a time, or, depthwise, plain loops. Scratch memory is bounded by a
/// quarter of a megabyte, or 32 patches, per thread; the gradient of the kernel also takes a copy of it per
/// thread.
namespace ktape::kernels {

template <class T>
void convolution(const ktape_convolution& c);
template <class T>
void convolution_backward_data(const ktape_convolution& c);
template <class T>
void convolution_backward_kernel(const ktape_convolution& c);

/// The same for as many groups as input channels and as output channels.
template <class T>
void depthwise(const ktape_convolution& c);
template <class T>
void depthwise_backward_data(const ktape_convolution& c);
template <class T>
void depthwise_backward_kernel(const ktape_convolution& c);

/// Whether a single group of at most 32 input channels is read at every second place, or at fewer: a window
/// of one place and strides, as in the shortcuts of residual networks.
bool skips_places(const ktape_convolution& c);

/// The same for a single group of at most four input channels, or that skips places: a vector of filters
/// meets one number of the input at a time. Products of matrices would move more than they compute.
bool is_narrow(const ktape_convolution& c);
template <class T>
void narrow_convolution(const ktape_convolution& c);
template <class T>
void narrow_convolution_backward_kernel(const ktape_convolution& c);

}  // namespace ktape::kernels
