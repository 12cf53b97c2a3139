/**
 * Stored versions read as objects: parsed on demand behind a small least-recently-used cache, and the reader that strategies use.
 *
 * Invariant: an object handed out here is shared and must not be changed; who wants to change one takes `parseFresh`.
 */
import { parseOwn } from '../../machinery/api/json.ts';
import type { AnyObject, KubeObject } from '../../machinery/api/object.ts';
import { type ObjectReader, storageKey, storagePrefix } from '../registry/resource.ts';
import type { Store, Stored } from '../storage/interface.ts';

const MAX_CACHED = 4096;
/** Larger objects are parsed anew each time. */
const MAX_CACHED_BYTES = 64 * 1024;

export interface ObjectCache {
  /** Shared; never change it. */
  read(stored: Stored): AnyObject;
}

export function parseFresh(bytes: Buffer): AnyObject {
  return parseOwn(bytes) as AnyObject;
}

export function createObjectCache(): ObjectCache {
  const entries = new Map<Buffer, AnyObject>();
  const put = (bytes: Buffer, object: AnyObject): void => {
    if (bytes.length > MAX_CACHED_BYTES) return;
    if (entries.size >= MAX_CACHED) entries.delete(entries.keys().next().value!);
    entries.set(bytes, object);
  };
  return {
    read: (stored) => {
      const known = entries.get(stored.bytes);
      if (known !== undefined) {
        entries.delete(stored.bytes);
        entries.set(stored.bytes, known);
        return known;
      }
      const object = parseFresh(stored.bytes);
      put(stored.bytes, object);
      return object;
    },
  };
}

export function createObjectReader(store: Store, cache: ObjectCache): ObjectReader {
  return {
    get: <T extends KubeObject>(group: string, resource: string, namespace: string, name: string) => {
      const stored = store.get(storageKey(group, resource, namespace, name));
      return stored === undefined ? undefined : (cache.read(stored) as unknown as T);
    },
    list: <T extends KubeObject>(group: string, resource: string, namespace = '') =>
      store.list(storagePrefix(group, resource, namespace)).items.map((stored) => cache.read(stored) as unknown as T),
  };
}
