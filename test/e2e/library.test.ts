/** The library entry as its users import it: the package by its name, built. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { startCluster as StartCluster } from '../../cluster/start-cluster.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { deployments } from '../../machinery/client/resource-type.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

test('import { startCluster } from "flyball" gives a whole control plane inside this process', async (t) => {
  const name = 'flyball'; // not a literal: the types come from the source, the code from the build
  const { startCluster } = (await import(name)) as { startCluster: typeof StartCluster };
  const dataDir = mkdtempSync(join(tmpdir(), 'flyball-library-'));
  const cluster = await startCluster({ dataDir, inProcess: true, nodes: 2 });
  t.after(async () => {
    await cluster.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  });
  assert.ok((await cluster.processes()).every((process) => process.ready));
  const client = createClient({ kubeconfig: cluster.kubeconfig, userAgent: 'library/1.0' });
  await client.create(deployments, deployment('web', { replicas: 2 }));
  await complete(client, 'web');
  await client.close();
});
