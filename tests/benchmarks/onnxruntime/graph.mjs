// Builds ONNX models in memory: the wire format of Protocol Buffers, and graphs of operators with random weights.

function varint(number) {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(number)); ; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    if (rest <= 127n) return Buffer.from(bytes);
  }
}
const integer = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => {
  const content = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
};
const real = (field, value) => {
  const four = Buffer.alloc(4);
  four.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), four]);
};
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

function attribute(name, value) {
  const parts = [bytes(1, name)];
  if (typeof value === 'string') parts.push(bytes(4, value), integer(20, 3));
  else if (Array.isArray(value)) parts.push(...value.map((n) => integer(8, n)), integer(20, 7));
  else if (Number.isInteger(value)) parts.push(integer(3, value), integer(20, 2));
  else parts.push(real(2, value.real), integer(20, 1));
  return message(5, ...parts);
}

function typed(field, name, shape) {
  const dims = shape.map((n) => message(1, integer(1, n)));
  return message(field, bytes(1, name), message(2, message(1, integer(1, 1), message(2, ...dims))));
}

let random = 1;
function uniform() {  // a number from -1 to 1, the same in each run
  random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
  return random / 2 ** 31 - 1;
}

/// A graph under construction; `op` adds a node and returns the name of its (first) output.
export class Graph {
  constructor(shape) {
    this.shape = shape;
    this.nodes = [];
    this.initializers = [];
    this.count = 0;
  }
  op(type, inputs, attributes = {}, outputs = 1) {
    const names = Array.from({ length: outputs }, () => `v${this.count++}`);
    this.nodes.push(message(1, ...inputs.map((name) => bytes(1, name)), ...names.map((name) => bytes(2, name)),
      bytes(4, type), ...Object.entries(attributes).map(([name, value]) => attribute(name, value))));
    return outputs === 1 ? names[0] : names;
  }
  /// Adds weights of a shape, with the variance 1 / `inputs`; positive numbers near 1 for `inputs` 0.
  weight(shape, inputs) {
    const numbers = new Float32Array(shape.reduce((a, b) => a * b, 1));
    const scale = inputs ? Math.sqrt(3 / inputs) : 0.1;
    for (let i = 0; i < numbers.length; ++i) numbers[i] = (inputs ? 0 : 1) + scale * uniform();
    return this.constant(shape, 1, Buffer.from(numbers.buffer));
  }
  integers(list) {
    return this.constant([list.length], 7, Buffer.from(BigInt64Array.from(list.map(BigInt)).buffer));
  }
  constant(shape, type, content) {
    const name = `w${this.count++}`;
    this.initializers.push(message(5, ...shape.map((n) => integer(1, n)), integer(2, type), bytes(8, name),
      bytes(9, content)));
    return name;
  }
  model(output) {
    const value = message(12, bytes(1, output), message(2, message(1, integer(1, 1))));
    const graph = message(7, ...this.nodes, bytes(2, 'model'), ...this.initializers,
      typed(11, 'x', this.shape), value);
    return Buffer.concat([integer(1, 9), graph, message(8, bytes(1, ''), integer(2, 20))]);
  }
}
