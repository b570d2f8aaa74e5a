#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/half.hpp>
#include <ktape/autograd/base/interrupt_gate.hpp>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/tensor_metadata.hpp>
#include <ktape/autograd/variable.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace ktape {

Ref<Storage> Storage::make(std::size_t bytes, std::size_t front) {
  static_assert(sizeof(Storage) <= 64);
  const std::size_t total = front + (bytes + 127) / 64 * 64;
  char* const header = static_cast<char*>(allocate(total)) + front;
  return Ref<Storage>::adopt(new (header) Storage(total, front, header + 64, nullptr));
}

Ref<Storage> Storage::make_pending(std::size_t front, PendingWork& work) {
  const std::size_t total = front + 64;
  char* const header = static_cast<char*>(allocate(total)) + front;
  return Ref<Storage>::adopt(new (header) Storage(total, front, nullptr, &work));
}

Ref<Storage> Storage::make_borrowed(std::size_t front, void* elements, ElementSource& owner) {
  const std::size_t total = front + 64;
  char* const header = static_cast<char*>(allocate(total)) + front;
  return Ref<Storage>::adopt(new (header) Storage(total, front, elements, &owner));
}

void Storage::fill(const Ref<Storage>& lender) {
  lender_ = lender;
  elements_.store(lender->data(), std::memory_order_release);
}

void* Storage::computed() {
  // No reader but the thread that runs the work changes source_, and the work is done under its lock.
  source_->finish();
  return elements_.load(std::memory_order_acquire);
}

void Storage::release() {
  if (refs_.load(std::memory_order_acquire) != 1 && refs_.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (memo_.data || lender_ || source_) release_parts();
  deallocate(front(), bytes_);
}

void Storage::release_parts() {
  destroy_memo();
  lender_ = {}, source_ = {};
}

TensorImpl::TensorImpl(const Shape& shape, std::int64_t size, DType dtype, Ref<Storage> storage)
    : dtype(dtype), size(size), shape(shape), storage(std::move(storage)) {}

TensorImpl::~TensorImpl() {
  if (metadata) release_metadata();
}

void TensorImpl::release_metadata() {
  // Tensors and the inputs from which they were computed form a chain; the loop unlinks the chain without
  // recursion.
  std::unique_ptr<TensorMetadata> rest = std::move(metadata);
  const auto last_owner = [](const Tensor& x) {
    return x.defined() && x.get()->refs.load(std::memory_order_acquire) == 1;
  };
  while (rest && last_owner(rest->computed_from.input)) {
    std::unique_ptr<TensorMetadata> next = std::move(rest->computed_from.input.get()->metadata);
    rest = std::move(next);
  }
}

[[gnu::flatten]] void TensorImpl::release() {
  if (refs.load(std::memory_order_acquire) != 1 && refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const Ref<Storage> last = std::move(storage);  // the block of the storage may hold this object
  if (last && last->front() == this) this->~TensorImpl();
  else delete this;
}

void* TensorImpl::operator new(std::size_t bytes) { return allocate(bytes); }
void TensorImpl::operator delete(void* block, std::size_t bytes) { deallocate(block, bytes); }

namespace {
/// Returns memory for a tensor and its elements. Throws ValueError when the system has no memory.
Ref<Storage> room_for(const Shape& shape, std::int64_t size, DType dtype, const char* op) {
  try {
    return Storage::make(static_cast<std::size_t>(size) * dtype.size(), sizeof(TensorImpl));
  } catch (const Error&) {
    fail("[", op, "] the tensor must fit in memory: received shape=", shape, ", dtype=", dtype);
  }
}

Tensor make(const Shape& shape, std::int64_t size, DType dtype, const char* op) {
  static_assert(sizeof(TensorImpl) % 64 == 0);
  interrupt_gate(op);
  Ref<Storage> storage = room_for(shape, size, dtype, op);
  void* const place = storage->front();
  return Tensor(Ref<TensorImpl>::adopt(::new (place) TensorImpl(shape, size, dtype, std::move(storage))));
}
}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, const char* op) {
  check_extents(op, shape, dtype.size());
  return make(shape, shape.count(), dtype, op);
}

Tensor Tensor::empty_like(const Tensor& x) { return make(x.shape(), x.size(), x.dtype(), "tensor"); }

namespace {
/// Returns a tensor in the room before the header of a storage.
Tensor in_front_of(Ref<Storage> storage, const Shape& shape, DType dtype) {
  void* const place = storage->front();
  return Tensor(
      Ref<TensorImpl>::adopt(::new (place) TensorImpl(shape, shape.count(), dtype, std::move(storage))));
}
}  // namespace

Tensor Tensor::pending(const Shape& shape, DType dtype, PendingWork& work) {
  interrupt_gate("tensor");
  return in_front_of(Storage::make_pending(sizeof(TensorImpl), work), shape, dtype);
}

Tensor Tensor::borrowed(const Shape& shape, DType dtype, void* elements, ElementSource& owner) {
  return in_front_of(Storage::make_borrowed(sizeof(TensorImpl), elements, owner), shape, dtype);
}

Tensor Tensor::from_buffer(const void* buffer, std::size_t bytes, const Shape& shape, DType dtype) {
  check_extents("from_buffer", shape, dtype.size());
  const std::size_t wanted = static_cast<std::size_t>(shape.count()) * dtype.size();
  if (bytes != wanted)
    fail("[from_buffer] the buffer must have ", wanted, " bytes for shape=", shape, ", dtype=", dtype,
         ": received bytes=", bytes);
  if (!buffer && bytes > 0)
    fail("[from_buffer] the buffer must not be null: received null for bytes=", bytes);
  Tensor out = empty(shape, dtype);
  if (dtype.is_bool()) convert(out.raw(), dtype, buffer, DType::UInt8, out.size());
  else if (bytes > 0) std::memcpy(out.raw(), buffer, bytes);
  return out;
}

void Tensor::copy_to(void* buffer, std::size_t bytes) const {
  expect_value("copy_to", *this);
  const std::size_t wanted = static_cast<std::size_t>(size()) * dtype().size();
  if (bytes != wanted)
    fail("[copy_to] the buffer must have ", wanted, " bytes for shape=", shape(), ", dtype=", dtype(),
         ": received bytes=", bytes);
  if (!buffer && bytes > 0) fail("[copy_to] the buffer must not be null: received null for bytes=", bytes);
  if (bytes > 0) std::memcpy(buffer, raw(), bytes);
}

Tensor Tensor::no_gradient() {
  static TensorImpl* const none = [] {
    auto* impl = new TensorImpl({}, 0, DType::Float32, {});
    impl->none = true;
    return impl;
  }();
  return Tensor(Ref<TensorImpl>(none));
}

Tensor Tensor::detach() const {
  if (is_symbolic(*this))
    return defer(
        "stop_gradient", {shape(), dtype()}, [](const Tensor& x) { return x.detach(); },
        WithoutGradient{*this});
  Tensor out = alias(shape());
  if (impl_->metadata && impl_->metadata->mask.defined())
    out.get()->metadata = std::make_unique<TensorMetadata>(TensorMetadata{.mask = impl_->metadata->mask});
  return out;
}

Tensor Tensor::alias(const Shape& shape) const {
  interrupt_gate("tensor");  // a loop of ops that share memory makes no other tensor
  return Tensor(Ref<TensorImpl>::adopt(new TensorImpl(shape, size(), dtype(), impl().storage)));
}

namespace {
[[noreturn]] void fail_none(const char* op, const char* what, const char* rule, const Tensor& x) {
  fail("[", op, "] ", what, ' ', rule, ": received ",
       x.get() ? "an undefined gradient (None): the loss does not depend on the tensor, or the tensor was "
                 "not recorded: a Variable, or tape.watch"
               : "an undefined tensor (None)");
}
}  // namespace

void Tensor::undefined() const { fail_none("tensor", "the tensor", "must be defined", *this); }

void fail_undefined(const char* op, const char* name, const Tensor& x) {
  fail_none(op, name, "must be a tensor", x);
}

void Tensor::expect_dtype(DType wanted) const {
  expect_value("data", *this);
  if (dtype() != wanted)
    fail<TypeError>("[data] the element type must be the tensor's: received ", wanted,
                    " for a tensor of dtype ", dtype());
}

Scalar Tensor::element(const std::int64_t* index, int count) const {
  expect_value("item", *this);
  std::int64_t offset = 0;
  if (count == 0) {
    if (size() != 1)
      fail("[item] without an index the tensor must have one element: received shape=", shape());
  } else if (count != ndim()) {
    fail("[item] the index must have one entry per axis: received ", count, " for shape=", shape());
  }
  for (int i = 0; i < count; ++i) {
    const std::int64_t at = index[i] < 0 ? index[i] + shape()[i] : index[i];
    if (at < 0 || at >= shape()[i])
      fail("[item] the index must be inside the shape: received index=", index[i], " on axis ", i,
           " of shape=", shape());
    offset = offset * shape()[i] + at;
  }
  return dispatch(dtype(), [&]<class T>() -> Scalar {
    if constexpr (is_half<T>) return static_cast<float>(pointer<T>()[offset]);
    else return pointer<T>()[offset];
  });
}

namespace {
template <class To, class From>
To convert_one(From value) {
  if constexpr (std::is_same_v<To, bool>) return value != From(0);
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    // A conversion out of range is undefined in C++. The bounds are compared in type From, where the upper
    // bound may have been rounded up.
    constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From high = static_cast<From>(std::numeric_limits<To>::max());
    if (value != value) return 0;
    if (value <= low) return std::numeric_limits<To>::min();
    return value >= high ? std::numeric_limits<To>::max() : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Converts n elements of types that C++ computes in.
void convert_native(std::int64_t n, void* out, DType to, const void* in, DType from) {
  dispatch_native(to, [&]<class To>() {
    dispatch_native(from, [&]<class From>() {
      std::transform(static_cast<const From*>(in), static_cast<const From*>(in) + n, static_cast<To*>(out),
                     convert_one<To, From>);
    });
  });
}

/// Converts n elements. Half precision is converted by way of float, a block at a time.
void convert_range(std::int64_t n, char* out, DType to, const char* in, DType from) {
  if (from.is_half() && to == DType::Float32) return widen(n, from, in, reinterpret_cast<float*>(out));
  if (to.is_half() && from == DType::Float32) return narrow(n, reinterpret_cast<const float*>(in), to, out);
  if (!from.is_half() && !to.is_half()) return convert_native(n, out, to, in, from);
  constexpr std::int64_t block = 256;
  float floats[block];
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(n - i, block);
    auto* const between = reinterpret_cast<char*>(floats);
    convert_range(m, between, DType::Float32, in + i * static_cast<std::int64_t>(from.size()), from);
    convert_range(m, out + i * static_cast<std::int64_t>(to.size()), to, between, DType::Float32);
  }
}
}  // namespace

void convert(void* out, DType to, const void* in, DType from, std::int64_t n) {
  parallel_for(n, 1 << 16, [=](std::int64_t begin, std::int64_t end) {
    convert_range(end - begin, static_cast<char*>(out) + begin * static_cast<std::int64_t>(to.size()), to,
                  static_cast<const char*>(in) + begin * static_cast<std::int64_t>(from.size()), from);
  });
}

TensorList::TensorList(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) list_.push_back(TensorArgument(variable));
}

}  // namespace ktape
