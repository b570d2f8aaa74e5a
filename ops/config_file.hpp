#pragma once
#include <ktape/ops/support/config_file.hpp>  // where it has moved
