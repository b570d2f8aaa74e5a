#pragma once
#include <ktape/nn/config.hpp>

#include <functional>
#include <memory>
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

/// A kind of object that is a function: Result(Arguments...).
template <class Result, class... Arguments>
class FunctionObject : public Object {
 public:
  using Function = std::function<Result(Arguments...)>;
  virtual Result call(Arguments... arguments) const = 0;

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

/// A handle to a function object: a name, an object, or any callable of its arguments.
template <class ImplBase>
class FunctionHandle : public Handle<ImplBase> {
  using Function = typename ImplBase::Function;

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
      : Handle<ImplBase>(std::make_shared<typename ImplBase::template From<ImplBase>>("function", Config(),
                                                                                      std::move(f))) {}
  explicit FunctionHandle(std::shared_ptr<ImplBase> impl) : Handle<ImplBase>(std::move(impl)) {}
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
