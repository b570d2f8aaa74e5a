#pragma once
#include <ktape/ops/schema/config.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

/// Objects of nn (initializers, losses, layers, ...): a class with a name, and a config from which an equal
/// object can be made; programs pass handles to them by value.
namespace ktape::nn {

/// The base class of all objects with handles. The base class of each kind of object defines `kind`, a word
/// for messages and for the registry.
class Object {
 public:
  virtual ~Object() = default;
  /// Returns the name under which files and strings know the class.
  virtual std::string class_name() const = 0;
  /// Returns the arguments of the constructor, under Keras's names.
  virtual Config get_config() const { return {}; }
  /// Returns the object's form in the config of another object: {class_name, config}.
  virtual Value to_value() const { return Config{{"class_name", class_name()}, {"config", get_config()}}; }
};

/// Makes an object of a kind from a name or a {class_name, config}. Classes that users registered come before
/// the classes of Keras, which are found in any of Keras's spellings. Throws ValueError, with the nearest
/// known names, for an unknown name, and TypeError for a value that is neither a string nor a config.
///
///     auto object = nn::make_object("activation", "relu");
///     std::cout << object->class_name();
std::shared_ptr<Object> make_object(const char* kind, const Value& value);

/// A reference-counted handle: copies refer to one object. A default-constructed handle is undefined, like
/// Python's None.
///
///     nn::Dense a(2), b = a;
///     a(K::ones({1, 3}));
///     std::cout << b.count_params() << ": copies are the same layer";
template <class ImplBase>
class Handle {
 public:
  using Impl = ImplBase;

  Handle() = default;
  explicit Handle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  std::string class_name() const { return impl().class_name(); }
  Config get_config() const { return impl().get_config(); }
  /// Returns true if both handles refer to the same object.
  bool is(const Handle& other) const { return impl_ == other.impl_; }

  const std::shared_ptr<Impl>& shared() const { return impl_; }
  Impl& impl() const {
    if (!impl_) fail("[", Impl::kind, "] the ", Impl::kind, " must be defined: received None");
    return *impl_;
  }
  Value to_value() const { return impl_ ? impl_->to_value() : Value(); }

 protected:
  /// Makes the object that a name or a {class_name, config} describes; returns null for null.
  static std::shared_ptr<Impl> made(const Value& value) {
    if (value.is_null()) return nullptr;
    return std::static_pointer_cast<Impl>(make_object(Impl::kind, value));
  }

 private:
  std::shared_ptr<Impl> impl_;
};

template <class T>
concept AnyHandle = requires(const T& t) {
  t.shared();
};

/// A function pointer without its argument types, for comparisons with other functions.
///
///     std::cout << nn::losses::name_of(nn::any_function(nn::losses::huber));
using AnyFunction = void (*)();
template <class Result, class... Arguments>
AnyFunction any_function(Result (*function)(Arguments...)) {
  return reinterpret_cast<AnyFunction>(function);
}

/// A function of the library and its name. Tables of such functions stand in headers, because the address of
/// a library function in the program may differ from the address in the library. Internal: for activations and losses.
struct NamedFunction {
  AnyFunction function;
  const char* name;
};
/// Returns the name of a function in a table; an empty string if the table lacks the function. Internal: for activations and losses.
inline std::string name_in(std::span<const NamedFunction> table, AnyFunction function) {
  for (const NamedFunction& known : table)
    if (known.function == function) return known.name;
  return {};
}

/// An object that is a function: Result(Arguments...). Internal: for ActivationImpl and its like.
template <class Result, class... Arguments>
class FunctionObject : public Object {
 public:
  using Function = std::function<Result(Arguments...)>;
  virtual Result call(Arguments... arguments) const = 0;

  /// Returns the form of a function of the library in configs, or null for other functions. Kinds that have
  /// such functions hide this member.
  static Value known(AnyFunction) { return {}; }

  /// An object that calls a function.
  template <class Base>
  class From final : public Base {
   public:
    From(std::string class_name, Config config, Function f)
        : class_name_(std::move(class_name)), config_(std::move(config)), f_(std::move(f)) {}
    std::string class_name() const override { return class_name_; }
    Config get_config() const override { return config_; }
    Result call(Arguments... arguments) const override { return f_(arguments...); }

   private:
    std::string class_name_;
    Config config_;
    Function f_;
  };
};

/// A converter of functions that take more arguments than the std::function type Callable.
template <class Callable>
struct WithDefaults;

template <class Result, class... Arguments>
struct WithDefaults<std::function<Result(Arguments...)>> {
  /// Returns a callable that calls f with default values for the additional arguments. Throws ValueError,
  /// which names the kind of object that f was given for, unless the additional arguments are structs of
  /// options.
  template <class R, class... Others>
  static std::function<Result(Arguments...)> call(const char* kind, R (*f)(Arguments..., Others...)) {
    if constexpr ((std::is_class_v<std::remove_cvref_t<Others>> && ...))
      return
          [f](Arguments... arguments) -> Result { return f(arguments..., std::remove_cvref_t<Others>()...); };
    else
      fail("[", kind, "] a function of more than ", sizeof...(Arguments),
           " arguments must be wrapped in a lambda with fixed values for the others: received a function of ",
           sizeof...(Arguments) + sizeof...(Others));
  }
};

/// A handle to a function object, made from a name, an object, or any callable of the arguments. A function
/// of the library stands for its name; WithDefaults describes functions that take more arguments.
template <class ImplBase, class Function = typename ImplBase::Function>
class FunctionHandle;

template <class ImplBase, class Result, class... Arguments>
class FunctionHandle<ImplBase, std::function<Result(Arguments...)>> : public Handle<ImplBase> {
  using Function = std::function<Result(Arguments...)>;

 public:
  FunctionHandle() = default;
  FunctionHandle(NoneType) {}
  FunctionHandle(std::nullptr_t) {}
  /// Makes the object that Keras or the user registered under a name. Throws ValueError, with the nearest
  /// known names, for an unknown name.
  FunctionHandle(const char* name) : FunctionHandle(Value(name)) {}
  FunctionHandle(const std::string& name) : FunctionHandle(Value(name)) {}
  /// Makes the object that a name or a {class_name, config} describes.
  explicit FunctionHandle(const Value& value) : Handle<ImplBase>(Handle<ImplBase>::made(value)) {}
  template <class F>
  requires(!AnyHandle<F> && std::is_constructible_v<Function, F>) FunctionHandle(F f)
      : FunctionHandle(of_callable(std::move(f))) {}
  template <class R, class... Options>
  requires std::is_convertible_v<R, Result> FunctionHandle(R (*f)(Arguments..., Options...))
      : FunctionHandle(of_function(f)) {}
  explicit FunctionHandle(std::shared_ptr<ImplBase> impl) : Handle<ImplBase>(std::move(impl)) {}

 private:
  static std::shared_ptr<ImplBase> of_callable(Function f) {
    return std::make_shared<typename ImplBase::template From<ImplBase>>("function", Config(), std::move(f));
  }
  template <class R, class... Options>
  static std::shared_ptr<ImplBase> of_function(R (*f)(Arguments..., Options...)) {
    const Value known = ImplBase::known(any_function(f));
    if (!known.is_null()) return Handle<ImplBase>::made(known);
    return of_callable(WithDefaults<Function>::call(ImplBase::kind, f));
  }
};

/// A handle to an Impl class of a user, derived from the handle class Base (Initializer, Layer, ...). The
/// handle takes the arguments of the Impl's constructor; `->` reaches the members of the Impl.
///
///     struct ScaledImpl : nn::RegularizerImpl {
///       double factor;
///       explicit ScaledImpl(double factor) : factor(factor) {}
///       std::string class_name() const override { return "Scaled"; }
///       Tensor call(const Tensor& x) const override { return factor * K::sum(x); }
///     };
///     nn::HandleOf<nn::Regularizer, ScaledImpl> penalty(0.5);
///     std::cout << penalty(K::ones({4})) << " " << penalty->factor;
template <class Base, class Implementation>
class HandleOf : public Base {
 public:
  template <class... Arguments>
  requires std::constructible_from<Implementation, Arguments...>
  explicit HandleOf(Arguments&&... arguments)
      : Base(std::make_shared<Implementation>(std::forward<Arguments>(arguments)...)) {}
  Implementation* operator->() const { return static_cast<Implementation*>(this->shared().get()); }
};

}  // namespace ktape::nn
