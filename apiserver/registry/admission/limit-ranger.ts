/**
 * LimitRanger: containers that say nothing get a namespace's defaults; pods and claims stay within its bounds. Mirrors kubernetes
 * `plugin/pkg/admission/limitranger`. Of an update only a pod's resize and a claim are looked at.
 */
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { type AdmissionPlugin, type AdmissionRequest, joinReasons, refuse } from './plugin.ts';
import { type Amounts, compareTexts, podAmounts } from './pod-usage.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';
const TITLE = 'LimitRanger plugin set: ';

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  handles: (group, resource) => group === '' && (resource === 'pods' || resource === 'persistentvolumeclaims'),
  mutate: (request) => {
    if (request.resource !== 'pods') return;
    for (const range of rangesOf(request)) applyDefaults(request.object as unknown as core.Pod, range);
  },
  validate: (request) => {
    if (!isBounded(request)) return;
    for (const range of rangesOf(request)) {
      const reasons = (range.spec?.limits ?? []).flatMap((item) => reasonsOf(request, item));
      if (reasons.length > 0) throw refuse(request, joinReasons(reasons));
    }
  },
};

function isBounded({ resource, subresource, old, object }: AdmissionRequest): boolean {
  if (object.metadata.deletionTimestamp !== undefined) return false;
  if (resource === 'pods') return old === undefined || subresource === 'resize';
  return subresource === '';
}

const rangesOf = ({ context, object }: AdmissionRequest): readonly core.LimitRange[] =>
  context.reader.list<core.LimitRange>('', 'limitranges', object.metadata.namespace ?? '');

function applyDefaults(pod: core.Pod, { spec }: core.LimitRange): void {
  let requests: Amounts = {};
  let limits: Amounts = {};
  for (const item of spec?.limits ?? []) {
    if (item.type !== 'Container') continue;
    requests = { ...requests, ...(item.defaultRequest as Amounts) };
    limits = { ...limits, ...(item.default as Amounts) };
  }
  const notes: string[] = [];
  for (const [kind, list] of [
    ['container', pod.spec?.containers],
    ['init container', pod.spec?.initContainers],
  ] as const) {
    for (const container of list ?? []) fill(container, { requests, limits }, kind, notes);
  }
  if (notes.length > 0) pod.metadata.annotations = { ...pod.metadata.annotations, [ANNOTATION]: TITLE + notes.join('; ') };
}

/** What is set already stays. The note says what was filled, as operators read it in the annotation. */
function fill(container: core.Container, defaults: { requests: Amounts; limits: Amounts }, kind: string, notes: string[]): void {
  for (const [side, word] of [
    ['requests', 'request'],
    ['limits', 'limit'],
  ] as const) {
    const own = (container.resources?.[side] ?? {}) as Amounts;
    const missing = Object.keys(defaults[side]).filter((name) => own[name] === undefined);
    if (missing.length === 0) continue;
    const filled = { ...own };
    for (const name of missing) filled[name] = defaults[side][name]!;
    container.resources = { ...container.resources, [side]: filled };
    notes.push(`${missing.sort().join(', ')} ${word} for ${kind} ${container.name}`);
  }
}

function reasonsOf(request: AdmissionRequest, item: core.LimitRangeItem): string[] {
  if (request.resource === 'persistentvolumeclaims') {
    const claim = request.object as unknown as core.PersistentVolumeClaim;
    return item.type === 'PersistentVolumeClaim' ? claimReasons(item, (claim.spec?.resources?.requests ?? {}) as Amounts) : [];
  }
  const pod = request.object as unknown as core.Pod;
  if (item.type === 'Pod') return boundReasons(item, podAmounts(pod, 'requests'), podAmounts(pod, 'limits'));
  if (item.type !== 'Container') return [];
  return [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].flatMap(({ resources }) =>
    boundReasons(item, (resources?.requests ?? {}) as Amounts, (resources?.limits ?? {}) as Amounts),
  );
}

const sorted = (amounts: object | undefined): [string, string][] =>
  Object.entries((amounts ?? {}) as Amounts).sort(([a], [b]) => (a < b ? -1 : 1));
const canonical = (text: string): string => formatQuantity(parseQuantity(text));

function boundReasons(item: core.LimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  const reasons: (string | undefined)[] = [
    ...sorted(item.min).map(([name, bound]) =>
      minimumReason(`minimum ${name} usage per ${item.type} is ${bound}`, bound, requests[name], limits[name]),
    ),
    ...sorted(item.max).map(([name, bound]) =>
      maximumReason(`maximum ${name} usage per ${item.type} is ${bound}`, bound, requests[name], limits[name]),
    ),
    ...sorted(item.maxLimitRequestRatio).map(([name, bound]) =>
      ratioReason(`${name} max limit to request ratio per ${item.type} is ${bound}`, bound, requests[name], limits[name]),
    ),
  ];
  return reasons.filter((reason) => reason !== undefined);
}

function minimumReason(text: string, bound: string, request: string | undefined, limit: string | undefined): string | undefined {
  if (request === undefined) return `${text}.  No request is specified`;
  if (compareTexts(request, bound) < 0) return `${text}, but request is ${canonical(request)}`;
  return limit !== undefined && compareTexts(limit, bound) < 0 ? `${text}, but limit is ${canonical(limit)}` : undefined;
}

function maximumReason(text: string, bound: string, request: string | undefined, limit: string | undefined): string | undefined {
  if (limit === undefined) return `${text}.  No limit is specified`;
  if (compareTexts(limit, bound) > 0) return `${text}, but limit is ${canonical(limit)}`;
  return request !== undefined && compareTexts(request, bound) > 0 ? `${text}, but request is ${canonical(request)}` : undefined;
}

function ratioReason(text: string, bound: string, request: string | undefined, limit: string | undefined): string | undefined {
  const milli = (value: string | undefined): number => (value === undefined ? 0 : quantityMilli(parseQuantity(value)));
  if (milli(request) === 0) return `${text}, but no request is specified or request is 0`;
  if (milli(limit) === 0) return `${text}, but no limit is specified or limit is 0`;
  const ratio = milli(limit) / milli(request);
  return ratio * 1000 > milli(bound) ? `${text}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

function claimReasons(item: core.LimitRangeItem, requests: Amounts): string[] {
  const reasons: (string | undefined)[] = [
    ...sorted(item.min).map(([name, bound]) =>
      minimumReason(`minimum ${name} usage per ${item.type} is ${bound}`, bound, requests[name], undefined),
    ),
    ...sorted(item.max).map(([name, bound]) => claimMaximum(`maximum ${name} usage per ${item.type} is ${bound}`, bound, requests[name])),
  ];
  return reasons.filter((reason) => reason !== undefined);
}

function claimMaximum(text: string, bound: string, request: string | undefined): string | undefined {
  if (request === undefined) return `${text}.  No request is specified`;
  return compareTexts(request, bound) > 0 ? `${text}, but request is ${canonical(request)}` : undefined;
}
