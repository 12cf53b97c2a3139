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
/** Of the stored bytes of the objects that are kept: as objects they take some times as much. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
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
  /** Versions that were read once. Most are never read again: keeping the objects of those would cost the collector more than parsing them does. */
  const seen = new Set<Buffer>();
  let kept = 0;
  let seenBytes = 0;
  const keep = (bytes: Buffer, object: AnyObject): void => {
    if (bytes.length > MAX_CACHED_BYTES) return;
    if (!seen.delete(bytes)) {
      if (seen.size >= MAX_CACHED || seenBytes + bytes.length > MAX_KEPT_BYTES) {
        seen.clear();
        seenBytes = 0;
      }
      seen.add(bytes);
      seenBytes += bytes.length;
      return;
    }
    seenBytes -= bytes.length;
    entries.set(bytes, object);
    kept += bytes.length;
    for (const oldest of entries.keys()) {
      if (entries.size <= MAX_CACHED && kept <= MAX_KEPT_BYTES) return;
      entries.delete(oldest);
      kept -= oldest.length;
    }
  };
  return {
    read: (stored) => {
      const { bytes } = stored;
      const known = entries.get(bytes);
      if (known !== undefined) {
        entries.delete(bytes);
        entries.set(bytes, known);
        return known;
      }
      const object = parseFresh(bytes);
      keep(bytes, object);
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
