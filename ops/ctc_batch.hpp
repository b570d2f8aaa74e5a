#pragma once
#include <ktape/ops/support/ctc_batch.hpp>  // where it has moved
