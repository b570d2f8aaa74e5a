#pragma once
#include <ktape/ops/support/random_scope.hpp>  // where it has moved
