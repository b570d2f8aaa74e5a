// Usage: node measure.mjs WORKLOAD ... Prints `workload median_ms` of ONNX Runtime with two threads. The time of a call
// from JavaScript, measured on a model of one element, is subtracted.
import { createRequire } from 'node:module';
import { models } from './models.mjs';

const ort = createRequire(process.env.ORT_FOLDER + '/')('onnxruntime-node');

async function median(workload) {
  const [shape, make] = models[workload];
  const session = await ort.InferenceSession.create(make(), {
    intraOpNumThreads: 2, interOpNumThreads: 1, executionProviders: ['cpu'], graphOptimizationLevel: 'all',
  });
  const size = shape.reduce((a, b) => a * b, 1);
  const x = new ort.Tensor('float32', Float32Array.from({ length: size }, (_, i) => Math.sin(i)), shape);
  const times = [], begin = performance.now();
  for (let i = 0; i < 3; ++i) await session.run({ x });
  while (times.length < 5 || (times.length < 2000 && performance.now() - begin < 3000)) {
    const start = performance.now();
    await session.run({ x });
    times.push(performance.now() - start);
  }
  await session.release();
  return times.sort((a, b) => a - b)[times.length >> 1];
}

const call = await median('call');
for (const workload of process.argv.slice(2))
  console.log(workload, Math.max((await median(workload)) - call, 1e-4).toFixed(4));
