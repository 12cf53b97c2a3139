/**
 * Binding: puts a pod on a node. Served as `pods/NAME/binding` and as the old `bindings` resource. Mirrors kubernetes
 * `pkg/registry/core/pod/storage` BindingREST and the admission plugin that copies the node's topology labels.
 */

import type { KubeObject } from '../../machinery/api/object.ts';
import { typeSchema } from '../../machinery/api/schema/schema.ts';
import { badRequest, conflict, unclassified } from '../../machinery/api/status.ts';
import { formatTime } from '../../machinery/api/time.ts';
import type { Binding, Node, Pod } from '../../machinery/api/types/core.v1.ts';
import { REGION, ZONE } from '../../machinery/api/well-known-labels.ts';
import type { RequestContext } from '../http/context.ts';
import { type WriteOptions, writeOptions } from '../http/write-options.ts';
import type { Answer } from './answer.ts';
import type { Api } from './api.ts';
import { decodeBody } from './decode.ts';
import { modifyStored } from './modify.ts';
import { requireLiveNamespace } from './namespace-lifecycle.ts';
import { preconditionFailed } from './precondition.ts';
import type { ServedResource } from './served.ts';

const TOPOLOGY = [ZONE, REGION];
const POD_BINDING = { group: '', resource: 'pods/binding' };

export async function createBinding(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { binding, options } = await readBinding(context);
  requireLiveNamespace(api, served, context.info.namespace, binding.metadata.name ?? '');
  if (!binding.metadata.name) throw badRequest('Name parameter required.');
  return bind(api, context, { binding, options, name: binding.metadata.name });
}

export async function bindPod(api: Api, context: RequestContext, served: ServedResource): Promise<Answer> {
  const { binding, options } = await readBinding(context);
  const { name, namespace } = context.info;
  requireLiveNamespace(api, served, namespace, name);
  if (binding.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  return bind(api, context, { binding, options, name });
}

async function readBinding(context: RequestContext): Promise<{ binding: Binding; options: WriteOptions }> {
  const options = writeOptions(context, 'CreateOptions');
  const expected = { group: '', version: 'v1', kind: 'Binding', schema: typeSchema('core.v1.Binding') };
  const binding = (await decodeBody(context, expected, options.fieldValidation)) as Binding;
  const { namespace } = context.info;
  const sent = binding.metadata.namespace ?? '';
  if (sent !== '' && sent !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  return { binding, options };
}

interface BindRequest {
  readonly binding: Binding;
  readonly options: WriteOptions;
  readonly name: string;
}

async function bind(api: Api, context: RequestContext, request: BindRequest): Promise<Answer> {
  const { binding, options, name } = request;
  checkTarget(binding);
  const pods = api.catalog.known('', 'v1', 'pods')!;
  await modifyStored(api, context, pods, {
    namespace: context.info.namespace,
    name,
    dryRun: options.dryRun,
    modify: (object) => {
      checkPreconditions(pods, object as unknown as Pod, binding);
      assign(api, object as unknown as Pod, binding);
    },
  });
  const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return { type: 'value', code: 201, schema: typeSchema('meta.v1.Status'), value: value as unknown as KubeObject };
}

function checkTarget(binding: Binding): void {
  const { kind = '', name = '' } = binding.target ?? {};
  const errors: string[] = [];
  if (kind !== '' && kind !== 'Node')
    errors.push(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  if (name === '') errors.push('target.name: Required value');
  if (errors.length > 0) throw unclassified(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`);
}

/** A binding may be meant for one pod of the name, or for one version of it. */
function checkPreconditions(pods: ServedResource, { metadata: live }: Pod, { metadata: sent }: Binding): void {
  const place = { namespace: live.namespace ?? '', name: live.name ?? '' };
  for (const [member, label] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    if (!sent[member] || sent[member] === live[member]) continue;
    throw preconditionFailed(pods, place, `${label} in precondition: ${sent[member]}, ${label} in object meta: ${live[member]}`);
  }
}

function assign(api: Api, pod: Pod, binding: Binding): void {
  const name = pod.metadata.name ?? '';
  const node = binding.target.name ?? '';
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(POD_BINDING, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec?.nodeName) throw conflict(POD_BINDING, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if ((pod.spec?.schedulingGates?.length ?? 0) > 0) throw conflict(POD_BINDING, name, `pod ${name} has non-empty .spec.schedulingGates`);
  pod.spec!.nodeName = node;
  if (binding.metadata.annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...binding.metadata.annotations };
  const labels = { ...binding.metadata.labels, ...topologyOf(api, node) };
  if (Object.keys(labels).length > 0) pod.metadata.labels = { ...pod.metadata.labels, ...labels };
  setScheduled(pod, formatTime(api.clock.now()));
}

function topologyOf(api: Api, node: string): Record<string, string> {
  const labels = api.reader.get<Node>('', 'nodes', '', node)?.metadata.labels ?? {};
  return Object.fromEntries(TOPOLOGY.filter((key) => labels[key] !== undefined).map((key) => [key, labels[key]!]));
}

function setScheduled(pod: Pod, now: string): void {
  pod.status ??= {};
  // A pod that has its node waits for none (KEP 5278).
  delete pod.status.nominatedNodeName;
  const others = (pod.status.conditions ?? []).filter((c) => c.type !== 'PodScheduled');
  const was = (pod.status.conditions ?? []).find((c) => c.type === 'PodScheduled');
  if (was?.status === 'True') return;
  const condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: now } as unknown as (typeof others)[number];
  pod.status.conditions = [...others, condition];
}
