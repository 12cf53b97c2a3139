/**
 * FlowSchema: which requests share a queue. Mirrors kubernetes `pkg/registry/flowcontrol/flowschema`. Rows are sorted by precedence.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dnsSubdomain } from '../../../machinery/api/names.ts';
import type { FlowSchema, FlowSchemaSpec } from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { flowConditionErrors, flowStatusErrors } from './conditions.ts';
import { flowRuleErrors } from './flow-rules.ts';
import { EXEMPT, MANDATORY_SCHEMAS } from './mandatory.ts';

const DEFAULT_PRECEDENCE = 1000;
const MAX_PRECEDENCE = 10000;
const METHODS = ['ByNamespace', 'ByUser'];

function specErrors(name: string, spec: FlowSchemaSpec, errors: FieldError[]): void {
  const precedence = spec.matchingPrecedence ?? 0;
  const path = 'spec.matchingPrecedence';
  if (precedence <= 0) errors.push(invalidValue(path, precedence, 'must be a positive value'));
  if (precedence > MAX_PRECEDENCE) errors.push(invalidValue(path, precedence, `must not be greater than ${MAX_PRECEDENCE}`));
  if (precedence === 1 && name !== EXEMPT) {
    errors.push(invalidValue(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"));
  }
  const method = spec.distinguisherMethod;
  if (method && !METHODS.includes(method.type)) {
    errors.push(notSupported('spec.distinguisherMethod.type', { Type: method.type ?? '' }, METHODS));
  }
  const level = spec.priorityLevelConfiguration?.name ?? '';
  const at = 'spec.priorityLevelConfiguration.name';
  if (level === '') errors.push(required(at, 'must reference a priority level'));
  else for (const detail of dnsSubdomain(level)) errors.push(invalidValue(at, level, detail));
  spec.rules?.forEach((rule, i) => {
    flowRuleErrors(rule, `spec.rules[${i}]`, errors);
  });
}

function validate({ metadata: { name = '' }, spec, status }: FlowSchema): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(name, spec ?? ({} as FlowSchemaSpec), errors);
  const fixed = MANDATORY_SCHEMAS.get(name);
  if (fixed && !deepEqual(spec, fixed)) errors.push(invalidValue('spec', spec, `spec of '${name}' must equal the fixed value`));
  flowConditionErrors(status?.conditions, errors);
  return errors;
}

const missingLevel = ({ status }: FlowSchema): string => status?.conditions?.find((c) => c.type === 'Dangling')?.status ?? '?';

export const flowschema = defineKind<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  kind: 'FlowSchema',
  generation: 'spec',
  strategy: {
    default: (object) => {
      object.spec ??= {} as FlowSchemaSpec;
      const { spec } = object;
      if (!spec.matchingPrecedence) spec.matchingPrecedence = DEFAULT_PRECEDENCE;
    },
    prepareForCreate: dropStatus,
    prepareForUpdate: keepStatus,
    validate,
    validateUpdate: validate,
  },
  status: statusView({ keepMetadata: true, validate: flowStatusErrors }),
  cells: (object, now) => [
    object.metadata.name,
    object.spec?.priorityLevelConfiguration?.name ?? '<none>',
    object.spec?.matchingPrecedence ?? 0,
    object.spec?.distinguisherMethod?.type ?? '<none>',
    ageCell(object.metadata.creationTimestamp, now),
    missingLevel(object),
  ],
  order: (a, b) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
});
