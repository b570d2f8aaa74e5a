#pragma once
#include <ktape/nn/core/config.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

/// What initializers, losses, layers and the others of nn have in common: a class with a name and a config
/// from which it can be made again, behind a handle that is passed by value.
namespace ktape::nn {

/// The base of every class behind a handle. Each kind of object has a base of its own that says its `kind`,
/// a word for messages and for the registry.
class Object {
 public:
  virtual ~Object() = default;
  /// The name under which files and strings know the class.
  virtual std::string class_name() const = 0;
  /// The arguments of the constructor, under Keras's names.
  virtual Config get_config() const { return {}; }
  /// What stands for the object in the config of another: {class_name, config}.
  virtual Value to_value() const { return Config{{"class_name", class_name()}, {"config", get_config()}}; }
};

/// Makes the object of a kind that a name or a {class_name, config} stands for: what users registered under
/// it, or the class of Keras, in any of Keras's spellings. Throws ValueError, with the nearest known names,
/// for an unknown one; TypeError for a value that is neither.
std::shared_ptr<Object> make_object(const char* kind, const Value& value);

/// A reference-counted handle: copies are the same object. A default-made one is undefined: Python's None.
template <class ImplBase>
class Handle {
 public:
  using Impl = ImplBase;

  Handle() = default;
  explicit Handle(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

  bool defined() const { return impl_ != nullptr; }
  std::string class_name() const { return impl().class_name(); }
  Config get_config() const { return impl().get_config(); }
  /// Whether both are one object.
  bool is(const Handle& other) const { return impl_ == other.impl_; }

  const std::shared_ptr<Impl>& shared() const { return impl_; }
  Impl& impl() const {
    if (!impl_) fail("[", Impl::kind, "] the ", Impl::kind, " must be defined: received None");
    return *impl_;
  }
  Value to_value() const { return impl_ ? impl_->to_value() : Value(); }

 protected:
  /// The object that a name or a {class_name, config} stands for; null stands for none.
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

/// A function, whatever its arguments are: to be compared with others.
using AnyFunction = void (*)();
template <class Result, class... Arguments>
AnyFunction any_function(Result (*function)(Arguments...)) {
  return reinterpret_cast<AnyFunction>(function);
}

/// A function of the library and its name. Tables of them stand in headers: a program may have addresses of
/// its own for the library's functions.
struct NamedFunction {
  AnyFunction function;
  const char* name;
};
/// The name in a table; empty where the table does not have the function.
inline std::string name_in(std::span<const NamedFunction> table, AnyFunction function) {
  for (const NamedFunction& known : table)
    if (known.function == function) return known.name;
  return {};
}

/// A kind of object that is a function: Result(Arguments...).
template <class Result, class... Arguments>
class FunctionObject : public Object {
 public:
  using Function = std::function<Result(Arguments...)>;
  virtual Result call(Arguments... arguments) const = 0;

  /// What stands for a function of the library in configs; null for others. A kind that has such functions
  /// hides this.
  static Value known(AnyFunction) { return {}; }

  /// One that is made of a function.
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

/// Functions with more arguments than a callable of a type takes.
template <class Callable>
struct WithDefaults;

template <class Result, class... Arguments>
struct WithDefaults<std::function<Result(Arguments...)>> {
  /// The callable that gives the others their defaults. Throws ValueError, naming the kind of object that the
  /// function was given for, unless the others are structs of options.
  template <class R, class... Others>
  static std::function<Result(Arguments...)> call(const char* kind, R (*f)(Arguments..., Others...)) {
    if constexpr ((std::is_class_v<std::remove_cvref_t<Others>> && ...))
      return
          [f](Arguments... arguments) -> Result { return f(arguments..., std::remove_cvref_t<Others>()...); };
    else
      fail("[", kind, "] a function of more than ", sizeof...(Arguments),
           " arguments must be called by a lambda that gives the others: received one of ",
           sizeof...(Arguments) + sizeof...(Others));
  }
};

/// A handle to a function object: a name, an object, or any callable of its arguments. A function of the
/// library stands for its name; see WithDefaults for one that takes more arguments.
template <class ImplBase, class Function = typename ImplBase::Function>
class FunctionHandle;

template <class ImplBase, class Result, class... Arguments>
class FunctionHandle<ImplBase, std::function<Result(Arguments...)>> : public Handle<ImplBase> {
  using Function = std::function<Result(Arguments...)>;

 public:
  FunctionHandle() = default;
  FunctionHandle(NoneType) {}
  FunctionHandle(std::nullptr_t) {}
  /// What Keras or the user calls so. Throws ValueError, with the nearest known names, for an unknown one.
  FunctionHandle(const char* name) : FunctionHandle(Value(name)) {}
  FunctionHandle(const std::string& name) : FunctionHandle(Value(name)) {}
  /// A name or a {class_name, config}.
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

/// A handle of the class Base (Initializer, Layer, ...) to an Impl of the user's, made from its constructor's
/// arguments; `->` reaches its members.
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
