/** `describe` of the small kinds: namespace, config map, secret, service account, priority class, disruption budget. */
import { formatSelector, selectorOf } from '../../machinery/api/selector.ts';
import type { ConfigMap, LimitRange, Namespace, ResourceQuota, Secret, ServiceAccount } from '../../machinery/api/types/core.v1.ts';
import type { PodDisruptionBudget } from '../../machinery/api/types/policy.v1.ts';
import type { PriorityClass } from '../../machinery/api/types/scheduling.k8s.io.v1.ts';
import type { Describer } from './describer.ts';
import { describeEvents } from './events.ts';
import { DescriptionWriter, formatDate } from './writer.ts';

export const describeNamespace: Describer = async (object, context) => {
  const { metadata, status } = object as unknown as Namespace;
  const name = metadata?.name ?? '';
  const w = new DescriptionWriter();
  w.field(0, 'Name', name);
  w.labelsAndAnnotations(metadata);
  w.field(0, 'Status', status?.phase ?? '');
  if ((status?.conditions ?? []).length > 0) {
    w.line(0, 'Conditions:');
    w.line(1, 'Type\tStatus\tLastTransitionTime\tReason\tMessage');
    w.line(1, '----\t------\t------------------\t------\t-------');
    for (const c of status!.conditions!)
      w.line(1, `${c.type}\t${c.status}\t${formatDate(c.lastTransitionTime)}\t${c.reason ?? ''}\t${c.message ?? ''}`);
  }
  const quotas = (await context.list('resourcequotas', { namespace: name })) as unknown as ResourceQuota[];
  const limits = (await context.list('limitranges', { namespace: name })) as unknown as LimitRange[];
  w.line(0, '');
  writeQuotas(w, quotas);
  w.line(0, '');
  writeLimits(w, limits);
  return w.text();
};

function writeQuotas(w: DescriptionWriter, quotas: readonly ResourceQuota[]): void {
  if (quotas.length === 0) {
    w.line(0, 'No resource quota.');
    return;
  }
  w.line(0, 'Resource Quotas');
  for (const quota of [...quotas].sort((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1))) {
    w.line(0, `  Name:\t${quota.metadata?.name}`);
    w.line(0, '  Resource\tUsed\tHard');
    w.line(0, '  --------\t---\t---');
    for (const resource of Object.keys(quota.status?.hard ?? {}).sort())
      w.line(0, `  ${resource}\t${quota.status?.used?.[resource] ?? '0'}\t${quota.status?.hard?.[resource]}`);
  }
}

function writeLimits(w: DescriptionWriter, ranges: readonly LimitRange[]): void {
  if (ranges.length === 0) {
    w.line(0, 'No LimitRange resource.');
    return;
  }
  w.line(0, 'Resource Limits');
  w.line(0, ' Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio');
  w.line(0, ' ----\t--------\t---\t---\t---------------\t-------------\t-----------------------');
  for (const item of ranges.flatMap((range) => range.spec?.limits ?? [])) {
    const sources = [item.min, item.max, item.defaultRequest, item.default, item.maxLimitRequestRatio];
    const resources = new Set(sources.flatMap((amounts) => Object.keys(amounts ?? {})));
    for (const resource of resources)
      w.line(0, ` ${item.type}\t${resource}\t${sources.map((amounts) => amounts?.[resource] ?? '-').join('\t')}`);
  }
}

export const describeConfigMap: Describer = (object, context) => {
  const { metadata, data = {}, binaryData = {} } = object as unknown as ConfigMap;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.labelsAndAnnotations(metadata);
  w.line(0, '\nData\n====');
  for (const key of Object.keys(data).sort()) w.line(0, `${key}:\n----\n${data[key]}\n`);
  w.line(0, '\nBinaryData\n====');
  for (const key of Object.keys(binaryData).sort()) w.line(0, `${key}: ${Buffer.from(binaryData[key], 'base64').length} bytes`);
  w.line(0, '');
  describeEvents(w, context);
  return w.text();
};

export const describeSecret: Describer = (object) => {
  const { metadata, type, data = {} } = object as unknown as Secret;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.labelsAndAnnotations(metadata);
  w.line(0, `\nType:\t${type ?? ''}`);
  w.line(0, '\nData\n====');
  for (const key of Object.keys(data).sort()) {
    const value = Buffer.from(data[key], 'base64');
    w.line(
      0,
      key === 'token' && type === 'kubernetes.io/service-account-token'
        ? `${key}:\t${value.toString('utf8')}`
        : `${key}:\t${value.length} bytes`,
    );
  }
  return w.text();
};

export const describeServiceAccount: Describer = async (object, context) => {
  const { metadata, secrets = [], imagePullSecrets = [] } = object as unknown as ServiceAccount;
  const namespace = metadata?.namespace;
  const tokens = (
    (await context.list('secrets', { namespace, fieldSelector: 'type=kubernetes.io/service-account-token' })) as unknown as Secret[]
  ).filter((secret) => secret.metadata?.annotations?.['kubernetes.io/service-account.uid'] === metadata?.uid);
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  w.labelsAndAnnotations(metadata);
  const rows: [string, string[]][] = [
    ['Image pull secrets', imagePullSecrets.map((ref) => ref.name ?? '')],
    ['Mountable secrets', secrets.map((ref) => ref.name ?? '')],
    ['Tokens', tokens.map((secret) => secret.metadata?.name ?? '')],
  ];
  for (const [title, names] of rows) {
    w.list(title, names.length === 0 ? ['<none>'] : names);
  }
  describeEvents(w, context);
  return w.text();
};

export const describePriorityClass: Describer = (object, context) => {
  const { metadata, value, globalDefault, preemptionPolicy, description } = object as unknown as PriorityClass;
  const w = new DescriptionWriter();
  w.field(0, 'Name', metadata?.name);
  w.field(0, 'Value', value);
  w.field(0, 'GlobalDefault', globalDefault ?? false);
  w.field(0, 'PreemptionPolicy', preemptionPolicy ?? 'PreemptLowerPriority');
  w.field(0, 'Description', description ?? '');
  w.annotations('Annotations', metadata?.annotations);
  describeEvents(w, context);
  return w.text();
};

export const describeDisruptionBudget: Describer = (object, context) => {
  const { metadata, spec, status } = object as unknown as PodDisruptionBudget;
  const w = new DescriptionWriter();
  w.scopedName(metadata);
  if (spec?.minAvailable !== undefined) w.field(0, 'Min available', spec.minAvailable);
  else if (spec?.maxUnavailable !== undefined) w.field(0, 'Max unavailable', spec.maxUnavailable);
  w.field(0, 'Selector', spec?.selector ? formatSelector(selectorOf(spec.selector)) : '<unset>');
  w.line(0, 'Status:');
  w.field(2, 'Allowed disruptions', status?.disruptionsAllowed ?? 0);
  w.field(2, 'Current', status?.currentHealthy ?? 0);
  w.field(2, 'Desired', status?.desiredHealthy ?? 0);
  w.field(2, 'Total', status?.expectedPods ?? 0);
  describeEvents(w, context);
  return w.text();
};
