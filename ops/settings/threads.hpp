#pragma once

/// The number of threads of an op.
namespace ktape::backend {

/// Returns the number of threads among which a large op of the calling thread is divided: OMP_NUM_THREADS,
/// or the number of processors, unless `set_num_threads` was called.
int num_threads();

/// Sets the number of threads among which a large op of the calling thread is divided; other threads keep
/// their numbers. The number is OpenMP's own (`omp_set_num_threads`), so BLAS, oneDNN and the loops of the
/// caller follow. Throws ValueError unless the number is from 1 to 1024. Keras has no such function;
/// TensorFlow's is `tf.config.threading.set_intra_op_parallelism_threads`.
///
///     K::set_num_threads(1);
///     CHECK(K::num_threads() == 1);
///
/// For example:
///
///     const int before = K::num_threads();
///     K::set_num_threads(1);
///     std::cout << K::num_threads();
///     K::set_num_threads(before);
void set_num_threads(int threads);

}  // namespace ktape::backend
