/**
 * The way from client-side to server-side apply, for kubectl only: fields that the last-applied annotation lists and that still have the
 * listed value may be taken over without force, and the annotation is kept in step, so that going back works too. Mirrors apimachinery
 * `managedfields/internal/lastapplied{manager,updater}.go`.
 */

import { parseJson } from '../../machinery/api/json.ts';
import { rawText } from '../../machinery/api/json-encoder.ts';
import type { KubeObject } from '../../machinery/api/object.ts';
import { isPlain, type Plain, setOwn, without } from '../../machinery/api/plain.ts';
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet } from './field-set.ts';
import { fieldsOf } from './merge.ts';
import type { OwnedType } from './ownership.ts';
import type { Typed } from './typed.ts';
import { validateTyped } from './validate.ts';

/** All annotations together, names and values. */
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The fields that client-side apply owns; undefined when there is no usable annotation. */
export function allowedByLastApplied(
  { apiVersion }: OwnedType,
  { type, state, live }: { type: Typed; state: Plain; live: KubeObject },
): FieldSet | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  if (text === undefined || text === '') return undefined;
  const last = parsed(text);
  if (last?.['apiVersion'] !== apiVersion || last['kind'] !== live.kind || validateTyped(type, last).length > 0) return undefined;
  const { modified, added, removed } = compare(type, { before: last, after: state, reading: 'literal' });
  return [modified, added, removed].reduce(difference, fieldsOf(type, last));
}

function parsed(text: string): Plain | undefined {
  try {
    const { value } = parseJson(text);
    return isPlain(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The object with the annotation set to this configuration, where it has one. */
export function withSyncedLastApplied(object: Plain, config: Plain): Plain {
  const metadata = object['metadata'] as Plain | undefined;
  const annotations = metadata?.['annotations'];
  if (!isPlain(annotations) || !annotations[LAST_APPLIED]) return object;
  const others = without(annotations, LAST_APPLIED);
  const synced = { ...others, [LAST_APPLIED]: lastAppliedText(config) };
  return { ...object, metadata: { ...metadata, annotations: sizeOf(synced) > MAX_ANNOTATIONS_BYTES ? others : synced } };
}

function lastAppliedText(config: Plain): string {
  const metadata = config['metadata'];
  if (!isPlain(metadata) || !Object.hasOwn(metadata, 'annotations')) return `${rawText(config, true)}\n`;
  if (!isPlain(metadata['annotations'])) return `${rawText({ ...config, metadata: without(metadata, 'annotations') }, true)}\n`;
  // As Go reads a map of texts: null is an empty one.
  const annotations: Plain = {};
  for (const [name, value] of Object.entries(metadata['annotations'])) if (name !== LAST_APPLIED) setOwn(annotations, name, value ?? '');
  return `${rawText({ ...config, metadata: { ...metadata, annotations } }, true)}\n`;
}

function sizeOf(annotations: Plain): number {
  return Object.entries(annotations).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)), 0);
}
