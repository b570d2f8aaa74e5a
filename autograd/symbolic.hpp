#pragma once
#include <ktape/autograd/symbolic/defer.hpp>  // where it has moved
