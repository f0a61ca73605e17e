import { startDatabaseService } from './database-service.js';

/** `node --import tsx e2e/service/main.ts KUBECONFIG`: runs the example provider's controller until SIGTERM. */
const kubeconfig = process.argv[2];
if (kubeconfig === undefined) throw new Error('give the kubeconfig of the provider workspace');
const service = startDatabaseService(kubeconfig);
process.once('SIGTERM', () => void service.stop());
