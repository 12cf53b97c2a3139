/**
 * The annotation by which a node asks controllers not to put their pods on it. Mirrors kubernetes `core/validation`
 * ValidateAvoidPodsInNodeAnnotations.
 */
import { type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { parseJson } from '../../../machinery/api/json.ts';
import { isPlain } from '../../../machinery/api/plain.ts';

const AVOID = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

export function avoidPodsErrors(annotations: Readonly<Record<string, string>> | undefined, errors: FieldError[]): void {
  const text = annotations?.[AVOID];
  if (!text) return;
  let entries: unknown;
  try {
    const { value } = parseJson(text);
    entries = isPlain(value) ? value['preferAvoidPods'] : undefined;
  } catch (error) {
    errors.push(invalidValue('metadata.annotations.AvoidPods', AVOID, (error as Error).message));
    return;
  }
  if (!Array.isArray(entries)) return;
  entries.forEach((entry: unknown, i) => {
    const path = `metadata.annotations.${AVOID}[${i}].PodSignature`;
    const signature = isPlain(entry) ? entry['podSignature'] : undefined;
    const controller = isPlain(signature) ? signature['podController'] : undefined;
    if (!isPlain(controller)) errors.push(required(path));
    else if (controller['controller'] !== true)
      errors.push(invalidValue(`${path}.PodController.Controller`, false, 'must point to a controller'));
  });
}
