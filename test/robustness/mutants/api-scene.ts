/** A whole API server in this process, with its store on disk and recorded clients, for stories about what lies between HTTP and the store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiServerOptions } from '../../../apiserver/options.ts';
import { startApiServer } from '../../../apiserver/start.ts';
import type { Client } from '../../../machinery/client/client.ts';
import { createClient } from '../../../machinery/client/connect.ts';
import { configmaps } from '../../../machinery/client/resource-type.ts';
import { systemClock } from '../../../machinery/process/clock.ts';
import type { RunningComponent } from '../../../machinery/process/component.ts';
import { silentLogger } from '../../../machinery/process/logger.ts';
import { optionsWith } from '../../../machinery/process/options.ts';
import { type Random, systemRandom } from '../../../machinery/process/random.ts';
import { journalReading } from '../batch.ts';
import { History, TOKEN } from '../history.ts';
import { type Journal, keepJournal } from '../journal.ts';
import { judge, violationsOf } from '../judge.ts';
import { RecordedClient, type Target } from '../recorded-client.ts';
import { readStore } from '../revisions.ts';
import { bare } from '../write-traffic.ts';
import { closeLater } from './scenario.ts';

export const target = (name: string): Target => ({ type: configmaps, namespace: 'default', name });

export const configMap = (name: string, annotations: Record<string, string> = {}) => ({
  ...bare(configmaps),
  metadata: { name, namespace: 'default', annotations: { [TOKEN]: name, ...annotations } },
});

export class ApiScene {
  readonly history = new History();
  readonly directory: string;
  readonly client: Client;
  readonly recorded: RecordedClient;
  readonly #running: RunningComponent;
  readonly #journal: Journal;
  #ended: Promise<void> | undefined;

  /** `suffix` draws the ends of generated names. */
  static async open(suffix: Random['suffix'] = systemRandom.suffix, settings: { compactionIntervalMs?: number } = {}): Promise<ApiScene> {
    const directory = mkdtempSync(join(tmpdir(), 'flyball-scene-'));
    const journal = keepJournal(directory);
    const kubeconfig = join(directory, 'kubeconfig');
    const options = optionsWith(apiServerOptions, {
      dataDir: join(directory, 'server'),
      securePort: 0,
      writeKubeconfig: kubeconfig,
      ...settings,
    });
    const { signal } = new AbortController();
    const random = { ...systemRandom, suffix };
    const running = await startApiServer(options, { clock: systemClock, random, logger: silentLogger, signal });
    const scene = new ApiScene({ directory, journal, running, client: createClient({ kubeconfig, userAgent: 'story/1.0' }) });
    closeLater(async () => {
      await scene.#end();
      rmSync(directory, { recursive: true, force: true });
    });
    return scene;
  }

  private constructor(parts: { directory: string; journal: Journal; running: RunningComponent; client: Client }) {
    this.directory = parts.directory;
    this.client = parts.client;
    this.#journal = parts.journal;
    this.#running = parts.running;
    this.recorded = new RecordedClient('c', parts.client, this.history);
  }

  get url(): string {
    return this.#running.address ?? '';
  }

  /** Ends the story. */
  async violations(compacting = false): Promise<string[]> {
    await this.#end();
    const reading = { ...(await readStore(join(this.directory, 'server', 'store'))), atLeast: 1, whole: true };
    const readings = [journalReading(this.directory), reading];
    return violationsOf(judge({ operations: this.history.operations, readings, compacting }));
  }

  #end(): Promise<void> {
    this.#ended ??= (async () => {
      await this.client.close();
      await this.#running.stop();
      this.#journal.stop();
    })();
    return this.#ended;
  }
}
