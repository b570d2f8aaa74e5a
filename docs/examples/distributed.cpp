#include "examples.hpp"

#include <ktape/nn/distributed/distributed.hpp>

// Programs of several processes, with what the only process, or the first one, prints.

EXAMPLE(
    "nn::distributed::init nn::distributed::InitOptions nn::distributed::rank "
    "nn::distributed::size nn::distributed::first") {
  nn::distributed::init({.timeout = 60});
  if (nn::distributed::first())
    std::cout << "rank " << nn::distributed::rank() << " of "
              << nn::distributed::size();
}

EXAMPLE("nn::distributed::Optimizer nn::distributed::OptimizerOptions") {
  nn::distributed::init();
  nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile(
      {.optimizer = nn::distributed::Optimizer(nn::SGD(0.1), {.float16 = true}),
       .loss = "mse"});
  auto history = model.fit(K::ones({8, 2}), K::ones({8, 1}),
                           {.batch_size = 4, .epochs = 2, .verbose = 0});
  std::cout << history["loss"].size() << " epochs";
}

EXAMPLE("nn::distributed::allreduce nn::distributed::AllreduceOptions") {
  nn::distributed::init();
  Tensor x = K::constant({1., 2.}) * (nn::distributed::rank() + 1.f);
  std::cout << nn::distributed::allreduce(x, {.op = "sum"});
}

EXAMPLE("nn::distributed::allgather") {
  nn::distributed::init();
  Tensor mine = K::full({1, 2}, nn::distributed::rank());
  std::cout << nn::distributed::allgather(mine);
}

EXAMPLE("nn::distributed::broadcast nn::distributed::barrier") {
  nn::distributed::init();
  Variable w = K::random_uniform_variable({2}, 0, 1);
  nn::distributed::broadcast(std::vector<Variable>{w},
                             0);  // all processes have the values of rank 0
  nn::distributed::barrier();
  std::cout << nn::distributed::broadcast(K::ones({2}));
}

EXAMPLE("nn::distributed::SyncBatchNormalization") {
  nn::distributed::init();
  nn::Sequential model(
      {nn::distributed::SyncBatchNormalization({.input_shape = {2}})});
  std::cout << model.predict(K::ones({1, 2}), {.verbose = 0}).shape();
}

EXAMPLE("nn::distributed::traffic nn::distributed::Traffic") {
  nn::distributed::init();
  nn::distributed::Traffic sent = nn::distributed::traffic();
  std::cout << sent.bytes << " bytes, hidden: " << sent.hidden();
}
