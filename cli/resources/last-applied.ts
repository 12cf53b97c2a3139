/** The annotation in which client-side `apply` remembers what was applied. Mirrors kubectl `util/apply.go`: compact JSON with sorted members and a newline. */

import type { AnyObject } from '../../machinery/api/object.ts';
import { LAST_APPLIED } from '../../machinery/api/well-known-labels.ts';
import { compactJson } from '../printers/json.ts';

/** The applied configuration as the annotation carries it: without the annotation itself. */
export function appliedConfiguration(object: AnyObject): string {
  const { [LAST_APPLIED]: _own, ...annotations } = object.metadata.annotations ?? {};
  return `${compactJson({ ...object, metadata: { ...object.metadata, annotations } })}\n`;
}

/** A copy that carries its own configuration. */
export function withLastApplied(object: AnyObject): AnyObject {
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: appliedConfiguration(object) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
