/** Run as a process of its own by a test, to be killed: starts a cluster and tells its processes on stdout. */
import { startCluster } from '../start-cluster.ts';

const cluster = await startCluster({ dataDir: process.argv[2] ?? '', nodes: 1, without: ['controllers'] });
await cluster.pause('scheduler');
process.stdout.write(`${JSON.stringify(await cluster.processes())}\n`);
await cluster.stopped;
