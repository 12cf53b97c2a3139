/** The store without a disk: for tests, simulations and clusters that are meant to be forgotten. Same order and visibility as on disk. */
import type { Store } from '../interface.ts';
import { type LogEntry, LogStore, type RevisionLog, type StoreOptions } from '../log-store.ts';
import { Revisions } from '../revisions.ts';

class NoLog implements RevisionLog {
  stage(entry: LogEntry): Buffer {
    const bytes = Buffer.allocUnsafeSlow(entry.bytes.length);
    entry.bytes.copy(bytes);
    return bytes;
  }
  async commit(): Promise<void> {}
  async compact(): Promise<void> {}
  async close(): Promise<void> {}
}

export function createMemoryStore(options: StoreOptions = {}): Store {
  return new LogStore(new NoLog(), new Revisions(), options);
}
