#pragma once
#include "call.hpp"

/// Add the ops of a family to the table, each in the source file of that name.
namespace golden {

void add_elementwise(Table& table);
void add_activations(Table& table);
void add_reductions(Table& table);
void add_linalg(Table& table);
void add_indexing(Table& table);
void add_shape(Table& table);
void add_images(Table& table);
void add_convolution(Table& table);
void add_losses(Table& table);
void add_normalization(Table& table);
void add_pooling(Table& table);
void add_control_flow(Table& table);
void add_updates(Table& table);
void add_random(Table& table);
void add_attention(Table& table);
void add_rnn(Table& table);
void add_ctc(Table& table);
/// Also extends the functions of dense ops to sparse tensors.
void add_sparse(Table& table);
void add_misc(Table& table);

}  // namespace golden
