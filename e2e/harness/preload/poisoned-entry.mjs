/**
 * A worker's thread in which a provider can cause what no provider is known to be able to cause: where it parses certain words
 * it never comes back, or leaves a rejection unhandled. Everything else is the worker of dist/.
 */
const { parse } = JSON;
JSON.parse = (text, reviver) => {
  if (typeof text === 'string' && text.includes('poison-endless-loop')) for (;;);
  if (typeof text === 'string' && text.includes('poison-rejection'))
    void Promise.reject(new Error('made by the test'));
  return parse(text, reviver);
};

await import('../../../dist/controller/worker.js');
