#include "examples.hpp"

// Ops of a program: recorded for gradients, deferred where arguments are symbolic.

EXAMPLE("record recording Inputs Grads") {
  auto cube = [](const Tensor& x) {
    Tensor y;
    {
      ktape::NoGrad values_only;
      y = x * x * x;
    }
    if (ktape::recording(x))
      ktape::record("cube", y, {x}, [x](const Tensor& g, ktape::Grads& grads) {
        grads.to(0, [&] { return g * 3.f * x * x; });
      });
    return y;
  };
  Variable x = K::constant({1., 2.});
  Tensor y = cube(x);
  std::cout << y << "\n" << K::gradients(y, x)[0];
}

EXAMPLE("defer info_of WithoutGradient") {
  struct Scaled {
    static Tensor call(const Tensor& x, const Tensor& like) {
      if (ktape::is_symbolic(x, like))
        return ktape::defer("scaled", ktape::info_of(x), call, x,
                            ktape::WithoutGradient{like});
      return x * static_cast<double>(like.size());
    }
  };
  Tensor x = K::placeholder({.shape = Shape{2}});
  auto f = K::function({x}, {Scaled::call(x, K::ones({3}))});
  std::cout << f({K::constant({1., 2.})})[0];
}

EXAMPLE("defer_update") {
  Variable count = K::variable(0.f);
  auto add = [count](const Tensor& x) { return K::update_add(count, x); };
  Tensor x = K::placeholder({.shape = Shape{}});
  Tensor after = ktape::defer_update("count", count, add, x);
  auto f = K::function({x}, {after});
  f({K::constant(2.f)});
  std::cout << f({K::constant(3.f)})[0] << " " << count;
}

EXAMPLE("trace Trace Callable") {
  ktape::Trace found =
      ktape::trace("rows", {{{None, 4}, ktape::DType::Float32}},
                   [](const std::vector<Tensor>& x) {
                     return std::vector{K::sum(x[0], 1), K::shape(x[0])};
                   });
  for (const ktape::OutputInfo& result : found.results)
    std::cout << result.shape << " " << result.dtype.name() << "\n";
}

EXAMPLE("defer_capturing joined") {
  Tensor x = K::placeholder({.shape = Shape{2}});
  Variable w = K::variable(3.f), b = K::variable(1.f);
  ktape::Callable twice = [w](const std::vector<Tensor>& v) {
    return std::vector{v[0] * w * w};
  };
  ktape::Callable shifted = [b](const std::vector<Tensor>& v) {
    return std::vector{v[0] + b};
  };
  auto first = ktape::trace("both", {ktape::info_of(x)}, twice);
  auto second = ktape::trace("both", first.results, shifted);
  auto both = [twice, shifted](const Tensor& v) { return shifted(twice({v})); };
  Tensor y = ktape::defer_capturing("both", second.results,
                                    ktape::joined(first.captured, second.captured),
                                    both, x)[0];
  std::cout << K::function({x}, {y})({K::constant({1., 2.})})[0];
}

EXAMPLE("Symbol Operand OperandValues Results Ref") {
  struct Halves : ktape::Symbol {
    explicit Halves(const Tensor& x) : Symbol("halves") {
      set_operands({ktape::Operand(x)});
    }
    void run(const ktape::OperandValues& values,
             ktape::Results& results) const override {
      results.set(std::vector{values[0] * 0.5f, values[0] * 0.5f});
    }
  };
  Tensor x = K::placeholder({.shape = Shape{2}});
  auto symbol = ktape::Ref<ktape::Symbol>::adopt(new Halves(x));
  auto halves = ktape::defer(symbol, {ktape::info_of(x), ktape::info_of(x)});
  std::cout << K::function({x}, {halves[0] + halves[1]})({K::ones({2})})[0];
}

EXAMPLE("Graph PureOp make_placeholder placeholders_of newest_symbol") {
  Tensor x = ktape::make_placeholder({2}, ktape::DType::Float32, "x");
  const auto before = ktape::newest_symbol();
  Tensor y = K::exp(x) + K::exp(x);
  std::cout << ktape::newest_symbol() - before << " symbols\n";
  ktape::PureOp pure = [](std::string_view op) { return op == "exp"; };
  ktape::Graph graph("sum", ktape::placeholders_of({y}), {y}, {}, pure);
  std::cout << graph.plan().steps().size() << " steps\n"
            << graph.run({K::zeros({2})})[0];
}

EXAMPLE("SymbolicScope symbolic_mode") {
  Variable w = K::variable(2.f);
  Tensor y;
  {
    ktape::SymbolicScope all_ops_wait;
    std::cout << ktape::symbolic_mode() << "\n";
    y = w * 10.f;
  }
  auto f = K::function({}, {y});
  K::update(w, 5.f);
  std::cout << f({})[0];
}

EXAMPLE("InferenceScope inferring_shapes") {
  auto noisy = [](const Tensor& x) {
    if (!ktape::inferring_shapes()) std::cout << "runs\n";
    return x + 1.f;
  };
  {
    ktape::InferenceScope shapes_only;
    noisy(K::ones({2}));
  }
  noisy(K::ones({2}));
}

EXAMPLE("Environment running_graph") {
  struct Ones : ktape::Environment {
    Tensor value(const Tensor& symbolic) override {
      return K::ones(symbolic.shape());
    }
  };
  Tensor x = K::placeholder({.shape = Shape{2}});
  std::cout << ktape::running_graph();
  Ones ones;
  std::cout << ktape::running_graph() << "\n"
            << ktape::Environment::current()->value(x);
}

EXAMPLE("RecordingScope") {
  Variable w = K::variable(2.f);
  ktape::RecordingScope off(false);
  std::cout << K::gradients(K::square(w), w)[0].defined();
}

EXAMPLE("gradients_of") {
  std::vector<Variable> weights{K::constant(2.), K::constant(3.)};
  Tensor loss = weights[0] * weights[1];
  std::cout << ktape::gradients_of({loss}, weights, {})[0];
}

EXAMPLE("LookupGradient") {
  Variable table = K::zeros({1000, 2});
  Tensor loss =
      K::sum(K::gather(table, K::constant({7, 7, 9}, {.dtype = "int32"})));
  std::vector<ktape::LookupGradient> lookups;
  auto rest = ktape::gradients(loss, {table}, lookups);
  std::cout << lookups[0].rows << "\n"
            << lookups[0].values.shape() << " " << rest[0].defined();
}

// Shapes, of which extents may be unknown.

EXAMPLE("compatible merged where_known with_unknown") {
  std::cout << ktape::compatible({None, 3}, {8, 3}) << " " << ktape::merged(None, 3)
            << " " << ktape::where_known([](auto n) { return (n - 1) / 2; }, 7)
            << " " << ktape::with_unknown({None, 3}, 1);
}

EXAMPLE("either OutputInfo") {
  ktape::OutputInfo a{{4, 3}, ktape::DType::Float32};
  ktape::OutputInfo b{{5, 3}, ktape::DType::Float32};
  std::cout << ktape::either("switch", a, b).shape;
}

EXAMPLE("check_extents") {
  try {
    ktape::check_extents("my_op", {2, -3}, sizeof(float));
  } catch (const ktape::ValueError& error) {
    std::cout << error.what();
  }
}

EXAMPLE("fits expect_fits") {
  std::cout << ktape::fits(300, ktape::DType::UInt8) << "\n";
  try {
    ktape::expect_fits("my_op", 300, ktape::DType::UInt8);
  } catch (const ktape::TypeError& error) {
    std::cout << error.what();
  }
}

EXAMPLE("converted") {
  std::cout << ktape::converted(K::constant({1.7, -2.2}), ktape::DType::Int32);
}

EXAMPLE("convert") {
  const double numbers[] = {1.7, -2.2, 1e300};
  std::int32_t integers[3];
  ktape::convert(integers, ktape::DType::Int32, numbers, ktape::DType::Float64, 3);
  std::cout << integers[0] << " " << integers[1] << " " << integers[2];
}
