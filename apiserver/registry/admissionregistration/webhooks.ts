/**
 * Rules of webhooks, mutating and validating. Mirrors kubernetes `admissionregistration/validation`: an update is checked less strictly where the
 * stored webhooks already break a rule that came later.
 */
import { deepEqual } from '../../../machinery/api/equality.ts';
import { duplicate, type FieldError, invalidValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { dns1035Label, dnsSubdomain } from '../../../machinery/api/names.ts';
import type { MutatingWebhook, ValidatingWebhook } from '../../../machinery/api/types/admissionregistration.k8s.io.v1.ts';
import { labelSelectorErrors } from '../validation/selectors.ts';
import { enumErrors, FAILURE_POLICIES, MATCH_POLICIES, matchConditionErrors, ruleErrors } from './rules.ts';
import { clientConfigErrors } from './webhook-client.ts';

export type AnyWebhook = ValidatingWebhook & Pick<MutatingWebhook, 'reinvocationPolicy'>;

const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const REINVOCATION = ['IfNeeded', 'Never'];
const MAX_TIMEOUT = 30;

interface Strictness {
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly names: boolean;
  readonly matchConditions: boolean;
}

const STRICT: Strictness = { sideEffects: true, reviewVersions: true, names: true, matchConditions: true };

export function webhooksErrors(webhooks: readonly AnyWebhook[], old?: readonly AnyWebhook[]): FieldError[] {
  const strict = old === undefined ? STRICT : strictnessOf(webhooks, old);
  const errors: FieldError[] = [];
  const names = new Set<string>();
  webhooks.forEach((webhook, i) => {
    const path = `webhooks[${i}]`;
    webhookErrors(webhook, strict, path, errors);
    reviewVersionErrors(webhook.admissionReviewVersions ?? [], strict.reviewVersions, `${path}.admissionReviewVersions`, errors);
    const name = webhook.name ?? '';
    if (name === '' || !strict.names) return;
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
    names.add(name);
  });
  return errors;
}

function strictnessOf(webhooks: readonly AnyWebhook[], old: readonly AnyWebhook[]): Strictness {
  const accepted = (versions: readonly string[] = []): boolean =>
    versions.length === 0 || versions.some((version) => REVIEW_VERSIONS.includes(version));
  return {
    sideEffects: old.every(({ sideEffects }) => NO_SIDE_EFFECTS.includes(sideEffects)),
    reviewVersions: old.every(({ admissionReviewVersions }) => accepted(admissionReviewVersions)),
    names: new Set(old.map(({ name }) => name)).size === old.length,
    matchConditions:
      old.length !== webhooks.length || old.some(({ matchConditions }, i) => !deepEqual(matchConditions, webhooks[i]!.matchConditions)),
  };
}

function webhookErrors(webhook: AnyWebhook, strict: Strictness, path: string, errors: FieldError[]): void {
  fullyQualifiedNameErrors(webhook.name ?? '', `${path}.name`, errors);
  webhook.rules?.forEach((rule, i) => {
    ruleErrors(rule, `${path}.rules[${i}]`, errors);
  });
  enumErrors(webhook.failurePolicy, FAILURE_POLICIES, `${path}.failurePolicy`, errors);
  enumErrors(webhook.matchPolicy, MATCH_POLICIES, `${path}.matchPolicy`, errors);
  const allowed = strict.sideEffects ? NO_SIDE_EFFECTS : SIDE_EFFECTS;
  const effects: string | undefined = webhook.sideEffects;
  if (effects === undefined) errors.push(required(`${path}.sideEffects`, `must specify one of ${allowed.join(', ')}`));
  else if (!allowed.includes(effects)) errors.push(notSupported(`${path}.sideEffects`, effects, allowed));
  const timeout = webhook.timeoutSeconds;
  if (timeout !== undefined && (timeout < 1 || timeout > MAX_TIMEOUT)) {
    errors.push(invalidValue(`${path}.timeoutSeconds`, timeout, `the timeout value must be between 1 and ${MAX_TIMEOUT} seconds`));
  }
  labelSelectorErrors(webhook.namespaceSelector, `${path}.namespaceSelector`, errors);
  labelSelectorErrors(webhook.objectSelector, `${path}.objectSelector`, errors);
  enumErrors(webhook.reinvocationPolicy, REINVOCATION, `${path}.reinvocationPolicy`, errors);
  clientConfigErrors(webhook.clientConfig ?? {}, `${path}.clientConfig`, errors);
  if (strict.matchConditions) matchConditionErrors(webhook.matchConditions, `${path}.matchConditions`, errors);
}

function fullyQualifiedNameErrors(name: string, path: string, errors: FieldError[]): void {
  if (name === '') {
    errors.push(required(path));
    return;
  }
  const details = dnsSubdomain(name);
  if (details.length > 0) errors.push(invalidValue(path, name, details.join(',')));
  else if (name.split('.').length < 3) {
    errors.push(invalidValue(path, name, 'should be a domain with at least three segments separated by dots'));
  }
}

function reviewVersionErrors(versions: readonly string[], recognized: boolean, path: string, errors: FieldError[]): void {
  if (versions.length === 0) {
    errors.push(required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`));
    return;
  }
  versions.forEach((version, i) => {
    if (versions.indexOf(version) < i) errors.push(invalidValue(`${path}[${i}]`, version, 'duplicate version'));
    else for (const detail of dns1035Label(version)) errors.push(invalidValue(`${path}[${i}]`, version, detail));
  });
  if (recognized && !versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    errors.push(invalidValue(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
}
