/** Generators of one line: `create namespace`, `serviceaccount`, `priorityclass`, `quota`, `poddisruptionbudget`. */
import { CliError } from '../errors.ts';
import type { Verb } from '../verb.ts';
import { type GeneratorCall, generatorVerb, parsePairs } from './generator.ts';

export const namespace: Verb = generatorVerb({
  usage: 'NAME',
  flags: {},
  resource: { group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false },
  build: () => ({ body: { spec: {}, status: {} } }),
});

export const serviceaccount: Verb = generatorVerb({
  usage: 'NAME',
  flags: {},
  resource: { group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  noun: 'serviceaccount',
  build: () => ({ body: {} }),
});

export const priorityclass: Verb = generatorVerb({
  usage: 'NAME --value=VALUE --global-default=BOOL',
  flags: {
    value: { type: 'integer', default: 0, help: 'The value of this priority class' },
    'global-default': { type: 'boolean', help: 'If true, this is the default priority for pods without one' },
    description: { type: 'string', help: 'Guidelines on when this priority class should be used' },
    'preemption-policy': { type: 'string', default: 'PreemptLowerPriority', help: 'The policy for preempting pods with lower priority' },
  },
  resource: { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses', kind: 'PriorityClass', namespaced: false },
  noun: 'priorityclass',
  build: ({ flags }) => ({
    body: {
      value: flags.integer('value'),
      ...(flags.bool('global-default') && { globalDefault: true }),
      ...(flags.string('description') && { description: flags.string('description') }),
      preemptionPolicy: flags.string('preemption-policy'),
    },
  }),
});

export const quota: Verb = generatorVerb({
  usage: 'NAME [--hard=key1=value1,key2=value2] [--scopes=Scope1,Scope2]',
  flags: {
    hard: { type: 'string', help: 'A comma-delimited set of resource=quantity pairs that define a hard limit' },
    scopes: { type: 'string', help: 'A comma-delimited set of quota scopes that must all match each object tracked by the quota' },
  },
  resource: { group: '', version: 'v1', resource: 'resourcequotas', kind: 'ResourceQuota', namespaced: true },
  noun: 'quota',
  build: ({ flags }) => {
    const hard = flags.string('hard') === '' ? undefined : parsePairs(flags.string('hard').split(','), 'argument value');
    const scopes = flags.string('scopes') === '' ? undefined : flags.string('scopes').split(',');
    return { body: { spec: { ...(hard && { hard }), ...(scopes && { scopes }) }, status: {} } };
  },
});

export const poddisruptionbudget: Verb = generatorVerb({
  usage: 'NAME --selector=SELECTOR --min-available=N',
  flags: {
    'min-available': { type: 'string', help: 'The minimum number or percentage of available pods this budget requires' },
    'max-unavailable': { type: 'string', help: 'The maximum number or percentage of unavailable pods this budget requires' },
    selector: { type: 'string', help: 'A label selector to use for this budget' },
  },
  resource: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets', kind: 'PodDisruptionBudget', namespaced: true },
  noun: 'poddisruptionbudgets',
  build: buildBudget,
});

function buildBudget({ flags }: GeneratorCall): { body: Record<string, unknown> } {
  const [min, max, selector] = [flags.string('min-available'), flags.string('max-unavailable'), flags.string('selector')];
  if (selector === '') throw new CliError('a selector must be specified');
  if (min === '' && max === '') throw new CliError('one of min-available or max-unavailable must be specified');
  if (min !== '' && max !== '') throw new CliError('min-available and max-unavailable cannot be both specified');
  const amount = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);
  const spec = {
    ...(min !== '' && { minAvailable: amount(min) }),
    selector: { matchLabels: parsePairs(selector.split(','), 'selector') },
    ...(max !== '' && { maxUnavailable: amount(max) }),
  };
  return { body: { spec, status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } } };
}
