#include <ktape/nn/distributed/internal/sums.hpp>

#include <ktape/autograd/tensor.hpp>

namespace ktape::nn::distributed {
namespace {

class MessageSums final : public Sums {
 public:
  MessageSums(World& world, DType dtype, std::int64_t n)
      : world_(world), buffer_(Tensor::empty({n}, dtype)) {}

  void* own() override { return buffer_.raw(); }
  void send() override {
    const Wire wire = wire_of(buffer_.dtype());
    world_.check(MPI_Iallreduce(MPI_IN_PLACE, buffer_.raw(), wire_count(buffer_.size()), wire.type, wire.sum,
                                world_.gradients(), &request_));
  }
  bool poll() override {
    int done = 0;
    world_.check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  void take(std::int64_t begin, std::int64_t n, DType dtype, void* to) override {
    const auto offset = static_cast<std::size_t>(begin) * buffer_.dtype().size();
    convert(to, dtype, static_cast<const char*>(buffer_.raw()) + offset, buffer_.dtype(), n);
  }

 private:
  World& world_;
  Tensor buffer_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<Sums> message_sums(World& world, DType dtype, std::int64_t n) {
  return std::make_unique<MessageSums>(world, dtype, n);
}

}  // namespace ktape::nn::distributed
