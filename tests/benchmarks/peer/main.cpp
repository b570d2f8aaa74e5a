// peer_libtorch [threads=2] [only-this-workload]
#include <cstdlib>

#include "peer.hpp"

int main(int argc, char** argv) {
  torch::set_num_threads(argc > 1 ? std::atoi(argv[1]) : 2);
  if (argc > 2) peer::only = argv[2];
  torch::manual_seed(0);
  peer::models();
  peer::kernels();
  peer::layers();
  for (const bool nhwc : {false, true}) peer::images(nhwc);
  for (const bool nhwc : {false, true}) peer::classifiers(nhwc);
  peer::arrays();
#ifdef PEER_FFTW
  peer::transforms();
#endif
}
