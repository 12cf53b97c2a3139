/** docker-compose.yml: every command is one that its component understands; with a Docker engine at hand, the whole cluster in containers heals. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiServerOptions } from '../../apiserver/options.ts';
import { controllersOptions } from '../../controllers/options.ts';
import { kubeletOptions } from '../../kubelet/options.ts';
import { parseYaml } from '../../machinery/api/yaml.ts';
import { createClient } from '../../machinery/client/connect.ts';
import { deployments } from '../../machinery/client/resource-type.ts';
import { type OptionsTable, parseOptions } from '../../machinery/process/options.ts';
import { schedulerOptions } from '../../scheduler/options.ts';
import { eventually } from '../fixtures/eventually.ts';
import { complete, deployment } from '../fixtures/workloads.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const TABLES: Readonly<Record<string, OptionsTable>> = {
  apiserver: apiServerOptions,
  controllers: controllersOptions,
  scheduler: schedulerOptions,
  kubelet: kubeletOptions,
};

interface Compose {
  readonly services: Readonly<Record<string, { readonly command: readonly string[]; readonly healthcheck?: unknown }>>;
}

/** With the defaults of its variables, as compose fills them in. */
const text = readFileSync(`${root}/docker-compose.yml`, 'utf8').replace(/\$\{\w+:-([^}]*)\}/g, '$1');
const compose = parseYaml(text) as Compose;

test('every service runs a component with flags that it has, and is health-checked', () => {
  assert.deepEqual(Object.keys(compose.services), ['apiserver', 'controllers', 'scheduler', 'node-1', 'node-2', 'node-3']);
  for (const [name, service] of Object.entries(compose.services)) {
    const [component, ...flags] = service.command;
    assert.ok(TABLES[component!], `${name} runs a component`);
    parseOptions(TABLES[component!]!, flags);
    assert.ok(service.healthcheck, `${name} has a healthcheck`);
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function composeCommand(): readonly string[] | string {
  if (spawnSync('docker', ['info']).status !== 0) return 'no Docker engine answers';
  if (spawnSync('docker', ['image', 'inspect', 'node:20-bookworm-slim']).status !== 0)
    return 'the base image node:20-bookworm-slim is not here';
  if (spawnSync('docker', ['compose', 'version']).status === 0) return ['docker', 'compose'];
  if (spawnSync('docker-compose', ['version']).status === 0) return ['docker-compose'];
  return 'docker compose is not installed';
}

const command = composeCommand();
const skip = typeof command === 'string' ? `skipped: ${command}` : false;

test('the cluster comes up in containers and heals when any of them is killed', { skip, timeout: 600_000 }, async (t) => {
  const project = `flyballtest${process.pid}`;
  const env = { ...process.env, FLYBALL_PORT: String(await freePort()) };
  const run = (...args: string[]): string => {
    const [program, ...first] = command as readonly string[];
    return execFileSync(program!, [...first, '-p', project, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  t.after(() => run('down', '-v', '--remove-orphans'));
  run('up', '-d', '--build');
  const client = createClient({ kubeconfig: `${root}/.flyball/compose/kubeconfig`, userAgent: 'e2e/1.0' });
  t.after(() => client.close());
  await client.create(deployments, deployment('web'));
  await complete(client, 'web');

  let replicas = 3;
  for (const service of ['scheduler', 'controllers', 'node-2', 'apiserver']) {
    execFileSync('docker', ['kill', run('ps', '-q', service).trim()]);
    run('up', '-d');
    await eventually('the API server answers', async () => (await client.raw({ method: 'GET', path: '/readyz' })).code === 200);
    replicas = replicas === 3 ? 5 : 3;
    await client.patch(deployments, { namespace: 'default', name: 'web' }, 'application/merge-patch+json', { spec: { replicas } });
    await complete(client, 'web');
  }
});
