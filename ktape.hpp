#pragma once
/// Everything a user needs: `#include <ktape/ktape.hpp>`, `namespace K = ktape::backend;`.

#include <ktape/autograd/error.hpp>
#include <ktape/autograd/gradcheck.hpp>
#include <ktape/autograd/gradients.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/memory.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/nn/csv.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random.hpp>
