/**
 * Versions of built-in kinds that have the very fields of the `v1` kind: their facts are the facts of v1 under another version, so they are
 * derived, not kept. Upstream declares them again in `k8s.io/api/<group>/<version>/types.go`; they are off unless `--runtime-config` asks.
 *
 * Worked example: `networking.k8s.io.v1beta1.IPAddress` is `networking.k8s.io.v1.IPAddress` with `v1beta1` in its kind, its OpenAPI name and
 * the types it refers to.
 */
import type { CompactType, FieldRow, GroupFile } from './data.ts';

interface Twin {
  readonly group: string;
  readonly version: string;
  readonly kinds: readonly string[];
  /** Types that this version takes from v1 instead of having its own. */
  readonly shared?: readonly string[];
}

const POLICIES = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'];
const RULES = ['RuleWithOperations'];

const TWINS: readonly Twin[] = [
  { group: 'admissionregistration.k8s.io', version: 'v1alpha1', kinds: POLICIES, shared: RULES },
  { group: 'admissionregistration.k8s.io', version: 'v1beta1', kinds: POLICIES, shared: RULES },
  { group: 'networking.k8s.io', version: 'v1beta1', kinds: ['IPAddress', 'ServiceCIDR'] },
  { group: 'resource.k8s.io', version: 'v1beta2', kinds: ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'] },
  { group: 'storage.k8s.io', version: 'v1beta1', kinds: ['VolumeAttributesClass'] },
];

const byStem = new Map(TWINS.map((twin) => [`${twin.group}.${twin.version}`, twin]));

/** `networking.k8s.io.v1beta1` → `networking.k8s.io.v1`: the facts it has; undefined for what is no twin. */
export function twinOf(stem: string): string | undefined {
  const twin = byStem.get(stem);
  return twin === undefined ? undefined : `${twin.group}.v1`;
}

/** A kind with the fields of the v1 kind of that name, and nothing else, in this version. */
export const isTwin = (group: string, version: string, kind: string): boolean =>
  byStem.get(`${group}.${version}`)?.kinds.includes(kind) === true;

/** The name of a v1 type in its twin version: `storage.k8s.io.v1.X` → `storage.k8s.io.v1beta1.X`. */
export const twinType = (fullName: string, group: string, version: string): string =>
  fullName.replace(`${group}.v1.`, `${group}.${version}.`);

/** The facts of a twin version, from those of v1. */
export function twinFile(stem: string, v1: GroupFile): GroupFile {
  const { group, version, kinds, shared = [] } = byStem.get(stem)!;
  const ownType = (expression: string): string =>
    shared.some((name) => expression.endsWith(`.v1.${name}`)) ? expression : twinType(expression, group, version);
  const rename = ([name, expression, ...rest]: FieldRow): FieldRow => [name, ownType(expression), ...rest];
  const isOfTwin = (gvk: string): boolean => kinds.some((kind) => gvk === `${group}/v1/${kind}` || gvk === `${group}/v1/${kind}List`);
  const types: Record<string, CompactType> = {};
  for (const [name, type] of Object.entries(v1.types)) {
    const { gvk, ...facts } = type;
    if (gvk !== undefined && !gvk.some(isOfTwin)) continue;
    types[name] = {
      ...facts,
      ...(gvk && { gvk: gvk.filter(isOfTwin).map((text) => text.replace('/v1/', `/${version}/`)) }),
      ...(facts.openapi && { openapi: facts.openapi.replace('.v1.', `.${version}.`) }),
      ...(facts.alias && { alias: ownType(facts.alias) }),
      ...(facts.fields && { fields: facts.fields.map(rename) }),
    };
  }
  return { goPackage: v1.goPackage.replace(/v1$/, version), types };
}
