/** Ends what the global set-up started. */
export default async function globalTeardown() {
  await globalThis.runningBench?.stop();
  globalThis.runningBench = undefined;
}
