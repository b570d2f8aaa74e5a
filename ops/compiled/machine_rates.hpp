#pragma once

/// The speed of the machine, for estimates.
namespace ktape::backend {

/// The rates that all threads of an op reach together.
struct MachineRates {
  double products_per_ms = 0;  ///< float32 multiplications with additions, in a large product
  double bytes_per_ms = 0;     ///< bytes that are read or written, in a copy that does not fit in the caches
};
/// Measures the rates, in some 20 ms. The rates are 0 without oneDNN.
MachineRates machine_rates();

}  // namespace ktape::backend
