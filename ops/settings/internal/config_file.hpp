#pragma once
#include <ktape/autograd/base/dtype.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ktape::backend {

/// The settings of Keras's configuration file, with Keras's defaults.
struct Config {
  DType floatx = DType::Float32;
  double epsilon = 1e-7;
  std::string image_data_format = "channels_last";
  std::string backend;  ///< the name of an engine or an engine library; empty: the default engine
};

/// Returns the engines of this build, the default engine first.
std::vector<std::string> engines();

/// Returns the configured backend, or the default engine. Throws the errors of `load_config`.
std::string configured_backend();

/// Reads the text of a configuration file: a JSON object with any of the keys
///
///     { "backend": "xtensor", "epsilon": 1e-07, "floatx": "float32", "image_data_format": "channels_last" }
///
/// The backend is one of `engines()`, an engine library (see engine.h), or a backend of Keras ("tensorflow", "jax",
/// "torch", "numpy", "openvino"), which stands for the default engine, so that the file of a machine that has Keras
/// itself serves both. The argument `backend`, if given, replaces the backend of the file.
///
/// Throws IOError for text that is not a JSON object and ValueError for an unknown key or a value that is not
/// allowed. The message names the file, the line and the allowed values.
Config parse_config(std::string_view text, const std::string& file,
                    const std::optional<std::string>& backend = {});

/// Reads `$KERAS_HOME/keras.json`, or `$HOME/.keras/keras.json` when KERAS_HOME is not set; returns the
/// defaults when the file does not exist. A directory, a pipe, a device and a file that cannot be read are
/// ignored with a warning, because a program must not depend on them. `$KERAS_BACKEND` overrides the file's
/// backend. No file is ever written.
///
/// Throws the errors of `parse_config`, and ValueError for an unknown KERAS_BACKEND.
Config load_config();

}  // namespace ktape::backend
