/**
 * What is said of nodes as text: annotations from before there were fields, and names of features. Mirrors kubernetes `core/validation`
 * ValidateNodeSpecificAnnotations and validateNodeDeclaredFeatures.
 */
import { jsonKind } from '../../../machinery/api/decode.ts';
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/api/field-error.ts';
import { parseJson } from '../../../machinery/api/json.ts';
import { compareBytes, isPlain } from '../../../machinery/api/plain.ts';
import type { Taint } from '../../../machinery/api/types/core.v1.ts';
import { taintErrors } from '../validation/taints.ts';

const PATH = 'metadata.annotations';
const TAINTS = 'scheduler.alpha.kubernetes.io/taints';
/** By which a node asks controllers not to put their pods on it. */
const AVOID = 'scheduler.alpha.kubernetes.io/preferAvoidPods';

export function nodeAnnotationErrors(annotations: Readonly<Record<string, string>> | undefined, errors: FieldError[]): void {
  if (annotations?.[TAINTS]) taintTextErrors(annotations[TAINTS], errors);
  if (annotations?.[AVOID]) avoidErrors(annotations[AVOID], errors);
}

function taintTextErrors(text: string, errors: FieldError[]): void {
  try {
    const { value } = parseJson(text);
    const items: unknown = value ?? [];
    if (!Array.isArray(items)) throw new Error(`json: cannot unmarshal ${jsonKind(items)} into Go value of type []core.Taint`);
    const odd: unknown = items.find((item) => item !== null && !isPlain(item));
    if (odd !== undefined) throw new Error(`json: cannot unmarshal ${jsonKind(odd)} into Go value of type core.Taint`);
    taintErrors(items.map((item) => item ?? {}) as Taint[], `${PATH}.${TAINTS}`, errors);
  } catch (error) {
    errors.push(invalidValue(PATH, TAINTS, (error as Error).message));
  }
}

function avoidErrors(text: string, errors: FieldError[]): void {
  let entries: unknown;
  try {
    const { value } = parseJson(text);
    entries = isPlain(value) ? value['preferAvoidPods'] : undefined;
  } catch (error) {
    errors.push(invalidValue(`${PATH}.AvoidPods`, AVOID, (error as Error).message));
    return;
  }
  if (!Array.isArray(entries)) return;
  entries.forEach((entry: unknown, i) => {
    const path = `${PATH}.${AVOID}[${i}].PodSignature`;
    const signature = isPlain(entry) ? entry['podSignature'] : undefined;
    const controller = isPlain(signature) ? signature['podController'] : undefined;
    if (!isPlain(controller)) errors.push(required(path));
    else if (controller['controller'] !== true)
      errors.push(invalidValue(`${path}.PodController.Controller`, false, 'must point to a controller'));
  });
}

const MAX_FEATURE = 253;
const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const FEATURE_FORM =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

export function featureErrors(features: readonly string[], errors: FieldError[]): void {
  features.forEach((feature, i) => {
    const at = (index: number): string => `status.declaredFeatures[${index}]`;
    const why =
      Buffer.byteLength(feature) > MAX_FEATURE
        ? `must be no more than ${MAX_FEATURE} characters`
        : FEATURE.test(feature)
          ? undefined
          : FEATURE_FORM;
    if (why !== undefined) errors.push(invalidValue(at(i), feature, `invalid feature name ${JSON.stringify(feature)}: ${why}`));
    const next = features[i + 1];
    if (next === undefined) return;
    if (feature === next) errors.push(duplicate(at(i + 1), next));
    else if (compareBytes(feature, next) > 0) errors.push(invalidValue(at(i + 1), next, 'list must be sorted alphabetically'));
  });
}
