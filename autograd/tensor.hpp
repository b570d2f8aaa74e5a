#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/ref.hpp>
#include <ktape/autograd/base/shape.hpp>
#include <ktape/autograd/pending_work.hpp>
#include <ktape/autograd/scalar.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <vector>

namespace ktape {

struct TensorMetadata;
class Indices;
class Node;
class Symbol;
class Tensor;
class Variable;

/// An expression of xtensor, recognized by its members, so that xtensor need not be included here.
template <class E>
concept XtensorExpression = requires(const E& expression) {
  typename E::value_type;
  typename E::expression_tag;
  expression.dimension();
  expression.shape();
};

/// Reference-counted memory: this header, then the elements, 64-byte aligned and padded to a multiple of 64
/// bytes. The block may begin with room for one more object before the header: the tensor for which the
/// memory was allocated. The elements of a pending storage lie elsewhere: they get memory when they are
/// computed. Borrowed elements lie in the memory of their owner, at any multiple of their size, and the 63 bytes
/// after them can be read.
class Storage {
 public:
  /// Makes a storage with `front` bytes of room before the header; `front` is a multiple of 64.
  static Ref<Storage> make(std::size_t bytes, std::size_t front = 0);
  /// Makes a storage without elements, which `work` computes later.
  static Ref<Storage> make_pending(std::size_t front, PendingWork& work);
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// Makes a storage for elements in the memory of `owner`, which are never written.
  static Ref<Storage> make_borrowed(std::size_t front, void* elements, ElementSource& owner);
  /// Returns whether the elements must not be overwritten: other tensors have them, or they are borrowed.
  bool shared() const { return refs_.load(std::memory_order_acquire) != 1 || borrowed(); }
  /// Returns the elements, and computes them first if the storage is pending.
  [[gnu::always_inline]] void* data() {
    void* const elements = elements_.load(std::memory_order_acquire);
    return elements ? elements : computed();
  }
  void* front() { return reinterpret_cast<char*>(this) - front_; }

  /// Returns whether the elements have not been computed yet.
  bool pending() const { return !elements_.load(std::memory_order_acquire); }
  bool pending_on(const PendingWork& work) const { return pending() && source_.get() == &work; }
  /// Returns the storage in whose block the elements lie. The storage is not pending.
  Ref<Storage> lender() { return lender_ ? lender_ : Ref<Storage>(this); }
  /// Ends the wait: the elements of this storage are those of the lender.
  void fill(const Ref<Storage>& lender);

  /// Data that a kernel derived from the elements and can reuse. The memo is destroyed with the elements, and
  /// before the elements change.
  struct Memo {
    void* data = nullptr;
    void (*destroy)(void* data) = nullptr;
  };
  Memo& memo() { return memo_; }
  void destroy_memo() {
    if (memo_.data) memo_.destroy(memo_.data), memo_ = {};
  }

 private:
  Storage(std::size_t bytes, std::size_t front, void* elements, ElementSource* source)
      : bytes_(bytes), front_(front), elements_(elements), source_(source) {}
  bool borrowed() const { return source_ && !lender_ && !pending(); }
  void* computed();
  void release_parts();  ///< destroys the memo and releases the lender and the source
  std::atomic<std::int32_t> refs_{1};
  std::size_t bytes_, front_;  ///< the sizes of the whole block and of the room before the header
  std::atomic<void*> elements_;
  Ref<Storage> lender_;
  Ref<ElementSource> source_;  ///< computes the elements of a pending storage, or owns borrowed elements
  Memo memo_;
};

/// The object that Tensor handles share. After construction only the tape node and the metadata change. A
/// symbolic tensor has a symbol in place of a storage, and a size of -1 where the shape is not fully known.
/// The object lies in one block with its storage, before the header of the storage, unless the tensor shares
/// the storage of another tensor.
struct TensorImpl {
  std::atomic<std::int32_t> refs{1};
  DType dtype;
  bool none = false;                 ///< no value: stands for None, see Tensor::no_gradient
  bool stands_for_variable = false;  ///< see TensorArgument
  std::uint32_t output = 0;          ///< the index among the outputs of the node or symbol
  std::int64_t size;
  Shape shape;
  Ref<Storage> storage;
  Ref<Node> node;
  std::unique_ptr<TensorMetadata> metadata;  ///< see tensor_metadata.hpp
  Ref<Symbol> symbol;

  TensorImpl(const Shape& shape, std::int64_t size, DType dtype, Ref<Storage> storage);
  ~TensorImpl();
  void retain() { refs.fetch_add(1, std::memory_order_relaxed); }
  void release();
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes);

 private:
  void release_metadata();
};

/// A small handle to an n-dimensional array: shape, dtype, contiguous row-major elements, and the tape node
/// that made the array, if any. Copies share the value, which never changes. A default-constructed Tensor is
/// undefined and stands for Python's None.
///
///     Tensor x = K::constant({{1., 2.}, {3., 4.}});
///     std::cout << x.shape() << " " << x.dtype() << " " << x.item<float>(1, 0) << "\n"
///               << x * 10 - x[0];
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & = default;
  /// Deleted, because a tensor never changes, `x[0] = y` neither.
  Tensor& operator=(const Tensor&) && =
      delete;  // declare a Variable, or make a new tensor with ops::slice_update
  /// Evaluates an xtensor expression into a new tensor of the element type of the expression. Defined in
  /// autograd/xtensor.hpp.
  template <XtensorExpression E>
  explicit Tensor(const E& expression);

  /// Returns a new tensor with uninitialized elements. Throws ValueError, naming the op that makes the
  /// tensor, for extents that are negative or too large for the available memory.
  static Tensor empty(const Shape& shape, DType dtype, const char* op = "tensor");
  /// Returns a tensor with the shape and dtype of x and uninitialized elements.
  static Tensor empty_like(const Tensor& x);
  /// Returns a tensor whose elements `work` computes later.
  static Tensor pending(const Shape& shape, DType dtype, PendingWork& work);
  /// Returns a tensor whose elements lie in the memory of `owner`, see Storage. Internal: sources only.
  static Tensor borrowed(const Shape& shape, DType dtype, void* elements, ElementSource& owner);
  /// Returns a copy of the elements in a row-major buffer of a dtype that is known at run time; a bool is a
  /// byte, where any byte other than 0 is true. Throws ValueError unless the buffer has exactly the size of
  /// the elements.
  ///
  ///     Tensor x = Tensor::from_buffer(bytes.data(), bytes.size(), {2, 3}, "float32");
  static Tensor from_buffer(const void* buffer, std::size_t bytes, const Shape& shape, DType dtype);
  /// Returns the tensor that `gradients` gives for a missing gradient. The tensor is undefined, like
  /// Tensor(), but ops that get this tensor explain in their errors that a gradient is missing.
  static Tensor no_gradient();
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ && !impl_->none; }
  explicit operator bool() const = delete;
  const Shape& shape() const { return impl().shape; }
  DType dtype() const { return impl().dtype; }
  int ndim() const { return impl().shape.rank(); }
  /// Returns the number of elements.
  std::int64_t size() const { return impl().size; }

  /// Returns the element at the index (negative counts from the end), or the only element, converted to T.
  /// Throws ValueError when the index does not fit the shape or the element is outside the range of T.
  template <class T = float, class... Index>
  T item(Index... index) const {
    const std::int64_t at[] = {static_cast<std::int64_t>(index)..., 0};
    return element(at, sizeof...(index)).template in<T>();
  }
  Scalar element(const std::int64_t* index, int count) const;

  /// Implements `x[0]`, `x[{Slice(0, 2), All}]` and `x[tensor]` by a call of `subscript`, which
  /// argument-dependent lookup finds in ops/indexing.hpp. Braces make Indices.
  template <class T = Indices>
  Tensor operator[](const T& index) const {
    return subscript(*this, index);
  }

  /// Returns the elements, row-major. Throws TypeError when T is not the element type of the tensor.
  template <class T>
  const T* data() const {
    expect_dtype(dtype_of<T>());
    return pointer<T>();
  }

  /// Copies the elements, row-major, to a buffer. Throws ValueError unless the buffer has exactly the size of
  /// the elements, `size() * dtype().size()`.
  void copy_to(void* buffer, std::size_t bytes) const;

  /// Returns a tensor with the value and mask of this tensor, without a tape node: ops on the result are not
  /// recorded. The result shares the memory.
  Tensor detach() const;
  /// Returns a tensor with the elements of this tensor in another shape of equal size, without a tape node.
  /// The result shares the memory.
  Tensor alias(const Shape& shape) const;

  // Gives the library's ops access without checks.
  template <class T>
  T* pointer() const {
    return static_cast<T*>(impl_->storage->data());
  }
  [[gnu::always_inline]] void* raw() const { return impl_->storage->data(); }
  Node* node() const { return impl_->node.get(); }
  TensorImpl* get() const { return impl_.get(); }
  TensorImpl& impl() const {
    if (!defined()) undefined();
    return *impl_;
  }
  /// Returns whether this handle is the only handle that can see the elements, so that the elements may be
  /// overwritten.
  bool exclusive() const {
    return impl_->refs.load(std::memory_order_acquire) == 1 && !impl_->storage->shared();
  }

 private:
  [[noreturn]] void undefined() const;
  void expect_dtype(DType wanted) const;
  Ref<TensorImpl> impl_;
};

/// Writes the tensor as NumPy prints an array, with shape and dtype; long tensors are summarized.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// Returns the tensor as text, with at most `edge` entries at either end of each axis when the tensor has
/// more than `threshold` elements.
std::string to_string(const Tensor& tensor, int edge = 3, std::int64_t threshold = 1000);

/// Throws the error of `expect_defined`. Internal: for `expect_defined`.
[[noreturn]] void fail_undefined(const char* op, const char* name, const Tensor& x);
/// Throws ValueError, naming the argument, when x is undefined: "[dot] y must be a tensor: received an
/// undefined tensor (None)".
///
///     try {
///       ktape::expect_defined("mine", "x", Tensor());
///     } catch (const ktape::Error& error) {
///       std::cout << error.what();
///     }
inline void expect_defined(const char* op, const char* name, const Tensor& x) {
  if (!x.defined()) fail_undefined(op, name, x);
}

/// Throws ValueError, naming the placeholders on which x depends, when x is symbolic.
///
///     try {
///       ktape::expect_value("my_op", K::placeholder({2}));
///     } catch (const ktape::ValueError& error) {
///       std::cout << error.what();
///     }
void expect_value(const char* op, const Tensor& x);

/// Converts n elements from one dtype to another by the rules of `K::cast`: to bool by `!= 0`, to integers by
/// truncation (out of range saturates, NaN becomes 0).
///
///     const double numbers[] = {1.7, -2.2, 1e300};
///     std::int32_t integers[3];
///     ktape::convert(integers, ktape::DType::Int32, numbers, ktape::DType::Float64, 3);
///     std::cout << integers[0] << " " << integers[1] << " " << integers[2];
void convert(void* out, DType to, const void* in, DType from, std::int64_t n);

/// A tensor or a variable in a list or an option of an op. A Tensor made from a variable is a value; a
/// TensorArgument made from a variable stays the variable, so that a deferred op reads the variable when the
/// op runs.
class TensorArgument : public Tensor {
 public:
  TensorArgument() = default;
  TensorArgument(const Tensor& tensor);
  TensorArgument(const Variable& variable);
};

/// A list of tensors as an argument: a braced list of tensors and variables, a vector of either, or one
/// tensor.
///
///     Variable w = K::variable({1.f}), v = K::variable({2.f});
///     std::vector<Tensor> grads = K::gradients(K::sum(w * v), {w, v});
///     std::cout << grads[0] << " " << grads[1];
class TensorList {
 public:
  TensorList() = default;
  TensorList(std::initializer_list<TensorArgument> tensors) : list_(tensors.begin(), tensors.end()) {}
  TensorList(std::vector<Tensor> tensors) : list_(std::move(tensors)) {}
  TensorList(const std::vector<Variable>& variables);
  TensorList(const Tensor& tensor) : list_{TensorArgument(tensor)} {}
  TensorList(const Variable& variable) : list_{TensorArgument(variable)} {}

  std::size_t size() const { return list_.size(); }
  bool empty() const { return list_.empty(); }
  const Tensor& operator[](std::size_t i) const { return list_[i]; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }
  const std::vector<Tensor>& vector() const { return list_; }

 private:
  std::vector<Tensor> list_;
};

}  // namespace ktape
