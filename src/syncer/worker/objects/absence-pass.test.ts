import { expect, it } from '@jest/globals';
import { formatKey } from '../../../kube/cache/object-key.js';
import type { LogicalCluster } from '../../../kube/object.js';
import { ManualClock } from '../../../kube/testing/manual-clock.js';
import { MARKS, consumerObject, context, copyOf } from '../../engine/testing/samples.js';
import { AbsencePass } from './absence-pass.js';
import { AnswersAhead } from './answers-ahead.js';
import { ObjectRecords } from './object-records.js';

it('an object is not missing, and nothing is asked, before the workspace has been listed', async () => {
  const clock = new ManualClock();
  let synced = false;
  const asked: string[] = [];
  const pass = new AbsencePass({
    clock,
    graceMs: 1000,
    context: () => context(),
    consumerSynced: () => synced,
    consumer: {
      isGone: async () => {
        asked.push('isGone');
        return true;
      },
    },
    provider: {
      calls: {
        delete: async () => {
          asked.push('delete');
          return undefined;
        },
        patch: async () => copyOf(consumerObject()),
      },
      ahead: new AnswersAhead(clock, () => undefined),
      cached: () => copyOf(consumerObject()),
    },
  });
  const key = formatKey({ cluster: MARKS.cluster as LogicalCluster, namespace: 'ns', name: 'a' });
  const record = new ObjectRecords<string>().of(key);
  await pass.run(key, record);
  await clock.advance(5000);
  await pass.run(key, record);
  expect(record.missingSince).toBeUndefined();
  expect(asked).toEqual([]);
  synced = true;
  // The grace time begins now.
  expect(await pass.run(key, record)).toEqual({ kind: 'waiting', retryInMs: 1000 });
  await clock.advance(1000);
  await pass.run(key, record);
  expect(asked).toEqual(['isGone', 'delete']);
});
