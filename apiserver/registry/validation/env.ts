/**
 * Environment variables and their sources. Mirrors kubernetes `core/validation` ValidateEnv, ValidateEnvFrom and the downward API selectors.
 */
import { type FieldError, invalidValue, notFoundValue, notSupported, required } from '../../../machinery/api/field-error.ts';
import { configMapKey, dnsSubdomain, envVarName, nameIsSubdomain, qualifiedName } from '../../../machinery/api/names.ts';
import { formatQuantity, parseQuantity, quantityMilli } from '../../../machinery/api/quantity.ts';
import type * as core from '../../../machinery/api/types/core.v1.ts';
import { dnsLabelErrors } from './ip.ts';
import { noBackstepErrors } from './paths.ts';
import type { ContainerAt } from './pod-annotations.ts';

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

export function envErrors(variables: readonly core.EnvVar[], path: string, errors: FieldError[]): void {
  for (let i = 0; i < variables.length; i++) {
    const variable = variables[i]!;
    if (!variable.name) errors.push(required(`${path}[${i}].name`));
    else for (const detail of envVarName(variable.name)) errors.push(invalidValue(`${path}[${i}].name`, variable.name, detail));
    if (variable.valueFrom) valueFromErrors(variable, `${path}[${i}].valueFrom`, errors);
  }
}

function valueFromErrors({ value, valueFrom }: core.EnvVar, path: string, errors: FieldError[]): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom!;
  let sources = 0;
  if (fieldRef && ++sources) fieldSelectorErrors(fieldRef, ENV_FIELDS, `${path}.fieldRef`, errors);
  if (resourceFieldRef && ++sources) resourceSelectorErrors(resourceFieldRef, `${path}.resourceFieldRef`, errors, false);
  if (configMapKeyRef && ++sources) keySelectorErrors(configMapKeyRef, `${path}.configMapKeyRef`, errors);
  if (secretKeyRef && ++sources) keySelectorErrors(secretKeyRef, `${path}.secretKeyRef`, errors);
  if (fileKeyRef && ++sources) fileSelectorErrors(fileKeyRef, `${path}.fileKeyRef`, errors);
  if (sources === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.push(invalidValue(path, '', detail));
  } else if (value) errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'));
  else if (sources > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
}

function keySelectorErrors(selector: { name?: string; key?: string }, path: string, errors: FieldError[]): void {
  const { name = '', key = '' } = selector;
  for (const detail of dnsSubdomain(name)) errors.push(invalidValue(`${path}.name`, name, detail));
  if (key === '') errors.push(required(`${path}.key`));
  else for (const detail of configMapKey(key)) errors.push(invalidValue(`${path}.key`, key, detail));
}

function fileSelectorErrors(selector: core.FileKeySelector, path: string, errors: FieldError[]): void {
  if (!selector.key) errors.push(required(`${path}.key`));
  else for (const detail of envVarName(selector.key)) errors.push(invalidValue(`${path}.key`, selector.key, detail));
  if (!selector.volumeName) errors.push(required(`${path}.volumeName`));
  else dnsLabelErrors(selector.volumeName, `${path}.volumeName`, errors);
  if (!selector.path) errors.push(required(`${path}.path`));
  else noBackstepErrors(selector.path, `${path}.path`, errors);
}

/** `metadata.labels['key']` → path and subscript. */
function splitSubscript(fieldPath: string): readonly [string, string | undefined] {
  const start = fieldPath.indexOf("['");
  if (start <= 0 || !fieldPath.endsWith("']") || start + 2 > fieldPath.length - 2) return [fieldPath, undefined];
  return [fieldPath.slice(0, start), fieldPath.slice(start + 2, -2)];
}

const CONVERTIBLE = new Set([
  ...ENV_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

export function fieldSelectorErrors(ref: core.ObjectFieldSelector, supported: readonly string[], path: string, errors: FieldError[]): void {
  const { apiVersion = '', fieldPath = '' } = ref;
  if (apiVersion === '') {
    errors.push(required(`${path}.apiVersion`));
    return;
  }
  if (fieldPath === '') {
    errors.push(required(`${path}.fieldPath`));
    return;
  }
  const [name, subscript] = splitSubscript(fieldPath);
  const why = conversionError(apiVersion, name, fieldPath);
  if (why !== undefined) errors.push(invalidValue(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${why}`));
  else if (subscript !== undefined) {
    const key = name === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    for (const detail of qualifiedName(key)) errors.push(invalidValue(path, key, detail));
  } else {
    // the name of the node in clients older than v1
    const internal = name === 'spec.host' ? 'spec.nodeName' : name;
    if (!supported.includes(internal)) errors.push(notSupported(`${path}.fieldPath`, internal, supported));
  }
}

function conversionError(apiVersion: string, name: string, fieldPath: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  if (name !== fieldPath) {
    return name === 'metadata.annotations' || name === 'metadata.labels'
      ? undefined
      : `field label does not support subscript: ${fieldPath}`;
  }
  return CONVERTIBLE.has(name) ? undefined : `field label not supported: ${name}`;
}

const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const isHugePages = (name: string): boolean => name.startsWith('requests.hugepages-') || name.startsWith('limits.hugepages-');

export function resourceSelectorErrors(ref: core.ResourceFieldSelector, path: string, errors: FieldError[], inVolume: boolean): void {
  const { resource = '' } = ref;
  if (inVolume && !ref.containerName) errors.push(required(`${path}.containerName`));
  else if (resource === '') errors.push(required(`${path}.resource`));
  else if (!RESOURCE_FIELDS.includes(resource) && !isHugePages(resource)) {
    errors.push(notSupported(`${path}.resource`, resource, RESOURCE_FIELDS));
  }
  divisorErrors(resource, ref.divisor, `${path}.divisor`, errors);
}

const BYTE_RESOURCES = new Map(
  ['limits', 'requests'].flatMap((kind) => [
    [`${kind}.memory`, 'memory'],
    [`${kind}.ephemeral-storage`, 'local ephemeral storage'],
  ]) as [string, string][],
);
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function divisorErrors(resource: string, divisor: string | undefined, path: string, errors: FieldError[]): void {
  if (divisor === undefined) return;
  const quantity = parseQuantity(divisor);
  if (quantityMilli(quantity) === 0) return;
  const text = formatQuantity(quantity);
  if (resource === 'limits.cpu' || resource === 'requests.cpu') {
    if (text !== '1m' && text !== '1')
      errors.push(invalidValue(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource"));
    return;
  }
  const named = isHugePages(resource) ? 'hugepages' : BYTE_RESOURCES.get(resource);
  if (named !== undefined && !BYTE_DIVISORS.includes(text)) {
    errors.push(invalidValue(path, resource, `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${named} resource`));
  }
}

export function envFromErrors(sources: readonly core.EnvFromSource[], path: string, errors: FieldError[]): void {
  sources.forEach((source, i) => {
    if (source.prefix)
      for (const detail of envVarName(source.prefix)) errors.push(invalidValue(`${path}[${i}].prefix`, source.prefix, detail));
    let count = 0;
    for (const member of ['configMapRef', 'secretRef'] as const) {
      const ref = source[member];
      if (!ref) continue;
      count++;
      if (!ref.name) errors.push(required(`${path}[${i}].${member}.name`));
      else
        for (const detail of nameIsSubdomain(ref.name, true)) errors.push(invalidValue(`${path}[${i}].${member}.name`, ref.name, detail));
    }
    if (count === 0) errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    else if (count > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  });
}

/** Variables that come from a file are read from a volume that the pod's own containers have written. */
export function fileVolumeErrors(
  containers: Iterable<ContainerAt>,
  volumes: readonly core.Volume[] | undefined,
  errors: FieldError[],
): void {
  for (const { container, path } of containers) {
    container.env?.forEach((variable, i) => {
      const name = variable.valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return;
      const at = `${path}.env[${i}].valueFrom.fileKeyRef.volumeName`;
      // of volumes of one name the last counts
      const volume = volumes?.findLast((v) => (v.name ?? '') === name);
      if (volume === undefined) errors.push(notFoundValue(at, name));
      else if (!volume.emptyDir) errors.push(invalidValue(at, name, 'referenced volume must be of type emptyDir'));
    });
  }
}
