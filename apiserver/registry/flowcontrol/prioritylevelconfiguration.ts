/**
 * PriorityLevelConfiguration: how much of the server a level of requests gets. Mirrors kubernetes `pkg/registry/flowcontrol`.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../machinery/api/types/flowcontrol.apiserver.k8s.io.v1.ts';
import { defineKind } from '../define.ts';
import { dropStatus, keepStatus, statusView } from '../status.ts';
import { ageCell } from '../tables/cells.ts';
import { flowConditionErrors, flowStatusErrors } from './conditions.ts';
import { EXEMPT, MANDATORY_LEVELS } from './mandatory.ts';

const DEFAULT_SHARES = 30;
const MAX_QUEUES = 10_000_000;
/** Hands are dealt from one hash of this many bits. */
const MAX_HASH_BITS = 60;
const NOT_NEGATIVE = 'must be a non-negative integer';

function applyDefaults({ spec }: PriorityLevelConfiguration): void {
  if (spec?.exempt) {
    spec.exempt.nominalConcurrencyShares ??= 0;
    spec.exempt.lendablePercent ??= 0;
  }
  const limited = spec?.limited;
  if (!limited) return;
  limited.nominalConcurrencyShares ??= DEFAULT_SHARES;
  limited.lendablePercent ??= 0;
  const queuing = limited.limitResponse?.queuing;
  if (!queuing) return;
  if (!queuing.queues) queuing.queues = 64;
  if (!queuing.handSize) queuing.handSize = 8;
  if (!queuing.queueLengthLimit) queuing.queueLengthLimit = 50;
}

function shareErrors(spec: { nominalConcurrencyShares?: number }, path: string, errors: FieldError[]): void {
  const shares = spec.nominalConcurrencyShares ?? 0;
  if (shares < 0) errors.push(invalidValue(`${path}.nominalConcurrencyShares`, shares, NOT_NEGATIVE));
}

function lendableErrors(percent: number | undefined, path: string, errors: FieldError[]): void {
  if (percent !== undefined && (percent < 0 || percent > 100)) {
    errors.push(invalidValue(`${path}.lendablePercent`, percent, 'must be between 0 and 100, inclusive'));
  }
}

function limitedErrors(limited: LimitedPriorityLevelConfiguration, path: string, errors: FieldError[]): void {
  shareErrors(limited, path, errors);
  responseErrors(limited.limitResponse ?? {}, `${path}.limitResponse`, errors);
  lendableErrors(limited.lendablePercent, path, errors);
  const borrowing = limited.borrowingLimitPercent;
  if (borrowing !== undefined && borrowing < 0) {
    errors.push(invalidValue(`${path}.borrowingLimitPercent`, borrowing, `if specified, ${NOT_NEGATIVE}`));
  }
}

function responseErrors(response: Partial<LimitResponse>, path: string, errors: FieldError[]): void {
  const { type = '', queuing } = response;
  if (type === 'Reject') {
    if (queuing) errors.push(forbiddenField(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'));
  } else if (type === 'Queue') {
    if (queuing) queuingErrors(queuing, `${path}.queuing`, errors);
    else errors.push(required(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'));
  } else errors.push(notSupported(`${path}.type`, type, ['Queue', 'Reject']));
}

/** Bits needed to deal `hand` queues out of `deck`; a little more than for different ones, as upstream reckons. */
const entropyBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand);

function queuingErrors(queuing: QueuingConfiguration, path: string, errors: FieldError[]): void {
  const { queues = 0, handSize: hand = 0, queueLengthLimit: limit = 0 } = queuing;
  if (limit <= 0) errors.push(invalidValue(`${path}.queueLengthLimit`, limit, 'must be positive'));
  if (queues <= 0) errors.push(invalidValue(`${path}.queues`, queues, 'must be positive'));
  else if (queues > MAX_QUEUES) errors.push(invalidValue(`${path}.queues`, queues, `must not be greater than ${MAX_QUEUES}`));
  const at = `${path}.handSize`;
  if (hand <= 0) errors.push(invalidValue(at, hand, 'must be positive'));
  else if (hand > queues) errors.push(invalidValue(at, hand, `should not be greater than queues (${queues})`));
  else if (entropyBits(queues, hand) > MAX_HASH_BITS) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MAX_HASH_BITS}`;
    errors.push(invalidValue(at, hand, detail));
  }
}

function specErrors(name: string, spec: Partial<PriorityLevelConfigurationSpec>, errors: FieldError[]): void {
  const { type = '', limited, exempt } = spec;
  if ((name === EXEMPT) !== (type === 'Exempt')) {
    errors.push(invalidValue('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === 'Exempt') {
    if (exempt) {
      shareErrors(exempt, 'spec.exempt', errors);
      lendableErrors(exempt.lendablePercent, 'spec.exempt', errors);
    }
    if (limited) errors.push(forbiddenField('spec.limited', 'must be nil if the type is not Limited'));
  } else if (type === 'Limited') {
    if (exempt) errors.push(forbiddenField('spec.exempt', 'must be nil if the type is Limited'));
    if (limited) limitedErrors(limited, 'spec.limited', errors);
    else errors.push(required('spec.limited', 'must not be empty when type is Limited'));
  } else errors.push(notSupported('spec.type', type, ['Exempt', 'Limited']));
}

function validate({ metadata: { name = '' }, spec, status }: PriorityLevelConfiguration): FieldError[] {
  const errors: FieldError[] = [];
  specErrors(name, spec ?? {}, errors);
  const fixed = MANDATORY_LEVELS.get(name);
  // How much the exempt level lends may be tuned; all else of the mandatory levels is fixed.
  if (fixed && !deepEqual({ ...spec, exempt: undefined }, { ...fixed, exempt: undefined })) {
    const what = name === EXEMPT ? `'${name}' except the 'spec.exempt' field` : `'${name}'`;
    errors.push(invalidValue('spec', spec, `spec of ${what} must equal the fixed value`));
  }
  flowConditionErrors(status?.conditions, errors);
  return errors;
}

export const prioritylevelconfiguration = defineKind<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  generation: 'spec',
  strategy: { default: applyDefaults, prepareForCreate: dropStatus, prepareForUpdate: keepStatus, validate, validateUpdate: validate },
  status: statusView({ keepMetadata: true, validate: flowStatusErrors }),
  cells: ({ metadata, spec }, now) => {
    const queuing = spec?.limited?.limitResponse?.queuing;
    return [
      metadata.name,
      spec?.type ?? '',
      spec?.limited?.nominalConcurrencyShares ?? '<none>',
      queuing?.queues ?? '<none>',
      queuing?.handSize ?? '<none>',
      queuing?.queueLengthLimit ?? '<none>',
      ageCell(metadata.creationTimestamp, now),
    ];
  },
});
