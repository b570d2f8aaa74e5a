// The models of ../applications.cpp and ../predictions.cpp as ONNX graphs, by the names of the workloads.
import { Graph } from './graph.mjs';

const relu = (g, x) => g.op('Relu', [x]);
const relu6 = (g, x) => g.op('Clip', [x, scalar(g, 0), scalar(g, 6)]);
const swish = (g, x) => g.op('Mul', [x, g.op('Sigmoid', [x])]);
function scalar(g, number) {
  return g.constant([], 1, Buffer.from(Float32Array.of(number).buffer));
}

function dense(g, x, inputs, units) {
  return g.op('Gemm', [x, g.weight([inputs, units], inputs), g.weight([units], 0)]);
}
function timed(g, x, inputs, units) {  // for each time step
  return g.op('Add', [g.op('MatMul', [x, g.weight([inputs, units], inputs)]), g.weight([units], 0)]);
}

/// A convolution with padding "same", as the applications have it. `zeros` are [top, left, bottom, right].
function convolution(g, x, inputs, filters, size, { stride = 1, groups = 1, zeros, bias = true } = {}) {
  const half = (size - 1) / 2;
  const arguments_ = [x, g.weight([filters, inputs / groups, size, size], (inputs / groups) * size * size)];
  if (bias) arguments_.push(g.weight([filters], 0));
  return g.op('Conv', arguments_, {
    kernel_shape: [size, size], strides: [stride, stride], group: groups,
    pads: zeros ?? [half, half, half, half],
  });
}
function normalization(g, x, channels) {
  return g.op('BatchNormalization', [x, ...[0, 0, 0, 0].map(() => g.weight([channels], 0))]);
}
function normalized(g, x, inputs, filters, size, options = {}) {
  return normalization(g, convolution(g, x, inputs, filters, size, options), filters);
}
function classified(g, x, channels) {
  const pooled = g.op('Flatten', [g.op('GlobalAveragePool', [x])]);
  return g.op('Softmax', [dense(g, pooled, channels, 1000)]);
}

function resnet50(batch) {
  const g = new Graph([batch, 3, 224, 224]);
  let x = relu(g, normalized(g, 'x', 3, 64, 7, { stride: 2, zeros: [3, 3, 3, 3] }));
  x = g.op('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let channels = 64;
  [3, 4, 6, 3].forEach((blocks, stage) => {
    const width = 64 << stage;
    for (let block = 0; block < blocks; ++block) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      const shortcut = block === 0 ? normalized(g, x, channels, 4 * width, 1, { stride }) : x;
      let y = relu(g, normalized(g, x, channels, width, 1, { stride }));
      y = relu(g, normalized(g, y, width, width, 3));
      x = relu(g, g.op('Add', [shortcut, normalized(g, y, width, 4 * width, 1)]));
      channels = 4 * width;
    }
  });
  return g.model(classified(g, x, channels));
}

function mobilenetV2(batch) {
  const g = new Graph([batch, 3, 224, 224]);
  const without = { bias: false };
  let x = relu6(g, normalized(g, 'x', 3, 32, 3, { stride: 2, zeros: [0, 0, 1, 1], ...without }));
  let channels = 32;
  for (const [expansion, filters, blocks, first] of [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 3, 2], [6, 64, 4, 2],
    [6, 96, 3, 1], [6, 160, 3, 2], [6, 320, 1, 1]])
    for (let block = 0; block < blocks; ++block) {
      const stride = block === 0 ? first : 1, wide = expansion * channels;
      let y = expansion > 1 ? relu6(g, normalized(g, x, channels, wide, 1, without)) : x;
      const zeros = stride === 2 ? [0, 0, 1, 1] : [1, 1, 1, 1];
      y = relu6(g, normalized(g, y, wide, wide, 3, { stride, groups: wide, zeros, ...without }));
      y = normalized(g, y, wide, filters, 1, without);
      x = block > 0 ? g.op('Add', [x, y]) : y;
      channels = filters;
    }
  return g.model(classified(g, relu6(g, normalized(g, x, channels, 1280, 1, without)), 1280));
}

function efficientnetB0() {
  const g = new Graph([1, 3, 224, 224]);
  const without = { bias: false };
  let x = swish(g, normalized(g, 'x', 3, 32, 3, { stride: 2, zeros: [0, 0, 1, 1], ...without }));
  let channels = 32;
  for (const [size, blocks, filters, expansion, first] of [[3, 1, 16, 1, 1], [3, 2, 24, 6, 2], [5, 2, 40, 6, 2],
    [3, 3, 80, 6, 2], [5, 3, 112, 6, 1], [5, 4, 192, 6, 2], [3, 1, 320, 6, 1]])
    for (let block = 0; block < blocks; ++block) {
      const stride = block === 0 ? first : 1, wide = expansion * channels, few = Math.max(1, channels / 4);
      let y = expansion > 1 ? swish(g, normalized(g, x, channels, wide, 1, without)) : x;
      const half = (size - 1) / 2, zeros = stride === 2 ? [half - 1, half - 1, half, half] : undefined;
      y = swish(g, normalized(g, y, wide, wide, size, { stride, groups: wide, zeros, ...without }));
      let weights = g.op('GlobalAveragePool', [y]);
      weights = swish(g, convolution(g, weights, wide, few, 1));
      y = g.op('Mul', [y, g.op('Sigmoid', [convolution(g, weights, few, wide, 1)])]);
      y = normalized(g, y, wide, filters, 1, without);
      x = block > 0 ? g.op('Add', [x, y]) : y;
      channels = filters;
    }
  return g.model(classified(g, swish(g, normalized(g, x, channels, 1280, 1, without)), 1280));
}

function vgg16() {
  const g = new Graph([1, 3, 224, 224]);
  let x = 'x', channels = 3;
  for (const [layers, filters] of [[2, 64], [2, 128], [3, 256], [3, 512], [3, 512]]) {
    for (let i = 0; i < layers; ++i, channels = filters) x = relu(g, convolution(g, x, channels, filters, 3));
    x = g.op('MaxPool', [x], { kernel_shape: [2, 2], strides: [2, 2] });
  }
  x = relu(g, dense(g, g.op('Flatten', [x]), 25088, 4096));
  x = relu(g, dense(g, x, 4096, 4096));
  return g.model(g.op('Softmax', [dense(g, x, 4096, 1000)]));
}

function mlp(batch) {
  const g = new Graph([batch, 784]);
  const x = relu(g, dense(g, relu(g, dense(g, 'x', 784, 512)), 512, 512));
  return g.model(g.op('Softmax', [dense(g, x, 512, 10)]));
}

function recurrent(type, batch) {  // steps before samples, which ONNX Runtime computes fastest
  const gates = type === 'LSTM' ? 4 : 3, units = 128;
  const g = new Graph([80, batch, units]);
  const weights = [g.weight([1, gates * units, units], units), g.weight([1, gates * units, units], units),
    g.weight([1, 2 * gates * units], 0)];
  const attributes = { hidden_size: units, ...(type === 'GRU' ? { linear_before_reset: 1 } : {}) };
  const [, last] = g.op(type, ['x', ...weights], attributes, 2);
  return g.model(dense(g, g.op('Squeeze', [last, g.integers([0])]), units, 1));
}

function encoders(count, features, heads, batch) {
  const g = new Graph([batch, 128, features]), dim = features / heads;
  const normal = (x) =>
    g.op('LayerNormalization', [x, g.weight([features], 0), g.weight([features], 0)], { epsilon: { real: 1e-5 } });
  const split = g.integers([0, 0, heads, dim]), joined = g.integers([0, 0, features]);
  const projected = (x, perm) =>
    g.op('Transpose', [g.op('Reshape', [timed(g, x, features, features), split])], { perm });
  let x = 'x';
  for (let i = 0; i < count; ++i) {
    const query = g.op('Mul', [projected(x, [0, 2, 1, 3]), scalar(g, 1 / Math.sqrt(dim))]);
    const weights = g.op('Softmax', [g.op('MatMul', [query, projected(x, [0, 2, 3, 1])])], { axis: -1 });
    const attended = g.op('Transpose', [g.op('MatMul', [weights, projected(x, [0, 2, 1, 3])])],
      { perm: [0, 2, 1, 3] });
    const y = normal(g.op('Add', [x, timed(g, g.op('Reshape', [attended, joined]), features, features)]));
    const wide = g.op('Gelu', [timed(g, y, features, 4 * features)]);
    x = normal(g.op('Add', [y, timed(g, wide, 4 * features, features)]));
  }
  return g.model(x);
}

function nothing() {  // measures the time of a call
  const g = new Graph([1, 1]);
  return g.model(relu(g, 'x'));
}

/// For each workload: the input's shape and the function that makes the model.
export const models = {
  call: [[1, 1], nothing],
  resnet50_infer_1: [[1, 3, 224, 224], () => resnet50(1)],
  resnet50_infer_8: [[8, 3, 224, 224], () => resnet50(8)],
  mobilenet_v2_infer_1: [[1, 3, 224, 224], () => mobilenetV2(1)],
  mobilenet_v2_infer_8: [[8, 3, 224, 224], () => mobilenetV2(8)],
  efficientnet_b0_infer_1: [[1, 3, 224, 224], efficientnetB0],
  vgg16_infer_1: [[1, 3, 224, 224], vgg16],
  mlp_predict_1: [[1, 784], () => mlp(1)],
  mlp_predict_128: [[128, 784], () => mlp(128)],
  lstm_predict_1: [[80, 1, 128], () => recurrent('LSTM', 1)],
  lstm_predict_32: [[80, 32, 128], () => recurrent('LSTM', 32)],
  gru_predict_1: [[80, 1, 128], () => recurrent('GRU', 1)],
  gru_predict_32: [[80, 32, 128], () => recurrent('GRU', 32)],
  encoder_predict_1: [[1, 128, 128], () => encoders(2, 128, 4, 1)],
  bert_predict_1: [[1, 128, 768], () => encoders(12, 768, 12, 1)],
  bert_predict_8: [[8, 128, 768], () => encoders(12, 768, 12, 8)],
};
