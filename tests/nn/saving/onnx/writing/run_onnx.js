// Runs models with ONNX Runtime: node run_onnx.js FOLDER_OF_NODE_MODULES CASES
// CASES/NAME/case.json lists the inputs: [{name, dtype, dims}], with the elements in NAME/input_I. The outputs go to
// output_I, and their names, types and extents to result.json; an error goes to result.json, too.
const fs = require('fs');
const path = require('path');
const ort = require(path.join(process.argv[2], 'onnxruntime-node'));

const arrays = {
  float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array, int16: Int16Array,
  int8: Int8Array, uint8: Uint8Array, bool: Uint8Array,
  float16: typeof Float16Array === 'undefined' ? Uint16Array : Float16Array,
};

function tensor(folder, input, index) {
  const bytes = fs.readFileSync(path.join(folder, 'input_' + index));
  const copy = new Uint8Array(bytes).buffer;
  return new ort.Tensor(input.dtype, new arrays[input.dtype](copy), input.dims);
}

async function run(folder) {
  const inputs = JSON.parse(fs.readFileSync(path.join(folder, 'case.json')));
  const session = await ort.InferenceSession.create(path.join(folder, 'model.onnx'), {logSeverityLevel: 4});
  const feeds = {};
  inputs.forEach((input, i) => { feeds[input.name] = tensor(folder, input, i); });
  const results = await session.run(feeds);
  return session.outputNames.map((name, i) => {
    const y = results[name];
    fs.writeFileSync(path.join(folder, 'output_' + i), Buffer.from(y.data.buffer, y.data.byteOffset, y.data.byteLength));
    return {name, dtype: y.type, dims: y.dims};
  });
}

(async () => {
  for (const name of fs.readdirSync(process.argv[3])) {
    const folder = path.join(process.argv[3], name);
    if (!fs.existsSync(path.join(folder, 'case.json'))) continue;
    let result;
    try {
      result = {outputs: await run(folder)};
    } catch (error) {
      result = {error: String(error.message || error)};
    }
    fs.writeFileSync(path.join(folder, 'result.json'), JSON.stringify(result));
  }
})();
