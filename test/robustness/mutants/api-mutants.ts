/** Seeded bugs between HTTP and the store: lists, creations, updates, patches, deletions, authentication (R1, R6, C1 to C6). */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configmaps } from '../../../machinery/client/resource-type.ts';
import { armFailpoints } from '../../../machinery/process/failpoints.ts';
import { ensurePki, issueClientCertificate, type KeyPair } from '../../../machinery/process/pki.ts';
import { systemRandom } from '../../../machinery/process/random.ts';
import { COUNT, TOKEN } from '../history.ts';
import { ApiScene, configMap, target } from './api-scene.ts';
import type { Scenario } from './scenario.ts';

const NAMESPACE = { type: configmaps, namespace: 'default' };

/** The answer to a request of somebody with this certificate. */
function statusFor(url: string, { cert, key }: KeyPair): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/namespaces`, { cert, key, rejectUnauthorized: false, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

export const apiMutants: readonly Scenario[] = [
  {
    mutant: 'list.page-at-latest',
    guarantee: 'R6',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      for (const name of ['a', 'b', 'c', 'd']) await recorded.create(configmaps, configMap(name));
      await recorded.list(NAMESPACE, { limit: 2, betweenPages: () => recorded.delete(target('c')) });
      return scene.violations();
    },
  },
  {
    mutant: 'list.stale',
    guarantee: 'R1',
    run: async () => {
      const scene = await ApiScene.open();
      await scene.recorded.create(configmaps, configMap('a'));
      await scene.recorded.list(NAMESPACE);
      return scene.violations();
    },
  },
  {
    mutant: 'patch.retry-overwrites',
    guarantee: 'C2',
    run: async () => {
      const scene = await ApiScene.open();
      const { recorded } = scene;
      await recorded.create(configmaps, configMap('a', { [COUNT]: '0' }));
      const live = await recorded.get(target('a'));
      if (typeof live !== 'object') throw new Error('it was just created');
      const write = (i: number) => {
        const annotations = { [TOKEN]: `w${i}`, [COUNT]: '1' };
        return recorded.update(configmaps, { ...live, metadata: { ...live.metadata, annotations } });
      };
      // the first waits for the disk when the others decide
      armFailpoints('store.before-batch=sleep(100)');
      await Promise.all(Array.from({ length: 8 }, (_, i) => write(i)));
      return scene.violations();
    },
  },
  {
    mutant: 'create.name-drawn-once',
    guarantee: 'C4',
    run: async () => {
      let draws = 0;
      // every name is drawn twice before another comes
      const scene = await ApiScene.open((length) => `${'bcdfghjk'[Math.floor(draws++ / 2)] ?? systemRandom.suffix(1)}`.repeat(length));
      draws = 0;
      const create = () => scene.client.create(configmaps, { ...configMap(''), metadata: { generateName: 'g-', namespace: 'default' } });
      const refused: string[] = [];
      for (let i = 0; i < 3; i++) await create().catch((error: unknown) => refused.push(`C4: a generated name was refused: ${error}`));
      return [...refused, ...(await scene.violations())];
    },
  },
  {
    mutant: 'create.exists-unchecked',
    guarantee: 'C3',
    run: async () => {
      const scene = await ApiScene.open();
      await Promise.all(Array.from({ length: 4 }, (_, i) => scene.recorded.create(configmaps, configMap('a', { [TOKEN]: `c${i}` }))));
      return scene.violations();
    },
  },
  {
    mutant: 'delete.precondition-ignored',
    guarantee: 'C5',
    run: async () => {
      const scene = await ApiScene.open();
      await scene.recorded.create(configmaps, configMap('a'));
      const { status } = await scene.recorded.delete(target('a'), { uid: systemRandom.uuid() });
      const gone = (await scene.recorded.get(target('a'))) === 'missing';
      return [
        ...(status === 409 && !gone ? [] : [`C5: a deletion with another uid was answered ${status}`]),
        ...(await scene.violations()),
      ];
    },
  },
  {
    mutant: 'auth.certificate-unverified',
    guarantee: 'S1',
    run: async () => {
      const scene = await ApiScene.open();
      const elsewhere = mkdtempSync(join(tmpdir(), 'flyball-ca-'));
      try {
        const forged = await issueClientCertificate(await ensurePki(elsewhere), { user: 'kubernetes-admin', groups: ['system:masters'] });
        const status = await statusFor(scene.url, forged);
        return [
          ...(status === 401 ? [] : [`S1: a certificate of another authority was answered ${status}`]),
          ...(await scene.violations()),
        ];
      } finally {
        rmSync(elsewhere, { recursive: true, force: true });
      }
    },
  },
  {
    mutant: 'merge-patch.shallow',
    guarantee: 'C6',
    run: async () => {
      const scene = await ApiScene.open();
      await scene.client.create(configmaps, { ...configMap('a'), data: { kept: '1', changed: '2', removed: '3' } });
      const patch = { data: { changed: '4', removed: null } };
      const { data } = await scene.client.patch(configmaps, target('a'), 'application/merge-patch+json', patch);
      const found = JSON.stringify(data);
      const violations = found === '{"changed":"4","kept":"1"}' ? [] : [`C6: ${JSON.stringify(patch)} left ${found}`];
      return [...violations, ...(await scene.violations())];
    },
  },
];
