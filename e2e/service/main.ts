import { clientFor } from '../harness/kube-client.js';
import { startDatabaseService } from './database-service.js';

/** `node --import tsx e2e/service/main.ts KUBECONFIG`: runs the example provider's controller until SIGTERM. */
const kubeconfig = process.argv[2];
if (kubeconfig === undefined) throw new Error('give the kubeconfig of the provider workspace');
const client = await clientFor(kubeconfig);
const service = startDatabaseService(client, {
  onError: (error) => console.error(new Date().toISOString(), error instanceof Error ? error.message : error),
});
process.once('SIGTERM', () => {
  void service.stop().then(() => client.close());
});
