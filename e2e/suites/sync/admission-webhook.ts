import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { stringify } from 'yaml';

import type { JsonObject } from '../../../src/kube/json-value.js';
import { makeCertificates } from '../../../src/kube/testing/test-certificates.js';
import { apply, kubectl } from '../../harness/kubectl.js';

/** A provider's own mutating admission webhook for one resource. */
export interface AdmissionWebhook {
  close(): Promise<void>;
}

interface Review {
  readonly request: { readonly uid: string; readonly object: JsonObject };
}

/** JSON patch operations on an object that is created or changed. */
export type Mutation = (object: JsonObject) => readonly JsonObject[];

export async function startAdmissionWebhook(options: {
  /** Kubeconfig of the API server's admin. */
  readonly kubeconfig: string;
  readonly name: string;
  readonly group: string;
  readonly resource: string;
  readonly mutate: Mutation;
}): Promise<AdmissionWebhook> {
  const { kubeconfig, name, group, resource, mutate } = options;
  const { ca, server } = makeCertificates(['IP:127.0.0.1']);
  const listening = createServer(server, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { request } = JSON.parse(Buffer.concat(chunks).toString()) as Review;
      const patch = Buffer.from(JSON.stringify(mutate(request.object))).toString('base64');
      const response = { uid: request.uid, allowed: true, patchType: 'JSONPatch', patch };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }));
    });
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  const manifest = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.org`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(ca).toString('base64'),
        },
        rules: [
          {
            apiGroups: [group],
            apiVersions: ['v1'],
            resources: [resource],
            operations: ['CREATE', 'UPDATE'],
          },
        ],
      },
    ],
  };
  await apply(kubeconfig, stringify(manifest));
  return {
    close: async () => {
      await kubectl(kubeconfig, ['delete', 'mutatingwebhookconfiguration', name]);
      await closed(listening);
    },
  };
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
