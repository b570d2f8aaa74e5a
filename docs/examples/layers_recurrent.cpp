#include "examples.hpp"

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
