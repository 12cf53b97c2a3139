/** 409 in the words of upstream's storage, which name the key in etcd: what is stored is not what the client says it is. */
import { conflict, type StatusError } from '../../machinery/api/status.ts';
import { groupResource } from './persist.ts';
import type { ServedResource } from './served.ts';

/** Where keys do not carry the name of the resource: the names these kinds had at first. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  '/replicationcontrollers': 'controllers',
  '/endpoints': 'services/endpoints',
  '/services': 'services/specs',
  '/nodes': 'minions',
  'networking.k8s.io/ingresses': 'ingress',
};

/** Kinds of servers that keep to themselves, as custom resources do. */
const WITH_GROUP = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** `why`: `UID in precondition: a, UID in object meta: b`. */
export function preconditionFailed(served: ServedResource, at: Place, why: string): StatusError {
  const key = `/registry/${prefix(served)}/${served.namespaced ? `${at.namespace}/` : ''}${at.name}`;
  const text = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${why}`;
  return conflict(groupResource(served), at.name, text);
}

function prefix({ group, resource }: ServedResource): string {
  return FORMER_NAMES[`${group}/${resource}`] ?? (WITH_GROUP.has(group) ? `${group}/${resource}` : resource);
}
