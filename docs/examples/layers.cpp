#include "examples.hpp"

EXAMPLE("nn::Dense nn::DenseOptions") {
  nn::Dense layer(3, {.activation = "relu"});
  std::cout << layer(K::random_normal({2, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::EinsumDense nn::EinsumDenseOptions") {
  nn::EinsumDense layer("abc,cd->abd", {None, 64}, {.bias_axes = "d"});
  std::cout << layer(K::random_normal({2, 5, 16})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Embedding nn::EmbeddingOptions") {
  nn::Embedding layer(1000, 8);
  std::cout << layer(K::constant({{1, 5, 7}}, {.dtype = "int32"})).shape();
}

EXAMPLE("nn::Activation") {
  nn::Activation layer("relu");
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::Identity") {
  nn::Identity layer;
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::Lambda") {
  nn::Lambda scale([](const Tensor& x) { return x / 255.f; });
  std::cout << scale(K::constant({51., 255.}));
}

EXAMPLE("nn::Masking") {
  nn::Masking layer(0.);
  Tensor y = layer(K::constant({{{1.}, {0.}}}));
  std::cout << y.shape();
}

EXAMPLE("nn::Input nn::InputOptions nn::input_of") {
  Tensor x = nn::Input({28, 28});
  std::cout << K::int_shape(x);
}

EXAMPLE("nn::ReLU nn::ReLUOptions") {
  nn::ReLU layer({.max_value = 6});
  std::cout << layer(K::constant({-1., 2., 9.}));
}

EXAMPLE("nn::LeakyReLU nn::LeakyReLUOptions") {
  nn::LeakyReLU layer({.negative_slope = 0.1});
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::ELU nn::ELUOptions") {
  nn::ELU layer;
  std::cout << layer(K::constant({-1., 2.}));
}

EXAMPLE("nn::PReLU nn::PReLUOptions") {
  nn::PReLU layer;
  std::cout << layer(K::constant({{-1., 2.}}));
}

EXAMPLE("nn::Softmax nn::SoftmaxOptions") {
  nn::Softmax layer;
  std::cout << layer(K::constant({1., 2., 3.}));
}

EXAMPLE("nn::Conv1D nn::ConvOptions") {
  nn::Conv1D layer(4, 3, {.padding = "causal"});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv2D") {
  nn::Conv2D layer(16, 3, {.strides = 2, .padding = "same", .activation = "relu"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv3D") {
  nn::Conv3D layer(4, 2);
  std::cout << layer(K::random_normal({1, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv1DTranspose nn::ConvTransposeOptions") {
  nn::Conv1DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv2DTranspose") {
  nn::Conv2DTranspose layer(4, 3, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Conv3DTranspose") {
  nn::Conv3DTranspose layer(2, 2, {.strides = 2});
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::DepthwiseConv1D nn::DepthwiseConvOptions") {
  nn::DepthwiseConv1D layer(3, {.depth_multiplier = 2});
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::DepthwiseConv2D") {
  nn::DepthwiseConv2D layer(3, {.depth_multiplier = 2});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::SeparableConv1D nn::SeparableConvOptions") {
  nn::SeparableConv1D layer(8, 3);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::SeparableConv2D") {
  nn::SeparableConv2D layer(8, 3);
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::LocallyConnected1D nn::LocallyConnectedOptions") {
  nn::LocallyConnected1D layer(4, 3);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::LocallyConnected2D") {
  nn::LocallyConnected2D layer(4, 3);
  std::cout << layer(K::random_normal({2, 6, 6, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MaxPooling1D nn::PoolingOptions") {
  nn::MaxPooling1D layer(2);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MaxPooling2D") {
  nn::MaxPooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MaxPooling3D") {
  nn::MaxPooling3D layer(2);
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling1D nn::GlobalPoolingOptions") {
  nn::GlobalMaxPooling1D layer;
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling2D") {
  nn::GlobalMaxPooling2D layer;
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalMaxPooling3D") {
  nn::GlobalMaxPooling3D layer({.keepdims = true});
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling1D") {
  nn::AveragePooling1D layer(2);
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling2D") {
  nn::AveragePooling2D layer({3, 3}, {.strides = 2, .padding = "same"});
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::AveragePooling3D") {
  nn::AveragePooling3D layer(2);
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling1D") {
  nn::GlobalAveragePooling1D layer;
  std::cout << layer(K::random_normal({2, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling2D") {
  nn::GlobalAveragePooling2D layer;
  std::cout << layer(K::random_normal({2, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GlobalAveragePooling3D") {
  nn::GlobalAveragePooling3D layer({.keepdims = true});
  std::cout << layer(K::random_normal({2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Add nn::add") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Add()({a, b}) << " " << nn::add({a, b});
}

EXAMPLE("nn::Subtract nn::subtract") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Subtract()({a, b}) << " " << nn::subtract({a, b});
}

EXAMPLE("nn::Multiply nn::multiply") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Multiply()({a, b}) << " " << nn::multiply({a, b});
}

EXAMPLE("nn::Average nn::average") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Average()({a, b}) << " " << nn::average({a, b});
}

EXAMPLE("nn::Maximum nn::maximum") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Maximum()({a, b}) << " " << nn::maximum({a, b});
}

EXAMPLE("nn::Minimum nn::minimum") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Minimum()({a, b}) << " " << nn::minimum({a, b});
}

EXAMPLE("nn::Concatenate nn::concatenate nn::ConcatenateOptions") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Concatenate({.axis = -1})({a, b}) << " "
            << nn::concatenate({a, b});
}

EXAMPLE("nn::Dot nn::dot nn::DotOptions") {
  Tensor a = K::constant({{1., 5.}}), b = K::constant({{3., 4.}});
  std::cout << nn::Dot(1)({a, b}) << " " << nn::dot({a, b}, 1);
}

EXAMPLE("nn::BatchNormalization nn::BatchNormalizationOptions") {
  nn::BatchNormalization layer;
  std::cout << layer(K::constant({{1., 2.}, {3., 4.}}));
}

EXAMPLE("nn::LayerNormalization nn::LayerNormalizationOptions") {
  nn::LayerNormalization layer;
  std::cout << layer(K::constant({{1., 2., 3.}}));
}

EXAMPLE("nn::RMSNormalization nn::RMSNormalizationOptions") {
  nn::RMSNormalization layer;
  std::cout << layer(K::constant({{1., 2., 3.}}));
}

EXAMPLE("nn::UnitNormalization nn::UnitNormalizationOptions") {
  nn::UnitNormalization layer;
  std::cout << layer(K::constant({{3., 4.}}));
}

EXAMPLE("nn::GroupNormalization nn::GroupNormalizationOptions") {
  nn::GroupNormalization layer({.groups = 2});
  std::cout << layer(K::random_normal({2, 4, 4, 6})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Dropout nn::DropoutOptions") {
  nn::Dropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 6}), {.training = true}) << " "
            << layer(K::ones({1, 6}));
}

EXAMPLE("nn::AlphaDropout") {
  nn::AlphaDropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::GaussianDropout") {
  nn::GaussianDropout layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::GaussianNoise") {
  nn::GaussianNoise layer(0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 4}), {.training = true});
}

EXAMPLE("nn::SpatialDropout1D") {
  nn::SpatialDropout1D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 3, 4}), {.training = true}).shape();
}

EXAMPLE("nn::SpatialDropout2D") {
  nn::SpatialDropout2D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 2, 2, 3}), {.training = true}).shape();
}

EXAMPLE("nn::SpatialDropout3D") {
  nn::SpatialDropout3D layer(0.5, {.seed = 7});
  std::cout << layer(K::ones({1, 2, 2, 2, 3}), {.training = true}).shape();
}

EXAMPLE("nn::ActivityRegularization nn::ActivityRegularizationOptions") {
  nn::ActivityRegularization layer({.l2 = 0.1});
  layer(K::ones({1, 4}));
  std::cout << layer.losses()[0];
}

EXAMPLE("nn::Flatten nn::FlattenOptions") {
  nn::Flatten layer;
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Reshape") {
  nn::Reshape layer({6, 2});
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Permute") {
  nn::Permute layer({2, 1});
  std::cout << layer(K::random_normal({2, 3, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::RepeatVector") {
  nn::RepeatVector layer(3);
  std::cout << layer(K::random_normal({2, 4})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding1D") {
  nn::ZeroPadding1D layer(1);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding2D") {
  nn::ZeroPadding2D layer({1, 2});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ZeroPadding3D") {
  nn::ZeroPadding3D layer(1);
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping1D") {
  nn::Cropping1D layer(1);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping2D") {
  nn::Cropping2D layer({{1, 0}, {0, 2}});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Cropping3D") {
  nn::Cropping3D layer(1);
  std::cout << layer(K::random_normal({1, 4, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling1D") {
  nn::UpSampling1D layer(2);
  std::cout << layer(K::random_normal({2, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling2D") {
  nn::UpSampling2D layer(2, {.interpolation = "bilinear"});
  std::cout << layer(K::random_normal({2, 4, 4, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::UpSampling3D") {
  nn::UpSampling3D layer(2);
  std::cout << layer(K::random_normal({1, 2, 2, 2, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::SimpleRNN nn::SimpleRNNOptions") {
  nn::SimpleRNN layer(8);
  std::cout << layer(K::random_normal({2, 5, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::GRU nn::GRUOptions") {
  nn::GRU layer(8);
  std::cout << layer(K::random_normal({2, 5, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::LSTM nn::LSTMOptions") {
  nn::LSTM lstm(8, {.return_sequences = true, .return_state = true});
  for (const Tensor& y : lstm.apply(K::ones({2, 5, 3})))
    std::cout << y.shape() << " ";
}

EXAMPLE("nn::SimpleRNNCell nn::SimpleRNNCellOptions") {
  nn::SimpleRNNCell cell(8);
  std::cout << cell.apply({K::ones({2, 3}), K::zeros({2, 8})})[0].shape();
}

EXAMPLE("nn::GRUCell nn::GRUCellOptions") {
  nn::GRUCell cell(8);
  std::cout << cell.apply({K::ones({2, 3}), K::zeros({2, 8})})[0].shape();
}

EXAMPLE("nn::LSTMCell nn::LSTMCellOptions") {
  nn::LSTMCell cell(8);
  std::cout << cell.apply({K::ones({2, 3}), K::zeros({2, 8}), K::zeros({2, 8})})[0]
                   .shape();
}

EXAMPLE("nn::RNN nn::StackedRNNCells nn::RNNOptions") {
  nn::RNN layer(nn::StackedRNNCells({nn::GRUCell(8), nn::LSTMCell(4)}));
  std::cout << layer(K::ones({2, 5, 3})).shape();
}

EXAMPLE("nn::Bidirectional nn::BidirectionalOptions") {
  nn::Bidirectional layer(nn::LSTM(8, {.return_sequences = true}),
                          {.merge_mode = "sum"});
  std::cout << layer(K::ones({2, 5, 3})).shape();
}

EXAMPLE("nn::TimeDistributed") {
  nn::TimeDistributed layer(nn::Dense(4));
  std::cout << layer(K::ones({2, 5, 3})).shape();
}

EXAMPLE("nn::ConvLSTM1D") {
  nn::ConvLSTM1D layer(4, 3);
  std::cout << layer(K::random_normal({2, 5, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ConvLSTM2D nn::ConvLSTMOptions") {
  nn::ConvLSTM2D layer(4, 3, {.padding = "same", .return_sequences = true});
  std::cout << layer(K::random_normal({1, 3, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::ConvLSTM3D") {
  nn::ConvLSTM3D layer(2, 2);
  std::cout << layer(K::random_normal({1, 2, 4, 4, 4, 1})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::MultiHeadAttention nn::MultiHeadAttentionOptions") {
  nn::MultiHeadAttention attention(4, 8);
  Tensor x = K::random_normal({2, 5, 16});
  std::cout << attention({x, x}, {.use_causal_mask = true}).shape()
            << " weights: " << attention.count_params();
}

EXAMPLE("nn::GroupQueryAttention nn::GroupQueryAttentionOptions") {
  nn::GroupQueryAttention attention(8, 4, 2);
  Tensor x = K::random_normal({2, 5, 16});
  std::cout << attention({x, x}).shape();
}

EXAMPLE(
    "nn::Attention nn::AttentionOptions nn::AdditiveAttention "
    "nn::AdditiveAttentionOptions") {
  Tensor query = K::random_normal({2, 3, 8}), value = K::random_normal({2, 5, 8});
  std::cout << nn::Attention()({query, value}).shape() << " "
            << nn::AdditiveAttention()({query, value}).shape();
}

EXAMPLE("nn::Rescaling") {
  nn::Rescaling layer(1 / 255.);
  std::cout << layer(K::constant({51., 255.}));
}

EXAMPLE("nn::Resizing nn::ResizingOptions") {
  nn::Resizing layer(6, 5);
  std::cout << layer(K::random_normal({1, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::CenterCrop") {
  nn::CenterCrop layer(4, 4);
  std::cout << layer(K::random_normal({1, 8, 8, 3})).shape()
            << " weights: " << layer.count_params();
}

EXAMPLE("nn::Normalization nn::NormalizationOptions") {
  nn::Normalization layer;
  layer.adapt(K::constant({{1.}, {3.}}));
  std::cout << layer(K::constant({{1.}, {2.}}));
}

EXAMPLE("nn::Discretization nn::DiscretizationOptions") {
  nn::Discretization layer({.bin_boundaries = std::vector{0., 1., 2.}});
  std::cout << layer(K::constant({-0.5, 0.5, 9.}));
}

EXAMPLE("nn::CategoryEncoding nn::CategoryEncodingOptions") {
  nn::CategoryEncoding layer(4, {.output_mode = "one_hot"});
  std::cout << layer(K::constant({0, 2}, {.dtype = "int32"}));
}

EXAMPLE("nn::StringLookup nn::StringLookupOptions") {
  nn::StringLookup lookup({.vocabulary = {"cat", "dog"}});
  std::cout << lookup({"dog", "owl", "cat"});
}

EXAMPLE("nn::IntegerLookup nn::IntegerLookupOptions") {
  nn::IntegerLookup lookup({.vocabulary = {10, 20}});
  std::cout << lookup(K::constant({20, 5}, {.dtype = "int64"}));
}

EXAMPLE("nn::TextVectorization nn::TextVectorizationOptions") {
  nn::TextVectorization layer({.output_sequence_length = 4});
  layer.adapt({"the cat sat", "the dog"});
  std::cout << layer({"the dog sat down"});
}

EXAMPLE("nn::RandomFlip") {
  nn::RandomFlip layer("horizontal", {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomRotation") {
  nn::RandomRotation layer(0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomZoom") {
  nn::RandomZoom layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomTranslation") {
  nn::RandomTranslation layer(0.1, 0.1, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomContrast") {
  nn::RandomContrast layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomBrightness") {
  nn::RandomBrightness layer(0.2, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}

EXAMPLE("nn::RandomCrop") {
  nn::RandomCrop layer(6, 6, {.seed = 7});
  std::cout << layer(K::ones({1, 8, 8, 3}), {.training = true}).shape();
}
