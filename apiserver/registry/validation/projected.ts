/**
 * Files that volumes project: keys to paths, the downward API, tokens. Mirrors kubernetes `core/validation` validateProjectedVolumeSource and its kin.
 */
import { type FieldError, forbiddenField, invalidValue, required } from '../../../machinery/api/field-error.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { fieldSelectorErrors, resourceSelectorErrors } from './env.ts';
import { localNonReservedPathErrors } from './paths.ts';

const VOLUME_FIELDS = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

export function modeErrors(mode: number | undefined, path: string, errors: FieldError[]): void {
  if (mode !== undefined && (mode < 0 || mode > 0o777)) {
    errors.push(invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive'));
  }
}

export function keyToPathErrors(item: core.KeyToPath, path: string, errors: FieldError[]): void {
  if (!item.key) errors.push(required(`${path}.key`));
  if (!item.path) errors.push(required(`${path}.path`));
  else localNonReservedPathErrors(item.path, `${path}.path`, errors);
  modeErrors(item.mode, `${path}.mode`, errors);
}

/** Upstream names no index of the item. */
export function downwardErrors(item: core.DownwardAPIVolumeFile, path: string, errors: FieldError[]): void {
  if (!item.path) errors.push(required(`${path}.path`));
  else localNonReservedPathErrors(item.path, `${path}.path`, errors);
  if (item.fieldRef) {
    fieldSelectorErrors(item.fieldRef, VOLUME_FIELDS, `${path}.fieldRef`, errors);
    if (item.resourceFieldRef)
      errors.push(invalidValue(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (item.resourceFieldRef) resourceSelectorErrors(item.resourceFieldRef, `${path}.resourceFieldRef`, errors, true);
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  modeErrors(item.mode, `${path}.mode`, errors);
}

const MEMBERS = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken', 'clusterTrustBundle', 'podCertificate'] as const;

export function projectedErrors(projected: core.ProjectedVolumeSource, path: string, errors: FieldError[]): void {
  modeErrors(projected.defaultMode, `${path}.defaultMode`, errors);
  const paths = new Set<string>();
  projected.sources?.forEach((source, i) => {
    const at = `${path}.sources[${i}]`;
    const members = MEMBERS.filter((member) => source[member]);
    for (const member of members) memberErrors(source, member, { path, at, paths }, errors);
    if (members.length > 1) errors.push(forbiddenField(at, 'may not specify more than 1 volume type per source'));
  });
}

interface Place {
  /** Of the projected volume. */
  readonly path: string;
  /** Of the source. */
  readonly at: string;
  readonly paths: Set<string>;
}

function memberErrors(source: core.VolumeProjection, member: (typeof MEMBERS)[number], place: Place, errors: FieldError[]): void {
  const { at } = place;
  if (member === 'secret' || member === 'configMap') {
    const files = source[member]!;
    if (!files.name) errors.push(required(`${at}.${member}.name`));
    files.items?.forEach((item, i) => {
      keyToPathErrors(item, `${at}.${member}.items[${i}]`, errors);
      claimPath(item.path, files.name ?? '', place, errors);
    });
  } else if (member === 'downwardAPI') {
    for (const item of source.downwardAPI!.items ?? []) {
      downwardErrors(item, `${at}.downwardAPI`, errors);
      if (item.path) claimPath(item.path, item.path, place, errors);
    }
  } else if (member === 'serviceAccountToken') tokenErrors(source.serviceAccountToken!, place, errors);
}

function claimPath(filePath: string | undefined, owner: string, { path, paths }: Place, errors: FieldError[]): void {
  if (!filePath) return;
  if (paths.has(filePath)) errors.push(invalidValue(path, owner, 'conflicting duplicate paths'));
  paths.add(filePath);
}

function tokenErrors(token: core.ServiceAccountTokenProjection, place: Place, errors: FieldError[]): void {
  const seconds = token.expirationSeconds ?? 3600;
  const at = `${place.at}.serviceAccountToken.expirationSeconds`;
  if (seconds < 600) errors.push(invalidValue(at, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > 2 ** 32) errors.push(invalidValue(at, seconds, 'may not specify a duration larger than 2^32 seconds'));
  if (!token.path) errors.push(required(`${place.path}.path`));
  else localNonReservedPathErrors(token.path, `${place.path}.path`, errors);
}
