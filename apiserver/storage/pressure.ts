/**
 * Tells how full the store is: by metrics, and in the log when it becomes tight. Mirrors etcd's quota (`--quota-backend-bytes`) and its NOSPACE alarm,
 * which here ends by itself as soon as there is room.
 */
import type { Clock } from '../../machinery/process/clock.ts';
import type { Logger } from '../../machinery/process/logger.ts';
import type { Metrics } from '../../machinery/process/metrics.ts';
import type { Store } from './interface.ts';

const DEFAULT_QUOTA = 2 * 1024 ** 3;
const CHECK_MS = 5_000;
/** From here on it is said. */
const TIGHT = 0.8;

/** As etcd reads the flag: 0 is the default, less is no limit. What the store takes is 0 for no limit. */
export function quotaBytesOf(flag: number): number {
  return flag < 0 ? 0 : flag === 0 ? DEFAULT_QUOTA : flag;
}

/** Upstream's names (apiserver `storage/etcd3/metrics`), and etcd's own for what upstream does not tell. */
export function storeMetrics(store: Store, metrics: Metrics): void {
  const gauge = <L extends string>(name: string, help: string, labels: Readonly<Record<L, string>>, value: () => number): void => {
    metrics.gauge<L>(name, help, { labels: Object.keys(labels) as L[], collect: (metric) => metric.set(labels as never, value()) });
  };
  const onDisk = (): number => store.size().onDisk;
  const help = 'Size of the storage database file physically allocated in bytes.';
  gauge('apiserver_storage_size_bytes', help, { storage_cluster_id: 'etcd-0' }, onDisk);
  gauge('apiserver_storage_db_total_size_in_bytes', help, { endpoint: 'etcd-0' }, onDisk);
  gauge('etcd_mvcc_db_total_size_in_use_in_bytes', 'Bytes of the objects and the history that are kept.', {}, () => store.size().used);
  gauge('etcd_server_quota_backend_bytes', 'Bytes that objects and history may take; 0 is no limit.', {}, () => store.size().quota);
}

type Level = 'room' | 'tight' | 'full';

export function pressureOf(store: Store): Level {
  const { used, quota } = store.size();
  if (quota === 0 || used < quota * TIGHT) return 'room';
  return used < quota * 0.95 ? 'tight' : 'full';
}

/** Runs until the signal aborts. */
export async function warnOfPressure(store: Store, deps: { clock: Clock; logger: Logger; signal: AbortSignal }): Promise<void> {
  let told: Level = 'room';
  while (!deps.signal.aborted) {
    const level = pressureOf(store);
    if (level !== told) tellPressure(deps.logger, level, store);
    told = level;
    await deps.clock.sleep(CHECK_MS, deps.signal).catch(() => {});
  }
}

function tellPressure(logger: Logger, level: Level, store: Store): void {
  const { used, quota } = store.size();
  const figures = { usedBytes: used, quotaBytes: quota };
  if (level === 'room') logger.info(figures, 'the store has room again');
  else if (level === 'tight') logger.warn(figures, 'the store is nearly full: delete objects, or raise --quota-backend-bytes');
  else
    logger.error(
      figures,
      'the store is full: only deletions and heartbeats are written at the quota; delete objects, or raise --quota-backend-bytes',
    );
}
